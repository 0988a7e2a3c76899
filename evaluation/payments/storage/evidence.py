"""Evidence for each reason to reject a submission, and the version of a payment page.

Find the question set and version of a payment page, and check the user's rights.

Count the evidence for each reason to reject a submission that panels accept.

Neither the typing and pasting of answers nor their content is read: panels accept no suspicion of a
language model and no disagreement as a reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from uuid import UUID

from django.db.models import CharField, Count, OuterRef, Q, TextField, Value
from django.http import Http404, HttpRequest

from annotations.answering.wording import wording
from annotations.exchange.prolific import CATEGORIES
from annotations.ledger.decisions import select_answered_version
from annotations.models import (
    GRADED,
    PanelStatus,
    Question,
    QuestionSet,
    QuestionSetVersion,
    Response,
    Submission,
    rights,
)
from annotations.models import Collection as Collecting
from annotations.panels.people import TIME_COLUMNS, build_status_annotations, compute_seconds_taken
from annotations.web.query import parse_number
from annotations.web.scope import (
    RefusedError,
    UserRequest,
    get_editable_set_with_answers,
    select_visible,
)
from evaluation.core.messages.message import Message

LARGEST_VERSION = 1_000_000
"""Largest version number in a query; a larger one is refused without a database query."""


def get_payable_set(request: UserRequest, set_id: UUID) -> QuestionSet:
    """Return a question set that the user may edit, so that they may pay its workers.

    Raises Http404 if the user may not see the set, `RefusedError` if the user may only view it.
    Viewers see no decisions and payments.
    """
    return get_editable_set_with_answers(request, set_id)


def get_payable_version(request: HttpRequest, set_id: UUID) -> QuestionSetVersion:
    """Return the version that the URL query names, else the newest one with answers.

    Raises Http404, also for an unknown version, and the errors of `get_payable_set`.
    """
    number_in_query = parse_number(request.GET, "version", 1, LARGEST_VERSION, blank=True)
    versions = select_visible(request, QuestionSetVersion.objects.all(), of_one_row=True)
    version = select_answered_version(
        versions.filter(question_set__public_id=set_id), number_in_query
    )
    if version is None:
        get_payable_set(request, set_id)
        raise Http404("there is no such version")
    # The usual case needs one query for version, question set and rights.
    user_rights = rights(request.user, version.question_set)
    if not user_rights.answers:
        raise Http404
    if not user_rights.edit:
        raise RefusedError("change")
    return version


FAST = 1 / 3
"""Share of the median time below which a submission was far too fast."""
FEWEST_TIMES = 5
"""Least number of submissions with a time for a median."""
ENOUGH = 0.5
"""Share of failed checks, or of questions, from which a category is offered."""
FEWEST_EMPTY = 0.1
"""Share of questions without an answer from which these are reported."""
FEWEST_SAME = 3
"""Number of answers with the same text from which these are reported."""
_ANSWERS, _SAME, _CHECK, _CODE = "answers", "same", "check", "code"
"""Sources of the rows that `_count_answers` reads by one statement."""
NO_CODES = frozenset({"NOCODE", "NO CODE", "NO_CODE"})
"""Texts that Prolific writes in place of a missing code."""


@dataclass(frozen=True, slots=True)
class FailedCheck:
    """An attention check with a wrong answer.

    Attributes
    ----------
    question : id of the check. text : its wording in the worker's language. answer : the worker's
        answer. right : an accepted answer.
    """

    question: str
    text: str
    answer: str
    right: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence for a category of rejections.

    Attributes
    ----------
    offered : whether the evidence is enough to offer the category. said : message with the counts.
    checks : failed attention checks.
    """

    category: str
    offered: bool
    said: Message
    checks: tuple[FailedCheck, ...] = ()

    @property
    def words(self) -> str:
        """Label of the rejection category."""
        return CATEGORIES[self.category]


@dataclass(slots=True)
class _AnswerCounts:
    """Counts of empty answers, repeated texts and failed checks of one submission.

    Attributes
    ----------
    answers : answers with a text. empty : questions without a text. asked : sum of both.
    same : number of answers with the most frequent text, if there are enough.
    checks : attention checks with known answers. failed : those with a wrong answer.
    code : completion code with a problem, else None.
    """

    answers: int = 0
    empty: int = 0
    same: int = 0
    asked: int = 0
    checks: int = 0
    code: str | None = None
    failed: list[FailedCheck] = field(default_factory=list)


