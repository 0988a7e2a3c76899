"""Case: every page of the site, with 100,000 answers in the set that it shows.

``python -m tests.benchmarks.pages fill`` fills the empty database of its settings and
grades what it put there; ``... measure`` then asks for every page and prints one JSON object. Two
processes, because a web server holds neither the answers nor the embedders of a worker.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.child import measured_by, printed_by
from tests.benchmarks.large_set import ANSWERS, WORKERS, graded_set
from tests.benchmarks.results import Claim, Figure, Findings, figure, timed
from tests.benchmarks.timing import Timing, elapsed

QUICK = Claim("at most", 0.3, "s")
RUNS = 5
# A page is what somebody waits for in front of a screen; files are streamed and have no claim.
PAGES = ("text/html", "application/json", "application/problem+json", "image/svg+xml")
OURS = ("annotations.", "evaluation.", "crowdgrade.")


@dataclass(frozen=True)
class RequestedPage:
    """An address that was asked for, as its owner sees it.

    Attributes
    ----------
    name : of the route. content : type of what came back, "" for a redirect.
    status : of the response. seconds : server time of each run. queries, size : of one of them.
    """

    name: str
    content: str
    status: int
    seconds: list[float]
    queries: int
    size: int

    @property
    def is_page(self) -> bool:
        """Whether the claim is about it."""
        return self.status == 200 and self.content in PAGES


def every_page(root: Path) -> Findings:
    """Time all pages of a site of its own, in a new folder and on SQLite."""
    with tempfile.TemporaryDirectory(prefix="crowdgrade-pages-") as home:
        path = os.pathsep.join([str(root), str(root / "platform")])
        environment = {
            **{name: value for name, value in os.environ.items() if name != "DATABASE_URL"},
            "CROWDGRADE_HOME": home,
            "PYTHONPATH": path,
            "DJANGO_SETTINGS_MODULE": "crowdgrade.settings",
        }
        where: dict[str, Any] = {"environment": environment, "folder": root}
        printed_by("pages", "fill", process="the process to fill", **where)
        found = measured_by("pages", "measure", process="the process to measure", **where)
    asked = [RequestedPage(**one) for one in found["asked"]]
    setting = f"{ANSWERS:,} answers, {WORKERS:,} workers, SQLite"
    return Findings(list(_rows(setting, asked)), list(_remarks(asked, found["skipped"])))


def _rows(setting: str, asked: Iterable[RequestedPage]) -> Iterator[Figure]:
    for one in asked:
        if one.is_page:
            what = f"{one.name}, {one.queries} queries"
            yield timed(setting, what, Timing(one.seconds), claim=QUICK)
    pages = [one for one in asked if one.is_page]
    if pages:
        yield figure(setting, "largest page", max(one.size for one in pages) / 1e3, "kB")


def _remarks(asked: Iterable[RequestedPage], skipped: list[str]) -> Iterator[str]:
    for one in asked:
        if one.status == 200 and not one.is_page:
            yield (
                f"{one.name}, a file of {one.size / 1e6:.1f} MB as {one.content}: "
                f"{Timing(one.seconds).median:.2f} s, {one.queries} queries"
            )
    others = sorted({f"{one.name} ({one.status})" for one in asked if one.status != 200})
    yield f"answered without a page: {', '.join(others) or 'none'}"
    yield f"not asked, for want of a value: {', '.join(sorted(skipped)) or 'none'}"


def values_of(run: Any) -> dict[str, Any]:
    """Return a value for every name that stands in an address."""
    from evaluation.models import JudgementRequest, LLMScore, Prompt, Run
    from evaluation.runs.flow.asking.plan import CLOSED, TEMPLATES
    from evaluation.runs.flow.asking.plan import Prompt as Asked
    from evaluation.runs.steps.asking.registration import create_prompt

    version = run.version
    grade = run.worker_grades.order_by("rank").first()
    question = version.questions.order_by("position").first().public_id
    asked, _ = JudgementRequest.objects.get_or_create(
        response=grade.worker.submissions.get(version=version).responses.order_by("pk")[0],
        expert=run.owner,
        defaults={"place": 0, "run": run},
    )
    model = LLMScore.objects.filter(run=run).order_by("pk")[0].model
    prompt = (
        Prompt.objects.filter(owner=run.owner).first()
        or create_prompt(run.owner.pk, "prompt", Asked(CLOSED, TEMPLATES[CLOSED])).prompt
    )
    return {
        "set_id": version.question_set.public_id,
        "question_set": version.question_set.public_id,
        "version": version.public_id,
        "run": run.public_id,
        "run_id": run.public_id,
        "other": Run.objects.filter(version=version).exclude(pk=run.pk)[0].public_id,
        "question": question,
        "question_id": question,
        "worker": grade.worker.public_id,
        "worker_id": grade.worker.public_id,
        "model": model.public_id,
        "model_id": model.public_id,
        "submission_id": grade.worker.submissions.get(version=version).public_id,
        "prompt_id": prompt.public_id,
        "kind": "answers",
        "place": 0,
        "task_id": asked.public_id,
    }


def addresses(values: dict[str, Any]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the names and addresses of our routes, and the names for which a value is missing."""
    from django.urls import NoReverseMatch, URLPattern, get_resolver, reverse

    def walk(entries: list[Any], space: str) -> Iterator[tuple[str, Any]]:
        for entry in entries:
            if isinstance(entry, URLPattern):
                if entry.name:
                    yield f"{space}{entry.name}", entry
            else:
                inner = f"{space}{entry.namespace}:" if entry.namespace else space
                yield from walk(entry.url_patterns, inner)

    found, skipped = [], []
    for name, entry in walk(get_resolver().url_patterns, ""):
        view = getattr(entry.callback, "__wrapped__", entry.callback)
        while hasattr(view, "__wrapped__"):
            view = view.__wrapped__
        module = getattr(getattr(view, "view_class", getattr(view, "cls", view)), "__module__", "")
        if not module.startswith(OURS) and not name.endswith(":index"):
            continue
        wanted = list(entry.pattern.converters)
        if missing := [key for key in wanted if key not in values and key != "name"]:
            skipped.append(f"{name} ({', '.join(missing)})")
            continue
        for last in NAMES.get(name, [""]) if "name" in wanted else [""]:
            given = {key: last if key == "name" else values[key] for key in wanted}
            try:
                found.append((f"{name} {last}".strip(), reverse(name, kwargs=given)))
            except NoReverseMatch:
                skipped.append(name)
    return found, skipped


