"""What there is for each reason to refuse work that a panel takes: counted, never guessed.

Nothing of how an answer was typed or pasted is read here, and nothing of what it says: panels take
neither the suspicion of a language model nor disagreement as a reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from django.db.models import Count, Q, QuerySet

from annotations.answering.wording import say_in
from annotations.exchange.prolific import CATEGORIES, HANDED_IN
from annotations.models import (
    GRADED,
    PanelStatus,
    Question,
    QuestionSetVersion,
    Response,
    Submission,
)
from annotations.models import Collection as Collecting
from evaluation.words.message import Message

FAST = 1 / 3
"""Who took less than this part of the median time was far too fast."""
FEWEST_TIMES = 5
"""People with times, below which a median says nothing."""
ENOUGH = 0.5
"""From this part of the checks, or of the questions, on a category is offered."""
TOLD = 0.1
"""From this part of the questions on, those without an answer are told: one of many is nothing."""
FEWEST_SAME = 3
"""Answers with the same text, from which on that is told."""
NO_CODES = frozenset({"NOCODE", "NO CODE", "NO_CODE"})
"""What Prolific writes in place of a code that nobody gave."""


@dataclass(frozen=True, slots=True)
class Failed:
    """An attention check that was answered otherwise than it asks for."""

    question: str
    text: str
    answer: str
    right: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a category of a rejection; `offered` says whether it is enough to offer it.

    `said` is a sentence with the counts, `checks` are the failed attention checks.
    """

    category: str
    offered: bool
    said: Message
    checks: tuple[Failed, ...] = ()

    @property
    def words(self) -> str:
        """The category in words."""
        return CATEGORIES[self.category]


@dataclass(slots=True)
class _Counts:
    answers: int = 0
    empty: int = 0
    same: int = 0
    asked: int = 0
    checks: int = 0
    failed: list[Failed] = field(default_factory=list)


def evidence_of(
    version: QuestionSetVersion,
    keys: Collection[int] | None = None,
    times: Mapping[int, float] | None = None,
) -> dict[int, list[Evidence]]:
    """Return what there is against submissions, by their keys; of everybody's without any.

    `times` are those of everybody (`seconds_of`), for who has them already. The number of queries
    does not hang on how many people take part.
    """
    submissions = Submission.objects.filter(version=version)
    if keys is not None:
        submissions = submissions.filter(pk__in=keys)
    counts = _counts(version, keys)
    times = seconds_of(version) if times is None else times
    middle = median(times.values()) if len(times) >= FEWEST_TIMES else None
    codes = _codes(version, keys)
    found = {}
    for key, state in submissions.values_list("pk", "state"):
        handed_in = state == Submission.State.SUBMITTED
        of = counts.get(key, _Counts())
        found[key] = [
            *_no_data(of, handed_in),
            *_checks(of),
            *_fast(times.get(key), middle, len(times)),
            *_effort(of),
            *codes.get(key, ()),
        ]
    return found


def seconds_of(version: QuestionSetVersion | int) -> dict[int, float]:
    """Return how long people took, by their submissions: from consent to the end, in seconds.

    By the server's clock; where that is not known, as the panel has it of who handed in there: who
    returned or ran out of time would make the others look fast. Breaks count.
    """
    told = PanelStatus.objects.filter(submission__version=version).order_by("pk")
    found: dict[int, float] = {}
    stands: dict[int, str] = {}
    for key, status, seconds in told.values_list("submission", "status", "seconds"):
        stands[key] = status
        if seconds is not None:
            found[key] = seconds
    found = {key: seconds for key, seconds in found.items() if stands[key] in HANDED_IN}
    rows = Submission.objects.filter(
        version=version,
        state=Submission.State.SUBMITTED,
        started_at__isnull=False,
        submitted_at__isnull=False,
    ).values_list("pk", "started_at", "submitted_at")
    for key, start, end in rows:
        if start is not None and end is not None and end > start:
            found[key] = (end - start).total_seconds()
    return {key: seconds for key, seconds in found.items() if seconds > 0}


