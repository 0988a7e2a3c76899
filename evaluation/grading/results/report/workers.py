"""Reports of a run's workers, and of one worker.

Report of a run's workers, best grade first. Report of a worker in a run: every answer beside the
consensus (nearest) answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, ClassVar, Literal
from uuid import UUID

from django.db.models import F, FilteredRelation, Q, QuerySet

from annotations.models import Response
from annotations.web.numbers import build_group_count
from annotations.web.paging import PAGE, Keyset, Page
from annotations.web.texts import ANSWER_SHOWN, EXCERPT_SHOWN, select_beginning, shorten_text
from evaluation.consensus.methods.scale import FEWEST_ANSWERERS, FEWEST_QUESTIONS
from evaluation.core.messages.message import Message
from evaluation.core.stats.inference.estimate import NO_ESTIMATE, Estimate
from evaluation.grading.facts.report import (
    COUNTED,
    NO_FACTS,
    FactAgreement,
    FactOnQuestion,
    MarkedFactsMixin,
    StatedFact,
    build_fact_agreement,
    read_contradictions,
    read_facts_of_answers,
)
from evaluation.models import ExemplaryAnswer, Run, WorkerGrade
from evaluation.runs.reports.about import RunAbout, build_run_about

ORDER = Keyset("grade", ("-grade", "worker__public_id"), empty_last=True)
# Whose best rank on redrawn questions is within this part of the ranks from the end is "lowest".
LOWEST = 0.25
COLUMNS = (
    "worker__public_id",
    "worker__external_id",
    "worker__panel",
    "grade",
    "grade_low",
    "grade_high",
    "raw",
    "raw_low",
    "raw_high",
    "leave_one_out",
    "contrast",
    "contrast_low",
    "contrast_high",
    "weight",
    "rank",
    "rank_low",
    "rank_high",
    "support",
    "n_answers",
    *COUNTED,
)


@dataclass(frozen=True)
class WorkerRow:
    """A worker's grade, scores and rank in one run; a number is None if undefined.

    Attributes
    ----------
    name, panel : the worker's id at the panel, and the panel ("" if unknown).
    grade : 0 (the worst of the run) to 1 (the best).
    raw : in-sample score, the mean similarity to the exemplary answers. leave_one_out : raw score,
        the mean similarity to the exemplary answers of the other workers.
    rank_low, rank_high : 95% interval of the rank; None where there is none.
    supported : whether there are enough answers for a rank.
    facts : agreement of the facts in the answers with the crowd; no grade depends on it.
    contrast : question contrast: agreement with answers to the same question minus agreement with
        answers to other questions.
    """

    worker: UUID
    name: str
    panel: str
    grade: Estimate
    raw: Estimate
    leave_one_out: float | None
    weight: float | None
    rank: int | None
    rank_low: int | None
    rank_high: int | None
    supported: bool
    n_answers: int
    facts: FactAgreement = NO_FACTS
    contrast: Estimate = NO_ESTIMATE
    sent_properties: ClassVar = ("raw_leave_one_out",)

    @property
    def raw_leave_one_out(self) -> float | None:
        """The raw score (mean leave-one-out score), under its name in workers.csv."""
        return self.leave_one_out

    @property
    def rank_interval(self) -> str:
        """95% interval of the rank as text, such as "3 to 7"; "" without one."""
        if self.rank_low is None or self.rank_high is None:
            return ""
        if self.rank_low == self.rank_high:
            return str(self.rank_low)
        return f"{self.rank_low} to {self.rank_high}"


def read_worker_rows(
    run: Run, after: str = "", search: str = "", size: int = PAGE, alarm: int | None = None
) -> Page[WorkerRow]:
    """Return a page of a run's workers by grade, limited by `search` and `alarm` if given.

    `search` is a part of their ids, `alarm` the key of an alarm that names them.
    """
    rows = _query_workers(run)
    if alarm is not None:
        rows = rows.filter(worker__alarms=alarm)
    if search:
        rows = rows.filter(worker__external_id__icontains=search)
    return ORDER.load_page(rows, after, size, build_worker_row)


def build_first_page(page: Page[WorkerRow], size: int = PAGE) -> Page[WorkerRow]:
    """Return the first page of workers, cut from a longer page; no query."""
    rows = page.rows[:size]
    if len(page.rows) <= size:
        return page
    last = rows[-1]
    return Page(rows, "", ORDER.build_cursor(last.grade.value, last.worker))


def iterate_worker_rows(run: Run) -> Iterator[WorkerRow]:
    """Yield all workers of a run by grade, to be written to a file."""
    page = read_worker_rows(run, size=2000)
    yield from page.rows
    while page.next:
        page = read_worker_rows(run, page.next, size=2000)
        yield from page.rows


def read_worker_row(run: Run, worker: UUID) -> WorkerRow | None:
    """Return a worker's row of the report; None if the run has no such worker."""
    row_and_numbers = read_worker_row_with_counts(run, worker)
    return None if row_and_numbers is None else row_and_numbers[0]


