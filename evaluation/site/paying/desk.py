"""Pay people: everybody of a version, what could be done with their work, and doing it at once."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotations.ledger.appealing import n_waiting
from annotations.ledger.bonuses import ON_THE_WAY, PART, confirmed, is_of, payments_of
from annotations.ledger.deciding import (
    DecidedMeanwhileError,
    WithdrawnError,
    approve_undecided,
)
from annotations.ledger.parts import to_send
from annotations.models import QuestionSetVersion
from annotations.panels.lists import PanelLists
from annotations.panels.people import decided_people
from evaluation.paying.fairness import of_decisions
from evaluation.paying.scope import paid_version
from evaluation.reports.paying.people import OPEN, Desk, PayFilter
from evaluation.reports.paying.suggestions import APPROVE
from evaluation.site.paying.frame import frame

ROWS = 50
NAMED = 100
"""People who are named before they are approved at once; of the others their number is told."""


@require_GET
def desk(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show everybody with what speaks for a decision; filters, order and page by the address."""
    version = paid_version(request, set_id)
    of = Desk(version)
    asked = PayFilter(request.GET, of)
    listing = asked.listing(request, ROWS)
    page = listing["page"]
    counts = of.counted()
    context = frame(version, "Pay people", inside=False) | listing
    payments = payments_of(version)
    waiting = confirmed(one for one in payments if is_of(one, None))
    context |= {
        "n_confirmed": len(waiting.sendable),
        "n_held": len(waiting.held_back),
        "n_parts": len(to_send(version)),
        "may_have_parts": sum(of.ended.values()),
        "taken": [
            (batch, n, is_part)
            for (batch, is_part), n in Counter(
                (one.batch, one.round == PART) for one in payments if one.state in ON_THE_WAY
            ).items()
        ],
        "rows": of.rows(page.rows),
        "run": of.run,
        "counts": counts,
        "ended": of.ended,
        "n_waiting": n_waiting(version),
        "comparisons": of_decisions(version),
        "n_all": sum(counts.values()),
        "lists": PanelLists(version.pk, decided_people(version)),
        "versions": version.question_set.versions.order_by("-number"),
    }
    return TemplateResponse(request, "evaluation/paying/desk.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def approve(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Ask whether some people are to be approved at once, by name; the form does it.

    `who` names them; without it, everybody undecided for whom approving is suggested.
    """
    version = paid_version(request, set_id)
    problem = ""
    if request.method == "POST":
        given = _named(version, request.POST.get("who", "").split(","))
        try:
            done = approve_undecided(request.user, [one.pk for one in given])
        except WithdrawnError as error:
            problem = f"{error}. Nobody was approved; look at the list as it is now."
        except DecidedMeanwhileError as error:
            problem = (
                f"{error.newest.decided_by.get_username()} decided about one of them meanwhile. "
                "Nobody was approved; look at the list as it is now."
            )
        else:
            counted = "person is" if done.n_new == 1 else "people are"
            messages.success(request, f"{done.n_new:,} {counted} approved. No panel was told yet.")
            kept = frame(version, "")["kept"]
            return redirect(reverse("admin:paying", args=[set_id]) + kept)
    asked = request.GET.getlist("who")
    people = _named(version, asked) if asked else _suggested(version)
    people = [one for one in people if one.decided == OPEN and one.withdrawn_at is None]
    context = frame(version, "Approve several people?") | {
        "people": people[:NAMED],
        "more": max(0, len(people) - NAMED),
        "n": len(people),
        "who": ",".join(one.public_id.hex for one in people),
        "chosen": bool(asked),
        "problem": problem,
    }
    status = 409 if problem else 200
    return TemplateResponse(request, "evaluation/paying/approve.html", context, status=status)


def _suggested(version: QuestionSetVersion) -> list[Any]:
    of = Desk(version)
    found = of.suggestions()
    people = of.people().filter(decided=OPEN).order_by("name", "pk")
    return [one for one in people if found[one.pk].action == APPROVE]


def _named(version: QuestionSetVersion, ids: list[str]) -> list[Any]:
    """Return the submissions of these public ids, those of another version left out."""
    wanted = set()
    for text in ids:
        try:
            wanted.add(UUID(text.strip()))
        except ValueError:
            continue
    people = Desk(version).people().order_by("name", "pk")
    return [one for one in people if one.public_id in wanted]