def collect_evidence(
    version: QuestionSetVersion,
    keys: Collection[int] | None = None,
    times: Mapping[int, float] | None = None,
    states: Mapping[int, str] | None = None,
) -> dict[int, list[Evidence]]:
    """Return the evidence for rejecting each submission, by submission key.

    `keys` None selects the whole version. Values that the caller has read already save queries:
    `times` of all submissions (`load_times_on_task`), and `states` of the wanted ones. The number
    of queries is constant.
    """
    if states is None:
        submissions = Submission.objects.filter(version=version)
        if keys is not None:
            submissions = submissions.filter(pk__in=keys)
        states = dict(submissions.values_list("pk", "state"))
    counts = _count_answers(version, keys)
    times = load_times_on_task(version) if times is None else times
    median_time = median(times.values()) if len(times) >= FEWEST_TIMES else None
    evidence = {}
    for key, state in states.items():
        handed_in = state == Submission.State.SUBMITTED
        submission_counts = counts.get(key, _AnswerCounts())
        evidence[key] = [
            *_find_missing_data(submission_counts, handed_in),
            *_find_failed_checks(submission_counts),
            *_find_fast_submission(times.get(key), median_time, len(times)),
            *_find_low_effort(submission_counts),
            *_find_bad_code(submission_counts),
        ]
    return evidence


def load_times_on_task(version: QuestionSetVersion | int) -> dict[int, float]:
    """Return the seconds that each submission took, by key; unknown times are left out.

    Times are those of `compute_seconds_taken`; one query.
    """
    statuses = PanelStatus.objects.filter(submission=OuterRef("pk")).order_by("-pk")
    rows = Submission.objects.filter(version=version).annotate(**build_status_annotations(statuses))
    times = {
        key: compute_seconds_taken(*row) for key, *row in rows.values_list("pk", *TIME_COLUMNS)
    }
    return {key: seconds for key, seconds in times.items() if seconds is not None}


def _count_answers(
    version: QuestionSetVersion, keys: Collection[int] | None
) -> Mapping[int, _AnswerCounts]:
    """Return counts of answers, repeated texts and checks of each submission, by key.

    One query, and two more for each language with answered checks whose wording is not in the
    cache.
    """
    condition = Q(submission__version=version)
    if keys is not None:
        condition &= Q(submission__in=keys)
    rows = Response.objects.filter(condition, state=Response.State.SUBMITTED).order_by()
    graded = rows.filter(question__role__in=GRADED)
    repeated = graded.filter(question__kind=Question.Kind.FREE, status=Response.Status.TEXT)
    checked = rows.filter(question__role=Question.Role.ATTENTION)
    coded = PanelStatus.objects.filter(condition).exclude(code="").order_by()
    n, nothing, no_text = Count("pk"), Value(0), Value("", TextField())
    n_empty = Count("pk", filter=Q(status=Response.Status.EMPTY))
    # One statement for four sources, which share columns: submission, source, two numbers and two
    # texts. Their meaning by source:
    #   answers: number of answers, number of empty ones, no texts
    #   same: number of answers with one text, 0, no texts
    #   check: key of the check, 0, language, answer
    #   code: key of the panel's line, 0, code shown to the worker, code that the panel received
    each = (
        graded.values("submission").annotate(n=n, empty=n_empty),
        repeated.values("submission", "text").annotate(n=n).filter(n__gte=FEWEST_SAME),
    )
    parts = (
        (each[0], _ANSWERS, ("n", "empty", no_text, no_text)),
        (each[1], _SAME, ("n", nothing, no_text, no_text)),
        (checked, _CHECK, ("question", nothing, "submission__language", "text")),
        (coded, _CODE, ("pk", nothing, "submission__code", "code")),
    )
    first, *others = (
        source_rows.values_list("submission", Value(source, CharField()), *columns)
        for source_rows, source, columns in parts
    )
    counts: dict[int, _AnswerCounts] = defaultdict(_AnswerCounts)
    answered: list[tuple[int, int, str, str]] = []
    codes: dict[int, tuple[int, str, str]] = {}
    for key, source, number, empty, text, other_text in first.union(*others, all=True):
        submission_counts = counts[key]
        if source == _ANSWERS:
            submission_counts.answers = number - empty
            submission_counts.empty, submission_counts.asked = empty, number
        elif source == _SAME:
            submission_counts.same = max(submission_counts.same, number)
        elif source == _CHECK:
            answered.append((key, number, text, other_text))
        else:
            # The newest line of the panel, which has the largest key, counts.
            codes[key] = max(codes.get(key, (0, "", "")), (number, text, other_text))
    _add_failed_checks(version, answered, counts)
    for key, (_, excerpt, code) in codes.items():
        counts[key].code = _get_bad_code(code, excerpt, version)
    return counts


