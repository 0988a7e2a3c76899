"""Options of sign-in by OpenID Connect, read from the environment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from crowdgrade.environment import (
    DECLARED,
    check_networks,
    read_choice,
    read_flag,
    read_list,
    read_secret,
    read_variable,
)

LOOPBACK_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1"})
LOOPBACK_NETWORKS: Final = ("127.0.0.0/8", "::1/128")
PREFIX: Final = "OPENID_"
LONGEST_ISSUER: Final = 200
"""Characters of the database's column."""
DOMAIN: Final = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
SECOND_FACTORS: Final = ("none", "operators", "requesters", "everyone")
"""Values of REQUIRE_SECOND_FACTOR: roles that need a second factor."""


@dataclass(frozen=True, kw_only=True)
class OpenID:
    """Settings of a site's OpenID provider, and of who may sign in by it.

    Attributes
    ----------
    issuer : URL of the provider, exactly as its ID tokens name it.
    name : name of the provider on the button.
    domains, groups : domains of e-mail addresses (in lower case) and groups whose members may sign
        in. With neither, only linked accounts and invited people may.
    makes_requesters : whether a new account is a requester; else it has no role.
    trusts_email : whether every address counts as verified, for providers without that claim.
    networks : non-public networks in which the provider may be.
    """

    issuer: str
    client_id: str
    secret: str
    name: str = "OpenID"
    domains: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    makes_requesters: bool = False
    trusts_email: bool = False
    networks: tuple[str, ...] = ()

    @property
    def is_local(self) -> bool:
        """Whether the provider is on this machine, as in tests; then HTTP is allowed."""
        return urlsplit(self.issuer).hostname in LOOPBACK_HOSTS


def read_openid() -> OpenID | None:
    """Return the OpenID settings from the environment; None if no variable of them is set.

    Raises ImproperlyConfigured for an invalid value, and for an incomplete set of variables.
    """
    issuer = read_variable("OPENID_ISSUER")
    if issuer is None:
        _refuse_without_issuer()
        return None
    _check_issuer(issuer)
    client_id, secret = read_variable("OPENID_CLIENT_ID"), read_secret("OPENID_CLIENT_SECRET", 1)
    if client_id is None or not secret:
        missing = "OPENID_CLIENT_ID" if client_id is None else "OPENID_CLIENT_SECRET"
        raise ImproperlyConfigured(
            f"{missing} is not set, but OPENID_ISSUER is: set what the provider shows for this "
            "site, or remove OPENID_ISSUER"
        )
    domains = read_list("OPENID_DOMAINS", [])
    for domain in domains:
        if not DOMAIN.fullmatch(domain):
            raise ImproperlyConfigured(f"OPENID_DOMAINS holds {domain!r}: write such as lab.org")
    return OpenID(
        issuer=issuer,
        client_id=client_id,
        secret=secret,
        name=read_variable("OPENID_NAME") or "OpenID",
        domains=frozenset(domain.lower() for domain in domains),
        groups=frozenset(read_list("OPENID_GROUPS", [])),
        makes_requesters=read_choice("OPENID_ROLE", ("none", "requester")) == "requester",
        trusts_email=read_flag("OPENID_TRUST_EMAIL"),
        networks=tuple(check_networks("OPENID_NETWORKS", read_list("OPENID_NETWORKS", []))),
    )


def get_openid() -> OpenID:
    """Return the OpenID settings of the site; ImproperlyConfigured without any."""
    openid = settings.OPENID
    if openid is None:
        raise ImproperlyConfigured("OPENID_ISSUER is not set: set it to sign in by OpenID")
    return openid


def read_password_sign_in(openid: OpenID | None) -> bool:
    """Return whether passwords may be used to sign in; ImproperlyConfigured if nothing else can."""
    is_allowed = read_flag("PASSWORD_SIGN_IN", default=True)
    if not is_allowed and openid is None:
        raise ImproperlyConfigured(
            "PASSWORD_SIGN_IN is no without OPENID_ISSUER, so no account could sign in: set an "
            "OpenID provider, or write yes"
        )
    return is_allowed


def read_required_second_factor() -> str:
    """Return which accounts need a second factor, one of `SECOND_FACTORS`."""
    return read_choice("REQUIRE_SECOND_FACTOR", SECOND_FACTORS)


def _refuse_without_issuer() -> None:
    """Raise ImproperlyConfigured if a variable of the provider is set, which has no effect."""
    declared = sorted(variable for variable in DECLARED if variable.startswith(PREFIX))
    useless = [variable for variable in declared if read_variable(variable)]
    if useless:
        raise ImproperlyConfigured(
            f"{useless[0]} is set without OPENID_ISSUER, so it has no effect: set OPENID_ISSUER, "
            f"or remove {', '.join(useless)}"
        )


def _check_issuer(issuer: str) -> None:
    """Raise ImproperlyConfigured unless an issuer is an HTTPS URL, or HTTP on this machine."""
    remedy = "write the issuer of the provider, such as https://login.example.org/realms/lab"
    try:
        parts = urlsplit(issuer)
        is_sound = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_sound = False
    if not is_sound or not issuer.isascii() or not issuer.isprintable() or " " in issuer:
        raise ImproperlyConfigured(f"OPENID_ISSUER is {issuer!r}: {remedy}")
    if len(issuer) > LONGEST_ISSUER:
        raise ImproperlyConfigured(f"OPENID_ISSUER has over {LONGEST_ISSUER} characters: {remedy}")
    if parts.username is not None or parts.query or parts.fragment:
        raise ImproperlyConfigured(f"OPENID_ISSUER holds more than an address: {remedy}")
    if parts.scheme != "https" and not (
        parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS
    ):
        raise ImproperlyConfigured(f"OPENID_ISSUER is {issuer!r}, without https://: {remedy}")
