"""Declaration of all environment variables, and functions that read them.

An empty value counts as not set; an invalid one stops the start and is named. The table of
`platform/docs/operations.md` is generated from here: `python -m crowdgrade.environment`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Final

from django.core.exceptions import ImproperlyConfigured

YES: Final = ("1", "true", "yes", "on")
NO: Final = ("0", "false", "no", "off")
BEGIN: Final = "<!-- python -m crowdgrade.environment: begin -->"
END: Final = "<!-- python -m crowdgrade.environment: end -->"


@dataclass(frozen=True)
class Variable:
    """Description of one or more environment variables, in Markdown.

    Attributes
    ----------
    names : names of the variables that are described.
    value : meaning of the value.
    default : value or behaviour without the variable.
    """

    names: tuple[str, ...]
    value: str
    default: str


VARIABLES: Final = (
    Variable(
        ("CROWDGRADE_HOME",), "folder of local state, an absolute path", "`var/` in the checkout"
    ),
    Variable(("CROWDGRADE_DEMO_HOME",), "folder of the demo's state", "`var/demo`"),
    Variable(
        ("DATABASE_URL",),
        "`postgresql://USER:PASSWORD@HOST:PORT/NAME` or `sqlite:////FILE`",
        "SQLite in CROWDGRADE_HOME",
    ),
    Variable(("CELERY_BROKER_URL",), "`redis://...` or `amqp://...`", "files in CROWDGRADE_HOME"),
    Variable(("CELERY_QUEUE",), "name of the queue", "`crowdgrade`"),
    Variable(
        ("CROWDGRADE_UPLOADS",),
        (
            "folder of uploaded files that wait for confirmation, for a day at most. Several "
            "web servers must share it"
        ),
        "`uploads/` in CROWDGRADE_HOME",
    ),
    Variable(
        ("CROWDGRADE_MODEL_NETWORKS",),
        (
            "non-public networks in which language models may be asked, such as "
            "`127.0.0.0/8,10.1.2.0/24`, or `none`"
        ),
        "this machine with SQLite, none with another database",
    ),
    Variable(
        ("CROWDGRADE_KEY_VARIABLES",),
        (
            "environment variables whose keys requesters may send to models: `NAME` or "
            "`PREFIX*`. Add the only host that may receive the key: "
            "`OPENAI_API_KEY@api.openai.com` uses HTTPS to port 443 only; `NAME@HOST:PORT` and "
            "`NAME@http://HOST:PORT` name others. Without a host, a requester could send the "
            "key to their own address"
        ),
        "none; operators may name any but this installation's secrets",
    ),
    Variable(
        ("CROWDGRADE_MODELS",),
        (
            "models that requesters may load besides the packaged one "
            "(`sentence-transformers:NAME`, entailment models, re-rankers): names at the model "
            "hub, separated by commas, or `none`. Operators may name any model and folders"
        ),
        "`all-mpnet-base-v2`, `paraphrase-multilingual-MiniLM-L12-v2`",
    ),
    Variable(
        ("CROWDGRADE_PROLIFIC_API",),
        (
            "address of Prolific's API, `https://api.prolific.com/api/v1/` ([not tested "
            "live](paying.md#prolifics-api))"
        ),
        "switched off",
    ),
    Variable(("PROLIFIC_API_TOKEN",), "token of the Prolific account for the command line", "none"),
    Variable(
        ("UPLOAD_MB",),
        (
            "MB of the largest file that a browser may send. A larger one is dropped while it "
            "arrives, and the page says so. The command line takes any size"
        ),
        "100",
    ),
    Variable(
        ("RUNS_PER_USER",),
        "unfinished runs (active or paused) of a user; no limit for operators",
        "20",
    ),
    Variable(
        ("ASKING_RUNS",),
        (
            "runs that one background process lets wait for models at a time, each of another "
            "requester"
        ),
        "8",
    ),
    Variable(
        ("STALL_SECONDS",),
        ("seconds without progress after which a run fails with the reason and its process ends"),
        "900",
    ),
    Variable(
        ("LEASE_SECONDS",),
        "seconds after which another process takes over the run of a dead process",
        "60",
    ),
    Variable(
        ("SECRET_KEY",), "at least 32 characters", "generated once, stored in CROWDGRADE_HOME"
    ),
    Variable(("ALLOWED_HOSTS",), "host names, separated by commas", "this machine only"),
    Variable(
        ("CSRF_TRUSTED_ORIGINS",),
        ("further origins with their scheme, separated by commas; the site's own is included"),
        "none",
    ),
    Variable(
        (
            "HTTPS",
            "DEBUG",
        ),
        "yes or no",
        "no",
    ),
    Variable(
        ("WEB_PROCESSES",),
        (
            "web servers that `up` and `make demo` start on their port. More than two need "
            "PostgreSQL, because SQLite allows one writer at a time"
        ),
        "2, on one core 1",
    ),
    Variable(
        ("CACHE_URL",),
        (
            "`redis://...`, counts requests to the API. Web servers that do not share "
            "CROWDGRADE_HOME need it"
        ),
        "files in CROWDGRADE_HOME",
    ),
    Variable(
        (
            "API_USER_RATE",
            "API_ANONYMOUS_RATE",
            "API_UPLOAD_RATE",
        ),
        (
            "requests to the API, such as `600/minute`: of a user, of an address without a "
            "token, bulk uploads of a user"
        ),
        "`600/minute`, `60/minute`, `60/minute`",
    ),
    Variable(
        ("LINK_RATE",),
        (
            "workers who start through one plain link (unsigned ids) from one address. "
            "`60/minute` admits 60 at once, then one a second. The next one gets 429 with the "
            "seconds to wait in `Retry-After`. IPv6 addresses of one /64 network count as one. "
            "The default is enough for a class behind one address; raise it for a lecture hall,"
            " such as `500/minute`"
        ),
        "`60/minute`",
    ),
    Variable(("API_UPLOAD_MB",), "MB of JSON rows in one request (JSON Lines: 100)", "20"),
    Variable(
        ("PROXIES",),
        (
            "number of proxies that extend X-Forwarded-For and set X-Forwarded-Proto, so that "
            "address and scheme are the client's"
        ),
        "1 with `HTTPS`, else 0",
    ),
    Variable(
        ("EMAIL_HOST",),
        "mail server by which invitations are sent ([Mail](#mail))",
        "none: invitations are links to copy",
    ),
    Variable(
        ("EMAIL_PORT",), "port of the mail server", "25, 587 with `EMAIL_USE_TLS`, 465 with SSL"
    ),
    Variable(
        ("EMAIL_HOST_USER", "EMAIL_HOST_PASSWORD"), "user name and password at the server", "none"
    ),
    Variable(
        ("EMAIL_USE_TLS", "EMAIL_USE_SSL"),
        "yes or no: STARTTLS after connecting, or TLS from the beginning. At most one",
        "no",
    ),
    Variable(("EMAIL_FROM",), "sender of mails", "`crowdgrade@localhost`"),
    Variable(
        ("EMAIL_BACKEND",),
        (
            "dotted name of another Django mail backend, such as that of a provider's package. "
            "`django.core.mail.backends.console.EmailBackend` writes mails, with their links, to "
            "the terminal"
        ),
        "SMTP with `EMAIL_HOST`, else the console",
    ),
    Variable(
        ("OPENID_ISSUER",),
        (
            "issuer of an OpenID Connect provider, by which people sign in "
            "([Sign-in](#sign-in-by-openid-connect)): an `https://` address, exactly as its "
            "ID tokens name it"
        ),
        "none: people sign in by password",
    ),
    Variable(
        ("OPENID_CLIENT_ID", "OPENID_CLIENT_SECRET"),
        (
            "what the provider assigned to this site; needed with `OPENID_ISSUER`. Without "
            "`OPENID_ISSUER`, each set variable `OPENID_...` stops the start"
        ),
        "none",
    ),
    Variable(("OPENID_NAME",), "name of the provider on the button", "`OpenID`"),
    Variable(
        ("OPENID_DOMAINS", "OPENID_GROUPS"),
        (
            "domains of verified e-mail addresses, and groups of the claim `groups`, separated by "
            "commas. A person who has one of each set variable gets an account at the first sign-in"
        ),
        "none: only linked accounts and invited people enter",
    ),
    Variable(
        ("OPENID_ROLE",),
        "role of an account that the first sign-in creates: `none` or `requester`",
        "`none`: an operator gives the role",
    ),
    Variable(
        ("OPENID_TRUST_EMAIL",),
        (
            "yes or no: every address of the provider counts as verified. Only for a provider of "
            "one organization that sends no `email_verified`, such as Microsoft Entra"
        ),
        "no",
    ),
    Variable(
        ("OPENID_NETWORKS",),
        "non-public networks in which the provider may be asked, such as `10.1.2.0/24`",
        "none",
    ),
    Variable(
        ("PASSWORD_SIGN_IN",),
        "yes or no: whether local passwords open the site; no needs `OPENID_ISSUER`",
        "yes",
    ),
    Variable(
        ("REQUIRE_SECOND_FACTOR",),
        (
            "accounts that must have a [second factor](#second-factor): `none`, `operators`, "
            "`requesters` (operators too) or `everyone`"
        ),
        "`none`: each user decides",
    ),
    Variable(
        ("LOG_FORMAT",), "`text` or `json`: the form of log records ([Logs](#logs))", "`text`"
    ),
    Variable(
        ("EXPORT_LOG_DAYS",),
        (
            "days after which entries of downloads and sign-ins are deleted from the "
            "[audit log](data-protection.md#audit-log)"
        ),
        "365",
    ),
    Variable(
        ("METRICS_TOKEN",),
        (
            "at least 16 characters: `/metrics` answers requests with this token "
            "([Metrics](#metrics))"
        ),
        "none: only this machine reads them",
    ),
    Variable(
        ("READY_FREE_MB",),
        (
            "MB that must be free on the disk of CROWDGRADE_HOME; with less `/health/ready` "
            "answers 503"
        ),
        "200",
    ),
    Variable(("OPENAI_API_KEY",), "key of an `openai:` embedder, judge or asked model", "none"),
    Variable(
        ("CROWDGRADE_TOKEN",),
        "API token of the Python client ([Python](python.md)), on the machine that runs it",
        "none",
    ),
    Variable(
        ("CROWDGRADE_DATA",),
        "folder of public data sets, for tests and benchmarks",
        "`../shared/data`",
    ),
)
"""All variables that an operator may set, in the order of the table."""
INTERNAL: Final = frozenset({"CROWDGRADE_LIFELINE", "PROMETHEUS_MULTIPROC_DIR"})
"""Set by Crowdgrade itself for its own processes and libraries."""
SYSTEM: Final = frozenset({"PATH", "HOME", "TMPDIR", "DJANGO_SETTINGS_MODULE", "PYTHONPATH"})
"""Variables of the system, Python and Django."""
DECLARED: Final = frozenset(name for variable in VARIABLES for name in variable.names)


def read_variable(name: str) -> str | None:
    """Return an environment variable's value, stripped; None if it is empty or not set.

    Raises LookupError for a name that `VARIABLES` does not declare.
    """
    if name not in DECLARED:
        raise LookupError(f"{name} is not declared in crowdgrade.environment")
    return os.environ.get(name, "").strip() or None


def read_flag(name: str, *, default: bool = False) -> bool:
    """Return whether an environment variable is set to yes; `default` if it is not set."""
    value = read_variable(name)
    if value is None:
        return default
    if value.lower() not in YES + NO:
        raise ImproperlyConfigured(f"{name} is {value!r}: write yes or no")
    return value.lower() in YES


def read_number(name: str, default: int) -> int:
    """Return an environment variable's positive integer; `default` if it is not set."""
    value = read_variable(name)
    if value is None:
        return default
    if not value.isdecimal() or not int(value):
        raise ImproperlyConfigured(f"{name} is {value!r}: write a whole number above 0")
    return int(value)


