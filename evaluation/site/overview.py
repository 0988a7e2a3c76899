"""Start page: counts, items that need attention, first steps.

List of what needs a requester's attention, from a constant number of queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import CharField, F, Max, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models import Count as Counted
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.safestring import SafeString

from annotations.models import (
    Question,
    QuestionSet,
    Response,
    Worker,
    is_requester,
    list_invitations,
)
from annotations.web.numbers import TableCounts, read_numbers
from annotations.web.scope import get_user_id, select_visible
from annotations.web.texts import mark_code
from evaluation.core.messages.message import Message
from evaluation.core.options import SITE
from evaluation.models import LanguageModel, LLMResponse, Run, RunOfRecord, Webhook, WorkerGrade
from evaluation.models.runs import ACTIVE, GRADING, UNFINISHED
from evaluation.runs.background.progress import (
    HOW_TO_START,
    build_process_count,
    is_any_process_running,
)
from evaluation.runs.background.runs import select_visible_runs
from evaluation.runs.judging.tasks import select_all_requests
from evaluation.runs.reports.lists import (
    annotate_runs_for_list,
    build_alarm_count,
    filter_unarchived_runs,
)
from evaluation.runs.run_types.run_list import list_runs
from evaluation.site.judging import list_to_judge

SETS_LOOKED_AT = 200
"""Number of newest sets examined; problems of older ones are shown on their own pages."""


@dataclass(frozen=True)
class AttentionItem:
    """A problem that needs the requester's attention, with a link.

    `code` identifies the problem; `level` is bad, warn or busy, the colours of the page.
    """

    code: str
    level: str
    about: str
    text: str
    link: str
    action: str

    @property
    def words(self) -> SafeString:
        """Text of the item as HTML, with commands marked as code."""
        return mark_code(self.text)


def find_items_needing_attention(
    user: AbstractBaseUser | AnonymousUser, listens: bool | None = None
) -> list[AttentionItem]:
    """Return what needs attention in the sets that the user may change, worst first.

    These are newest runs that failed or wait, and official runs (else the newest finished ones)
    that are out of date or have open alarms; and the user's webhooks that were switched off.
    `listens` states whether a background process runs; None if the caller does not know.
    """
    order = {"bad": 0, "warn": 1, "busy": 2}
    if listens is None:
        listens = is_any_process_running()
    items = [item for row in _load_sets(user) for item in _find_items(row, listens)]
    items += _find_webhooks_off(user)
    return sorted(items, key=lambda item: order[item.level])


def _find_webhooks_off(user: AbstractBaseUser | AnonymousUser) -> list[AttentionItem]:
    """Return an item for each webhook of the user that was not switched off by the user."""
    rows = Webhook.objects.filter(owner=user.pk, off_at__isnull=False)
    return [
        AttentionItem(
            *("webhook_off", "bad", webhook.name),
            f"This webhook is off: {webhook.get_off_reason_display()}.",
            *(reverse("admin:webhook", args=[webhook.public_id]), "Open the webhook"),
        )
        for webhook in rows.exclude(off_reason=Webhook.Off.USER).order_by("-pk")
    ]


def _load_sets(user: AbstractBaseUser | AnonymousUser) -> list[dict[str, Any]]:
    """Return the newest sets with their last run and their official run, in three queries."""
    last = Run.objects.filter(version__question_set=OuterRef("pk")).order_by("-id")
    done = last.filter(kind=GRADING, state=Run.State.DONE)
    counting = done.order_by(F("of_record").desc(nulls_last=True), "-id")
    chosen = RunOfRecord.objects.filter(question_set=OuterRef("pk"), kind=GRADING)
    sets = (
        QuestionSet.objects.editable_by(user)
        .filter(archived_at=None)
        .annotate(
            last=Subquery(last.values("pk")[:1]),
            counting=Subquery(counting.values("pk")[:1]),
            done=Subquery(done.values("pk")[:1]),
            chosen_by=Subquery(chosen.values("chosen_by")[:1]),
        )
        .order_by("-id")
        .values("id", "public_id", "name", "last", "counting", "done", "chosen_by")[:SETS_LOOKED_AT]
    )
    rows: list[dict[str, Any]] = [dict(row) for row in sets]
    runs = _load_runs(
        {row[which] for row in rows for which in ("last", "counting", "done")} - {None}
    )
    for row in rows:
        run, counts = runs.get(row["last"], {}), runs.get(row["counting"], {})
        row["newest"] = runs.get(row["done"], {}).get("public_id")
        row |= {"run": run.get("public_id"), "counts": counts.get("public_id")}
        row |= {f"run_{name}": run.get(name) for name in ("state", "error")}
        columns = ("started_at", "warnings", "n_alarms")
        row |= {f"counts_{name}": counts.get(name) for name in columns}
    ids = [row["id"] for row in rows]
    # One grouped query each: compared in the query, the run's time would be looked up for each row.
    of_people = Response.objects.filter(state=Response.State.SUBMITTED).annotate(
        set=F("submission__version__question_set"), at=F("updated_at")
    )
    of_models = LLMResponse.objects.annotate(
        set=F("question__version__question_set"), at=F("asked_at")
    )
    people = _select_latest("people", of_people, ids, Q(status=Response.Status.TEXT))
    latest = people.union(_select_latest("models", of_models, ids, Q()), all=True)
    latest_by_key = {(field, key): (n, newest) for field, key, n, newest in latest}
    for row in rows:
        since = row["counts_started_at"]
        texts_of_set, newest = latest_by_key.get(("people", row["id"]), (0, None))
        _, newest_of_models = latest_by_key.get(("models", row["id"]), (0, None))
        row["has_answers"] = texts_of_set > 0
        row["newer"] = since is not None and newest is not None and newest > since
        row["newer_of_models"] = (
            since is not None and newest_of_models is not None and newest_of_models > since
        )
    return rows


def _load_runs(keys: set[int]) -> dict[int, dict[str, Any]]:
    """Return state, error, start time, warnings and alarm counts of runs, by primary key."""
    rows = Run.objects.filter(pk__in=keys).annotate(n_alarms=build_alarm_count(OuterRef("pk")))
    columns = rows.values("pk", "public_id", "state", "error", "started_at", "warnings", "n_alarms")
    return {row["pk"]: dict(row) for row in columns}


def _select_latest(
    author: str, rows: QuerySet[Any, Any], sets: list[int], counted: Q
) -> QuerySet[Any, tuple[str, int, int, datetime | None]]:
    """Return the query of, for each set: `author`, set, number of rows `counted`, newest time."""
    return (
        rows.filter(set__in=sets)
        .order_by()
        .values("set")
        .annotate(of=Value(author, CharField()), n=Counted("pk", filter=counted), newest=Max("at"))
        .values_list("of", "set", "n", "newest")
    )


def _find_items(row: dict[str, Any], listens: bool) -> Iterator[AttentionItem]:
    """Yield the attention items of one set, from its last run and its official run."""
    name, state = str(row["name"]), row["run_state"]
    of_run = reverse("admin:run", args=[row["run"]]) if row["run"] else ""
    grade = reverse("admin:grade", args=[row["public_id"]])
    if state is None:
        if row["has_answers"]:
            yield AttentionItem(
                *("never_graded", "warn", name, "It has answers but was never graded."),
                *(grade, "Grade"),
            )
        return
    if state == Run.State.FAILED:
        reason = SITE.format(row["run_error"])
        text = f"The last run failed: {reason[:200]}"
        yield AttentionItem("run_failed", "bad", name, text, of_run, "Open the run")
    elif state in ACTIVE and not listens:
        text = f"A run waits. {HOW_TO_START}"
        yield AttentionItem("run_waits", "bad", name, text, of_run, "Open the run")
    elif state in UNFINISHED:
        yield AttentionItem(
            "run_unfinished", "busy", name, f"A run is {state}.", of_run, "Watch it"
        )
    if state == Run.State.DONE and row["counts"]:
        yield from _find_items_of_official_run(row, name, grade)


def _find_items_of_official_run(
    row: dict[str, Any], name: str, grade: str
) -> Iterator[AttentionItem]:
    """Yield the attention items of a set's official run."""
    run_name = "last run" if row["counts"] == row["run"] else "official run"
    of_run = reverse("admin:run", args=[row["counts"]])
    if n := row["counts_n_alarms"]:
        text = (
            f"{n} alarm{'' if n == 1 else 's'} in the {run_name}: read the evidence "
            "before you pay, reject or publish anything."
        )
        to_alarms = reverse("admin:results-alarms", args=[row["counts"]])
        yield AttentionItem("alarms", "bad", name, text, to_alarms, "Review the evidence")
    if row["newest"] != row["counts"] and row["chosen_by"] is None:
        text = "A later run is done; exports and this page use the first until you choose another."
        later = reverse("admin:run", args=[row["newest"]])
        yield AttentionItem("later_run", "warn", name, text, later, "Open it")
    elif row["newer"]:
        text = f"People's answers were added or changed since the {run_name} began."
        yield AttentionItem("answers_changed", "warn", name, text, grade, "Grade again")
    elif row["newer_of_models"]:
        text = f"Answers of language models were added or changed since the {run_name} began."
        like = f"{grade}?like={row['counts']}"
        yield AttentionItem("models_added", "warn", name, text, like, "Add the models")
    stored = map(Message.from_stored, row["counts_warnings"] or ())
    # Some workers skip questions in every crowd, so empty answers need no attention.
    warnings = [warning for warning in stored if warning.code != "empty_answers"]
    if warnings:
        more = f" (and {len(warnings) - 1} more)" if len(warnings) > 1 else ""
        text = f"{SITE.format(warnings[0])}{more}"
        yield AttentionItem("run_warnings", "warn", name, text, of_run, "Open the run")