def _add_failed_checks(
    version: QuestionSetVersion,
    answered: Iterable[tuple[int, int, str, str]],
    counts: dict[int, _AnswerCounts],
) -> None:
    """Compare answers to attention checks with accepted ones; count those that failed.

    `answered` has submission, check, language and text of each answer.
    """
    by_language: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for key, question, language, text in answered:
        # "" selects the original wording.
        language = language if language in version.languages else ""
        by_language[language].append((key, question, text))
    for language, answers in by_language.items():
        checks = wording.load_questions(version, {question for _, question, _ in answers}, language)
        answers.sort(key=lambda answer: checks[answer[1]].position)
        for key, question, text in answers:
            check = checks[question]
            # A check without accepted answers cannot be judged.
            if not check.accepted_answers:
                continue
            submission_counts = counts[key]
            submission_counts.checks += 1
            if check.accepts_answer(text) is False:
                right = check.accepted_answers[0]
                right = right[0] if isinstance(right, list) and right else right
                submission_counts.failed.append(
                    FailedCheck(check.external_id, check.text, text, str(right))
                )


def _find_missing_data(counts: _AnswerCounts, handed_in: bool) -> Iterable[Evidence]:
    """Yield evidence that a submitted survey has no answer; nothing otherwise."""
    if handed_in and not counts.answers:
        yield Evidence("NO_DATA", True, Message("paying.no_data", {"asked": counts.asked}))


def _find_failed_checks(counts: _AnswerCounts) -> Iterable[Evidence]:
    """Yield evidence of failed attention checks; nothing if none failed."""
    if counts.failed:
        message = Message("paying.checks", {"failed": len(counts.failed), "checks": counts.checks})
        offered = len(counts.failed) >= ENOUGH * counts.checks
        yield Evidence("FAILED_CHECK", offered, message, tuple(counts.failed))


def _find_fast_submission(
    seconds: float | None, median_time: float | None, n_timed: int
) -> Iterable[Evidence]:
    """Yield evidence that a submission took less than a third of the median time."""
    if seconds is not None and median_time is not None and seconds < FAST * median_time:
        values = {"minutes": seconds / 60, "median": median_time / 60, "timed": n_timed}
        yield Evidence("TOO_QUICKLY", True, Message("paying.fast", values))


def _find_low_effort(counts: _AnswerCounts) -> Iterable[Evidence]:
    """Yield evidence of many empty answers, and of one text in many answers."""
    if counts.answers and counts.empty and counts.empty >= FEWEST_EMPTY * counts.asked:
        message = Message("paying.empty", {"empty": counts.empty, "asked": counts.asked})
        yield Evidence("LOW_EFFORT", counts.empty >= ENOUGH * counts.asked, message)
    if counts.same:
        message = Message("paying.same", {"same": counts.same, "answers": counts.answers})
        yield Evidence("LOW_EFFORT", counts.same >= ENOUGH * counts.answers, message)


def _find_bad_code(counts: _AnswerCounts) -> Iterable[Evidence]:
    """Yield evidence of a missing or wrong completion code."""
    if counts.code is None:
        return
    if counts.code.strip().upper() in NO_CODES:
        yield Evidence("NO_CODE", True, Message("paying.no_code"))
    else:
        yield Evidence("BAD_CODE", True, Message("paying.bad_code", {"code": counts.code}))


def _get_bad_code(code: str, excerpt: str, version: QuestionSetVersion) -> str | None:
    """Return the received completion code if it is missing or foreign to the study; else None."""
    collection: Collecting | None = getattr(version, "collection", None)
    if collection is None:
        return None
    own_codes = {
        *(collection.code_done, collection.code_no_consent, collection.code_screened_out),
        *(collection.code_too_late, collection.code_for_low_scores, collection.code_failed_checks),
    }
    # The requester may have changed the codes since; the one shown to the worker stays valid.
    is_own = code.strip() in {*own_codes, excerpt}
    return code if code.strip().upper() in NO_CODES or not is_own else None