def read_worker_row_with_counts(
    run: Run, worker: UUID, **numbers: Any
) -> tuple[WorkerRow, dict[str, int]] | None:
    """Return a worker's row and the results of the given count subqueries; None if unknown.

    `numbers` are the subqueries by name.
    """
    row = _query_workers(run).filter(worker__public_id=worker).annotate(**numbers).first()
    return None if row is None else (build_worker_row(row), {name: row[name] for name in numbers})


def query_ranked_workers(run: Run) -> QuerySet[WorkerGrade, Any]:
    """Return the query for the workers with a rank, best first."""
    rows = _query_workers(run).filter(rank__isnull=False)
    return rows.order_by("rank", "worker__public_id")


def query_unranked_workers(run: Run) -> QuerySet[WorkerGrade, Any]:
    """Return the query for the workers without a rank, most answers first."""
    rows = _query_workers(run).filter(rank__isnull=True)
    return rows.order_by("-n_answers", "worker__public_id")


def _query_workers(run: Run) -> QuerySet[WorkerGrade, Any]:
    """Return the query for a run's workers with the columns of `COLUMNS`."""
    return WorkerGrade.objects.filter(run=run).order_by().values(*COLUMNS)


def build_worker_row(row: dict[str, Any]) -> WorkerRow:
    """Return a worker's row of the report, from a database row with the `COLUMNS`."""
    return WorkerRow(
        worker=row["worker__public_id"],
        name=row["worker__external_id"],
        panel=row["worker__panel"],
        grade=Estimate(row["grade"], row["grade_low"], row["grade_high"]),
        raw=Estimate(row["raw"], row["raw_low"], row["raw_high"]),
        leave_one_out=row["leave_one_out"],
        weight=row["weight"],
        rank=row["rank"],
        rank_low=row["rank_low"],
        rank_high=row["rank_high"],
        supported=row["support"],
        n_answers=row["n_answers"],
        facts=build_fact_agreement(row),
        contrast=Estimate(row["contrast"], row["contrast_low"], row["contrast_high"]),
    )


def build_worker_row_of_grade(grade: WorkerGrade) -> WorkerRow:
    """Return a worker's row of the report, from a `WorkerGrade` read with its worker."""
    return build_worker_row({name: attrgetter(name.replace("__", "."))(grade) for name in COLUMNS})


def build_lowest_condition(ranked: int) -> Q:
    """Return the query condition that a worker's rank interval is in the lowest quarter."""
    return Q(rank__isnull=False, rank_low__gt=(1 - LOWEST) * ranked)


def build_lowest_message(row: WorkerRow, ranked: int) -> Message:
    """Return the message that a worker's rank interval is in the lowest quarter."""
    return Message("look.lowest", {"first": row.rank_low, "last": row.rank_high, "ranked": ranked})


Status = Literal["scored", "empty", "rejected", "not_in_run"]
WORKER_ORDER = Keyset("position", ("question__position", "question__public_id"))


@dataclass(frozen=True)
class WorkerAnswer(MarkedFactsMixin):
    """A worker's answer, beside the answer nearest to the question's exemplary answer.

    Attributes
    ----------
    text, nearest : at most 1,500 characters.
    score : similarity to the exemplary answer; score_leave_one_out : to that of other workers.
    status : scored, empty (unanswered), rejected (flagged in the collection) or not_in_run (later).
    is_nearest : whether this answer is itself the nearest one.
    facts : facts that it states, with verdicts by the other workers' facts.
    contrast : question contrast: agreement with answers to the same question minus agreement with
        answers to other questions.
    """

    question: UUID
    question_name: str
    question_text: str
    text: str
    status: Status
    score: float | None
    score_leave_one_out: float | None
    n_answers: int
    nearest: str
    nearest_worker: UUID | None
    nearest_worker_name: str
    is_nearest: bool
    facts: list[StatedFact] = field(default_factory=list)
    contrast: float | None = None