ITEMS_SHOWN = 20
RUNS_SHOWN = 5
LISTENING, ASKED = "listening", "asked"
ALL = (Counted("pk"),)


@dataclass(frozen=True)
class Count:
    """A number on the start page with its label (in the plural) and a link, "" for none."""

    label: str
    number: int
    link: str = ""

    @property
    def noun(self) -> str:
        """Singular or plural of the label, by the number."""
        return self.label.removesuffix("s") if self.number == 1 else self.label


@dataclass(frozen=True)
class FirstStep:
    """One of a new requester's three steps to the first grades."""

    title: str
    text: str
    done: bool
    link: str = ""
    button: str = ""


def show_overview(request: HttpRequest) -> TemplateResponse:
    """Show counts from question sets to models, and the items that need attention."""
    numbers = read_counts(request)
    counts = build_flow_counts(request, numbers)
    items = find_items_needing_attention(request.user, numbers[LISTENING] > 0)
    sets = select_visible(request, QuestionSet.objects.all())
    context = {
        "title": "Overview",
        "counts": [count for count in counts if count.number or is_requester(request.user)],
        "items": items[:ITEMS_SHOWN],
        "hidden_items": max(0, len(items) - ITEMS_SHOWN),
        "inbox": list_to_judge(sets, get_user_id(request), known=True) if numbers[ASKED] else [],
        "invitations": list_invitations(request.user),
        "runs": list_runs(
            annotate_runs_for_list(
                filter_unarchived_runs(select_visible_runs(request.user))
            ).order_by("-id")[:RUNS_SHOWN]
        ),
        "steps": build_first_steps(request, numbers),
    }
    return TemplateResponse(request, "admin/overview.html", context)