# What stands in an address as `name`, by route.
NAMES = {
    "admin:results-chart": ["grades", "convergence", "questions", "models"],
    "admin:results-table": ["workers", "questions", "models", "alarms"],
}


def measure(run: Any) -> dict[str, Any]:
    """Ask for every page as the owner of the run."""
    from django.db import connection
    from django.test import Client

    client = Client(SERVER_NAME="localhost", raise_request_exception=False)
    client.force_login(run.owner)
    listed, skipped = addresses(values_of(run))
    asked = []
    for name, address in listed:

        def ask(address: str = address) -> tuple[int, str, int]:
            response: Any = client.get(address)
            content = b"".join(response.streaming_content) if response.streaming else None
            size = len(response.content if content is None else content)
            kind = response.headers.get("Content-Type", "").partition(";")[0]
            return response.status_code, kind, size

        queries: list[str] = []

        def count(execute: Any, sql: str, *rest: Any) -> Any:
            queries.append(sql)  # noqa: B023
            return execute(sql, *rest)

        with connection.execute_wrapper(count):
            status, kind, size = ask()
        quick = status == 200 and kind in PAGES
        seconds = [elapsed(ask) for _ in range(RUNS if quick else 1)]
        asked.append(RequestedPage(name, kind, status, seconds, len(queries), size))
    return {"asked": [asdict(one) for one in asked], "skipped": skipped}


def main() -> None:
    """Do the part that the command line names."""
    import django

    django.setup()
    from django.core.management import call_command

    from evaluation.models import Run

    if sys.argv[1] == "fill":
        call_command("migrate", verbosity=0, interactive=False)
        graded_set()
    else:
        print(json.dumps(measure(Run.objects.latest("pk"))))


if __name__ == "__main__":
    main()