@dataclass(frozen=True)
class WorkerReport:
    """A worker's grade, a page of answers, and facts that contradict the crowd.

    Attributes
    ----------
    n_ranked : workers with a rank. n_shared : number of the worker's answered questions that at
        least `needs_answerers` workers answered; a rank needs `needs_questions` of them.
    contradictions : facts of the answers that contradict the crowd, at most 50.
    """

    about: RunAbout
    worker: WorkerRow
    n_ranked: int
    n_shared: int
    answers: Page[WorkerAnswer]
    contradictions: list[FactOnQuestion] = field(default_factory=list)
    needs_questions: int = FEWEST_QUESTIONS
    needs_answerers: int = FEWEST_ANSWERERS


def build_worker_report(
    run: Run, worker: UUID, after: str = "", size: int = PAGE
) -> WorkerReport | None:
    """Return the report on a worker; None if the run does not have the worker; two queries.

    A run with facts takes two more.
    """
    answered = Response.objects.filter(
        submission__worker__public_id=worker, submission__version=run.version_id, scores__run=run
    )
    shared = ExemplaryAnswer.objects.filter(
        run=run, n_answers__gte=FEWEST_ANSWERERS, question__in=answered.values("question")
    )
    ranked = WorkerGrade.objects.filter(run=run, rank__isnull=False)
    subqueries = {
        "n_ranked": build_group_count(ranked, "run"),
        "n_shared": build_group_count(shared, "run"),
    }
    row_and_counts = read_worker_row_with_counts(run, worker, **subqueries)
    if row_and_counts is None:
        return None
    row, counts = row_and_counts
    return WorkerReport(
        about=build_run_about(run),
        worker=row,
        n_ranked=counts["n_ranked"],
        n_shared=counts["n_shared"],
        answers=_read_answers(run, worker, after, size),
        contradictions=read_contradictions(run, "worker", worker),
    )


def _read_answers(run: Run, worker: UUID, after: str, size: int) -> Page[WorkerAnswer]:
    """Return one page of a worker's answers with their facts."""
    rows = (
        Response.objects.filter(
            submission__worker__public_id=worker,
            submission__version=run.version_id,
            state=Response.State.SUBMITTED,
        )
        .annotate(
            # Left joins to the rows of this run only: an answer without a score keeps its row, and
            # one that several runs scored is not repeated.
            of_run=FilteredRelation("scores", condition=Q(scores__run=run)),
            exemplar=FilteredRelation(
                "question__exemplary_answers",
                condition=Q(question__exemplary_answers__run=run),
            ),
        )
        .order_by()
        .values(
            "pk",
            "public_id",
            "status",
            "rejected",
            "question_id",
            "question__public_id",
            "question__external_id",
            "question__position",
            scored=F("of_run__id"),
            score=F("of_run__score"),
            left_out=F("of_run__score_leave_one_out"),
            contrast=F("of_run__contrast"),
            question_text=select_beginning("question__text"),
            text_shown=select_beginning("text", ANSWER_SHOWN),
            n_answers=F("exemplar__n_answers"),
            nearest=F("exemplar__nearest_response__public_id"),
            nearest_worker=F("exemplar__nearest_response__submission__worker__public_id"),
            nearest_name=F("exemplar__nearest_response__submission__worker__external_id"),
            nearest_shown=select_beginning("exemplar__nearest_response__text", ANSWER_SHOWN),
        )
    )
    page = WORKER_ORDER.load_page(rows, after, size, dict)
    facts, _ = read_facts_of_answers(run, [row["pk"] for row in page.rows])
    answers = [_build_answer(row, facts.get(row["pk"], [])) for row in page.rows]
    return Page(answers, page.after, page.next)


def _build_answer(row: dict[str, Any], facts: list[StatedFact]) -> WorkerAnswer:
    """Return a worker's answer with its facts, from a database row."""
    nearest = row["nearest"]
    return WorkerAnswer(
        question=row["question__public_id"],
        question_name=row["question__external_id"],
        question_text=shorten_text(row["question_text"], EXCERPT_SHOWN),
        text=shorten_text(row["text_shown"], ANSWER_SHOWN),
        status=_find_status(row),
        score=row["score"],
        score_leave_one_out=row["left_out"],
        n_answers=row["n_answers"] or 0,
        nearest=shorten_text(row["nearest_shown"], ANSWER_SHOWN),
        nearest_worker=row["nearest_worker"],
        nearest_worker_name=row["nearest_name"] or "",
        is_nearest=nearest is not None and nearest == row["public_id"],
        facts=facts,
        contrast=row["contrast"],
    )


def _find_status(row: dict[str, Any]) -> Status:
    """Return an answer's status in the run: scored, empty, rejected or not_in_run.

    An answer that is newer than the run is not_in_run.
    """
    if row["scored"] is not None:
        return "scored"
    if row["rejected"]:
        return "rejected"
    return "empty" if row["status"] == Response.Status.EMPTY else "not_in_run"