def build_flow_counts(request: HttpRequest, numbers: dict[str, int]) -> list[Count]:
    """Return the counts from question sets to models, with links to their lists."""
    sets, runs = reverse("admin:question-sets"), reverse("admin:runs")
    links = {
        "question sets": sets,
        "questions": sets,
        "workers": reverse("admin:workers"),
        "answers": sets,
        "runs": runs,
        "grades": runs,
        "language models": reverse("admin:models"),
    }
    return [Count(label, numbers[label], link) for label, link in links.items()]


def read_counts(request: HttpRequest) -> dict[str, int]:
    """Return the numbers of visible objects, background processes and tasks; one query.

    Also how many background processes run, and how many judgements are requested from the user.
    """
    texts = Response.objects.filter(state=Response.State.SUBMITTED, status=Response.Status.TEXT)
    querysets: dict[str, QuerySet[Any, Any]] = {
        "question sets": QuestionSet.objects.all(),
        "questions": Question.objects.all(),
        "workers": Worker.objects.all(),
        "answers": texts,
        "runs": Run.objects.all(),
        "grades": WorkerGrade.objects.all(),
        "language models": LanguageModel.objects.filter(archived_at=None),
    }
    parts = {
        name: TableCounts(select_visible(request, rows), ALL) for name, rows in querysets.items()
    }
    table_counts = TableCounts(select_all_requests(get_user_id(request)), ALL)
    numbers = read_numbers({**parts, LISTENING: build_process_count(), ASKED: table_counts})
    return {name: n for name, [(n,)] in numbers.items()}


def build_first_steps(request: HttpRequest, counts: dict[str, int]) -> list[FirstStep]:
    """Return the three steps to a requester's first grades; an empty list once there are grades."""
    if counts["grades"] or not is_requester(request.user):
        return []
    newest = QuestionSet.objects.editable_by(request.user).order_by("-id").first()
    steps = [
        FirstStep(
            "Make a question set",
            "It holds the questions, the answers and the runs.",
            newest is not None,
            reverse("admin:question-set-new"),
            "New question set",
        )
    ]
    upload = "" if newest is None else reverse("admin:question-set", args=[newest.public_id])
    grade = "" if newest is None else reverse("admin:grade", args=[newest.public_id])
    answered = counts["answers"] > 0
    return [
        *steps,
        FirstStep(
            "Upload questions and answers",
            "Files of any usual format; every bad row is named before anything is stored.",
            answered,
            upload,
            "Upload",
        ),
        FirstStep(
            "Grade",
            "A run finds what the crowd agrees on and grades everybody against it.",
            False,
            grade if answered else "",
            "Grade",
        ),
    ]