def _counts(version: QuestionSetVersion, keys: Collection[int] | None) -> Mapping[int, _Counts]:
    among = Q(submission__version=version)
    if keys is not None:
        among &= Q(submission__in=keys)
    rows = Response.objects.filter(among, state=Response.State.SUBMITTED).order_by()
    found: dict[int, _Counts] = {}
    empty = Count("pk", filter=Q(status=Response.Status.EMPTY))
    graded = rows.filter(question__role__in=GRADED)
    for key, n, n_empty in (
        graded.values("submission")
        .annotate(n=Count("pk"), e=empty)
        .values_list("submission", "n", "e")
    ):
        found[key] = _Counts(answers=n - n_empty, empty=n_empty, asked=n)
    repeated = (
        graded.filter(question__kind=Question.Kind.FREE, status=Response.Status.TEXT)
        .values("submission", "text")
        .annotate(n=Count("pk"))
        .filter(n__gte=FEWEST_SAME)
        .values_list("submission", "n")
    )
    for key, n in repeated:
        found[key].same = max(found[key].same, n)
    _add_checks(version, rows, found)
    return found


def _add_checks(
    version: QuestionSetVersion, rows: QuerySet[Response], found: dict[int, _Counts]
) -> None:
    checks = _checks_in(version, "")
    if not checks:
        return
    by_language = {"": checks}
    given = rows.filter(question__in=list(checks)).values_list(
        "submission", "submission__language", "question", "text"
    )
    for key, language, question, text in given:
        language = language if language in version.languages else ""
        if language not in by_language:
            by_language[language] = _checks_in(version, language)
        check = by_language[language][question]
        of = found.setdefault(key, _Counts())
        of.checks += 1
        if check.accepts(text) is False:
            first = check.accepted_answers[0]
            right = str(first[0] if isinstance(first, list) and first else first)
            of.failed.append(Failed(check.external_id, check.text, text, right))


def _checks_in(version: QuestionSetVersion, language: str) -> dict[int, Question]:
    """Return the attention checks with right answers as they were read in a language, by key."""
    of = version.questions.filter(role=Question.Role.ATTENTION)
    found = {one.pk: one for one in of if one.accepted_answers}
    if language and found:
        say_in(version, language, found.values())
    return found


def _no_data(of: _Counts, handed_in: bool) -> Iterable[Evidence]:
    if handed_in and not of.answers:
        yield Evidence("NO_DATA", True, Message("paying.no_data", {"asked": of.asked}))


def _checks(of: _Counts) -> Iterable[Evidence]:
    if of.failed:
        said = Message("paying.checks", {"failed": len(of.failed), "checks": of.checks})
        offered = len(of.failed) >= ENOUGH * of.checks
        yield Evidence("FAILED_CHECK", offered, said, tuple(of.failed))


def _fast(seconds: float | None, middle: float | None, n: int) -> Iterable[Evidence]:
    if seconds is not None and middle is not None and seconds < FAST * middle:
        values = {"minutes": seconds / 60, "median": middle / 60, "timed": n}
        yield Evidence("TOO_QUICKLY", True, Message("paying.fast", values))


def _effort(of: _Counts) -> Iterable[Evidence]:
    if of.answers and of.empty and of.empty >= TOLD * of.asked:
        said = Message("paying.empty", {"empty": of.empty, "asked": of.asked})
        yield Evidence("LOW_EFFORT", of.empty >= ENOUGH * of.asked, said)
    if of.same:
        said = Message("paying.same", {"same": of.same, "answers": of.answers})
        yield Evidence("LOW_EFFORT", of.same >= ENOUGH * of.answers, said)


def _codes(
    version: QuestionSetVersion, keys: Collection[int] | None
) -> Mapping[int, Sequence[Evidence]]:
    collection = Collecting.objects.filter(version=version).first()
    if collection is None:
        return {}
    ours = {
        *(collection.code_done, collection.code_no_consent, collection.code_screened_out),
        *(collection.code_too_late, collection.code_for_others, collection.code_failed_checks),
    }
    told = PanelStatus.objects.filter(submission__version=version).exclude(code="")
    if keys is not None:
        told = told.filter(submission__in=keys)
    found = {}
    rows = told.order_by("pk").values_list("submission", "code", "submission__code")
    for key, code, shown in rows:
        if code.strip().upper() in NO_CODES:
            found[key] = [Evidence("NO_CODE", True, Message("paying.no_code"))]
        # What somebody was shown is the study's own, also where its codes were changed since.
        elif code.strip() not in {*ours, shown}:
            found[key] = [Evidence("BAD_CODE", True, Message("paying.bad_code", {"code": code}))]
        else:
            found.pop(key, None)
    return found
