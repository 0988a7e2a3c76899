"""Lists for panels from the desk, and the kinds of files it takes in: decisions, statuses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth import get_user_model
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotations.exchange.problems import InputError
from annotations.exchange.reading.source import Readable
from annotations.ledger.bonuses import NothingToSendError
from annotations.ledger.deciding import answered_version
from annotations.ledger.exporting import (
    BONUSES,
    FORMATS,
    MONEY,
    ListWanted,
    NoListError,
    list_of,
    take,
)
from annotations.ledger.files import decide_by_file
from annotations.models import QuestionSet, QuestionSetVersion
from annotations.panels.statuses import import_statuses
from annotations.web.downloads import download, file_name
from annotations.web.upload_kinds import UploadKind, register
from evaluation.options import SITE
from evaluation.paying.fairness import group_lines, of_kinds
from evaluation.paying.scope import paid_version
from evaluation.site.paying.frame import frame

ENDINGS = {"prolific-approve": "txt"}


@require_GET
def panel_list(
    request: HttpRequest, set_id: UUID, name: str
) -> HttpResponse | StreamingHttpResponse:
    """Send a list; one of money only once more, by its id: taking it first is a POST."""
    version = paid_version(request, set_id)
    batch = request.GET.get("batch") or None
    if name not in FORMATS or (name in MONEY and batch is None):
        raise Http404("there is no such list")
    try:
        chunks, _ = FORMATS[name](version, ListWanted(batch, request.user))
    except NoListError as error:
        raise Http404(str(error)) from None
    return download(chunks, _name(version, name), ENDINGS.get(name, "csv"))


@require_POST
def take_bonuses(request: HttpRequest, set_id: UUID) -> HttpResponse | StreamingHttpResponse:
    """Claim the confirmed bonuses, and send their list: nobody else gets one with any of them.

    With `list` it is that of the parts of the pay.
    """
    version = paid_version(request, set_id)
    name = request.POST.get("list", BONUSES)
    if name not in MONEY:
        raise Http404("there is no such list")
    try:
        batch = take(version, request.user, name)
    except NothingToSendError:
        code = "no_bonus_left" if name == BONUSES else "no_part_left"
        messages.warning(request, f"No confirmed {MONEY[name]} was left to be sent.", code)
        kept = frame(version, "")["kept"]
        return redirect(reverse("admin:paying-bonuses", args=[set_id]) + kept)
    return download(list_of(version, batch), _name(version, name), "csv")


def _name(version: QuestionSetVersion, name: str) -> str:
    return file_name(version.question_set.name, f"version {version.number}", name)


@dataclass
class DeskReport:
    """A report of the desk as the pages of uploads show it; `counted` has the notes' numbers."""

    of: Any
    what: str
    notes: list[str]
    counted: dict[str, Any]

    @property
    def changed(self) -> bool:
        """Whether anything is new."""
        return bool(self.of.n_new or getattr(self.of, "n_new_bonuses", 0))

    def as_dict(self) -> dict[str, Any]:
        """Return what the page of an upload shows."""
        return {
            "what": self.what,
            "version": self.of.version.rpartition(" ")[2],
            "n_rows": self.of.n_rows,
            "n_new": self.of.n_new,
            "n_unchanged": self.of.n_unchanged,
            "n_repeated": 0,
            "created": {},
            "warnings": self.of.warnings,
            "notes": self.notes,
            "counted": self.counted,
        }

    def lines(self) -> Iterator[str]:
        """Return the report for a terminal."""
        yield from self.of.lines()


def load_decisions(
    into: QuestionSet, given: Readable, *, dry_run: bool = False, imported_by: Any = None, **_: Any
) -> DeskReport:
    """Keep the decisions of a file, every row or none; raises `InputError`."""
    version, user = _newest(into), _user(imported_by)
    report = decide_by_file(version, given, user, dry_run=dry_run)
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in sorted(report.n_by_kind.items()))
    notes = [f"Decisions: {kinds}."]
    if report.n_bonuses:
        notes.append(
            f"Bonuses: {report.n_bonuses:,}, {report.said_total} in all, "
            f"{report.n_new_bonuses:,} of them new. Importing confirms them, and sends nothing."
        )
    found = of_kinds(version, report.kinds)
    notes += [f"Not rejected, once this is decided, by {line}." for line in group_lines(found)]
    notes += [SITE.said(one.told) for one in found if one.told is not None]
    notes += [SITE.said(message) for one in found for message in one.warnings]
    counted: dict[str, Any] = dict(report.n_by_kind)
    if report.n_bonuses:
        counted |= {"bonuses": report.n_bonuses, "new_bonuses": report.n_new_bonuses}
        counted["total"] = report.said_total
    return DeskReport(report, "decisions", notes, counted)


def load_statuses(
    into: QuestionSet, given: Readable, *, dry_run: bool = False, imported_by: Any = None, **_: Any
) -> DeskReport:
    """Keep what a panel's export says of submissions; raises `InputError`."""
    report = import_statuses(_newest(into), given, _user(imported_by), dry_run=dry_run)
    notes = [
        line
        for line in report.lines()
        if line.startswith(("Of who", "Columns")) or "not in the file" in line
    ]
    return DeskReport(report, "statuses", notes, dict(report.by_status))


def _newest(question_set: QuestionSet) -> QuestionSetVersion:
    found = answered_version(question_set)
    if found is None:
        raise InputError.single("the question set", "it is empty", "Nobody took part in it.")
    return found


def _user(key: Any) -> Any:
    return get_user_model().objects.get(pk=key)


DESK = ("admin:paying", "Pay people")

register(
    UploadKind(
        "decisions",
        "decisions",
        "One row for each worker: approve, reject (with the panel's category and a reason of at "
        "least 100 characters that the worker reads) or open, which takes back. A column bonus "
        "confirms an amount, written as 1.50. Every row is kept or none is.",
        "worker,decision,category,reason,bonus\nw1,approve,,,1.50\nw2,open,,,",
        "",
        str,
        load_decisions,
        knows_who=True,
        door=DESK,
    )
)
register(
    UploadKind(
        "panel-statuses",
        "statuses from Prolific",
        "The file that Prolific exports for a study: where each submission stands there. What it "
        "knows of people (age, country ...) is not kept. It changes no decision.",
        "Submission id,Participant id,Status,Started at,Completed at,Time taken\n"
        "66a...,5f1...,AWAITING REVIEW,2026-11-20T09:00:00Z,2026-11-20T09:14:00Z,840",
        "",
        str,
        load_statuses,
        knows_who=True,
        door=DESK,
    )
)