def read_rate(name: str, default: str) -> str:
    """Return an environment variable's rate, such as 600/minute; `default` if it is not set."""
    value = read_variable(name) or default
    if not re.fullmatch(r"[1-9]\d{0,8}/(second|minute|hour|day)", value):
        raise ImproperlyConfigured(f"{name} is {value!r}: write such as 600/minute")
    return value


def read_list(name: str, default: list[str]) -> list[str]:
    """Return an environment variable's comma-separated entries; `default` if it is not set."""
    value = read_variable(name)
    if value is None:
        return default
    return [entry.strip() for entry in value.split(",") if entry.strip()]


def read_choice(name: str, choices: tuple[str, ...]) -> str:
    """Return an environment variable's value, one of `choices`; the first if it is not set."""
    value = read_variable(name) or choices[0]
    if value not in choices:
        raise ImproperlyConfigured(f"{name} is {value!r}: write {' or '.join(choices)}")
    return value


def read_secret(name: str, least: int) -> str:
    """Return an environment variable's secret of at least `least` characters; "" if not set."""
    value = read_variable(name) or ""
    if value and len(value) < least:
        raise ImproperlyConfigured(f"{name} has fewer than {least} characters: write a longer one")
    return value


def check_networks(name: str, networks: list[str]) -> list[str]:
    """Return the networks of the variable `name`; raise ImproperlyConfigured for an invalid one."""
    for network in networks:
        try:
            ip_network(network)
        except ValueError:
            raise ImproperlyConfigured(
                f"{name} holds {network!r}: write such as 10.1.2.0/24"
            ) from None
    return networks


def build_variables_table() -> str:
    """Return the Markdown table of all environment variables."""
    return "\n".join(_format_table_lines())


def _format_table_lines() -> Iterator[str]:
    """Yield the lines of the Markdown table of all environment variables."""
    yield "| variable | value | default |"
    yield "|---|---|---|"
    for variable in VARIABLES:
        names = ", ".join(f"`{name}`" for name in variable.names)
        yield f"| {names} | {variable.value} | {variable.default} |"


def insert_variables_table(text: str) -> str:
    """Return a document with the current table of variables between the marks `BEGIN` and `END`."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{build_variables_table()}\n\n{END}{after}"


if __name__ == "__main__":
    document = Path(__file__).parents[1] / "docs" / "operations.md"
    document.write_text(
        insert_variables_table(document.read_text(encoding="utf-8")), encoding="utf-8"
    )
