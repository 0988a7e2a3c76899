"""Decision summary of a run: trust, best workers, workers to review, best model, next step.

Nothing is computed here: the summary selects from the grades, ranks with intervals, alarms, trust
facts and comparisons of models those that a decision needs first.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.db.models import BooleanField, Count, ExpressionWrapper, Q, QuerySet

from annotations.web.numbers import TableCounts, build_group_count, load_table_counts
from annotations.web.paging import Page
from evaluation.consensus.methods.scale import FEWEST_QUESTIONS
from evaluation.core.messages.message import Message
from evaluation.grading.alarms.report import Check
from evaluation.grading.alarms.report.marks import Mark, Marks, read_marks_and_counts
from evaluation.grading.results.report.comparisons import ModelPair, read_pairs
from evaluation.grading.results.report.models import ModelRow, build_leader_verdict, read_model_rows
from evaluation.grading.results.report.workers import (
    COLUMNS,
    WorkerRow,
    build_lowest_condition,
    build_lowest_message,
    build_worker_row,
)
from evaluation.models import Run, WorkerGrade
from evaluation.runs.reports.about import RunAbout, build_run_about
from evaluation.trust.report import (
    Fact,
    TrustReport,
    build_trust_count_queries,
    build_trust_report_from_counts,
)

# People and models that the page names; the pages behind it have all.
BEST, LOOKED_AT, MODELS = 5, 8, 5
# Workers read for the list of workers to review.
ASKED_FOR = 50
# No row has this id: a page without alarms asks the database as often as one with.
NO_WORKER = UUID(int=0)


class RecommendedStep(StrEnum):
    """Recommended next step of a requester; the first one that applies is chosen."""

    GRADE_AGAIN = "grade_again"
    ASK_QUESTIONS = "ask_questions"
    ASK_PEOPLE = "ask_people"
    READ_ALARMS = "read_alarms"
    ADD_MODELS = "add_models"
    ASK_MODELS = "ask_models"
    TAKE_AWAY = "take_away"


@dataclass(frozen=True)
class ListedWorker:
    """A worker on the decision page, with reasons for review, worst first; none for the best."""

    row: WorkerRow
    marks: tuple[Mark, ...]
    why: Message | None = None


@dataclass(frozen=True)
class Decision:
    """Content of a run's first page: trust, best workers, workers to review and next step.

    Attributes
    ----------
    trust : the verdict and its facts. concerns : the facts that are not good, worst first.
    best : workers by rank, without those named by an alarm. best_said : message on how certain the
        order is. above : message on better-ranked workers left out because of an alarm, or None.
    n_ranked : workers with a rank; n_workers : graded workers; n_left_out : excluded workers. The
        last two count workers with an answer.
    look_at : workers to review, at most 8 of `n_look_at`: first those named in alarms and notices,
        then those whose whole rank interval is in the lowest quarter. look_said : message if there
        are none, else None.
    without_rank : message on workers with too few answers; None if there are none.
    models : by score, best first; models_said : whether the first is better than the others.
    step : recommended next step.
    """

    about: RunAbout
    trust: TrustReport
    best: list[ListedWorker]
    best_said: Message
    above: Message | None
    n_ranked: int
    n_workers: int
    n_left_out: int
    look_at: list[ListedWorker]
    n_look_at: int
    look_said: Message | None
    without_rank: Message | None
    models: list[ModelRow]
    n_models: int
    models_said: Message
    step: RecommendedStep

    @property
    def concerns(self) -> list[Fact]:
        """Facts of the trust report that need an action."""
        return [fact for fact in self.trust.facts if fact.level in ("bad", "care")]

    @property
    def not_enough_data(self) -> list[Fact]:
        """Facts whose check had too little data, except the comparison with experts' grades."""
        facts = [fact for fact in self.trust.facts if fact.name != "experts"]
        return [fact for fact in facts if fact.result == "not_enough_data"]

    @property
    def checks(self) -> list[Check]:
        """The checks for alarms of the run, each with its result."""
        return self.trust.checks

    @property
    def experts(self) -> Fact:
        """Fact on whether experts' grades of some answers agree with the scores."""
        return next(fact for fact in self.trust.facts if fact.name == "experts")


def build_decision(
    run: Run,
    alarms: tuple[Marks, dict[str, int] | None] | None = None,
    models: Page[ModelRow] | None = None,
) -> Decision:
    """Return the decision summary of a finished run, by a constant number of queries.

    `alarms` are its `marks_and_counts`, `models` a page of its models that is counted, where they
    were read.
    """
    return build_decision_with_workers(run, alarms, models)[0]


def build_decision_with_workers(
    run: Run,
    alarms: tuple[Marks, dict[str, int] | None] | None = None,
    models: Page[ModelRow] | None = None,
    listed: Q | None = None,
) -> tuple[Decision, WorkerSelection]:
    """Return the decision summary, and the worker rows that it is made of."""
    marks, counts = alarms or read_marks_and_counts(run)
    answered = Q(n_answers__gt=0)
    left_out = TableCounts(WorkerGrade.select_excluded(run).filter(answered), (Count("pk"),))
    numbers = load_table_counts({**build_trust_count_queries(run), "left_out": left_out})
    trust = build_trust_report_from_counts(run, numbers, counts)
    ((*_, n_workers, ranked),) = numbers["workers"]
    people = _load_worker_selection(run, marks, ranked, listed)
    page = models or read_model_rows(run, size=MODELS, counted=True)
    best_models, n_models = page.rows[:MODELS], page.count or 0
    without = n_workers - ranked
    n_look_at = people.n_named + people.n_behind
    result = Decision(
        about=build_run_about(run),
        trust=trust,
        best=[ListedWorker(row, marks.get(row.worker, ())) for row in people.best],
        best_said=_describe_lead(ranked, people),
        above=_describe_unlisted_ranks(people.best),
        n_ranked=ranked,
        n_workers=n_workers,
        n_left_out=numbers["left_out"][0][0],
        look_at=_select_for_review(people, marks, ranked),
        n_look_at=n_look_at,
        look_said=None if n_look_at else Message("look.nobody"),
        without_rank=Message("look.without_rank", {"without_rank": without})
        if ranked and without
        else None,
        models=best_models,
        n_models=n_models,
        models_said=build_leader_verdict(best_models, _load_pairs_of_leader(run, best_models)),
        step=_choose_step(trust, n_models, sum(row[1] for row in numbers["questions"])),
    )
    return result, people


@dataclass(frozen=True)
class WorkerSelection:
    """Worker rows that a page lists (best, named by alarms, lowest), with their numbers.

    Attributes
    ----------
    best : workers with the best ranks and without an alarm. n_alike : workers without an alarm
        whose rank interval overlaps that of the first of them.
    named : workers named in alarms and notices. behind : workers without either whose whole rank
        interval is in the lowest quarter, the last rank first.
    listed : workers that the caller selects, by rank. n_unranked : workers without a rank.
    """

    best: list[WorkerRow]
    n_alike: int
    named: list[WorkerRow]
    n_named: int
    behind: list[WorkerRow]
    n_behind: int
    listed: list[WorkerRow]
    n_unranked: int


def _load_worker_selection(
    run: Run, marks: Marks, ranked: int, listed: Q | None
) -> WorkerSelection:
    """Return the worker rows that the decision page can list, by one query."""
    workers = WorkerGrade.objects.filter(run=run)
    # Only an alarm keeps a worker off the list of the best; a notice does not.
    ringing = [worker for worker, found in marks.items() if found[0].is_alarm]
    unmarked = workers.filter(rank__isnull=False).exclude(worker__public_id__in=ringing)
    best = unmarked.order_by("rank", "worker__public_id")
    named = workers.filter(worker__public_id__in=list(marks))
    order = sorted(marks, key=lambda worker: (marks[worker][0].place, worker))[:ASKED_FOR]
    behind = workers.filter(build_lowest_condition(ranked)).exclude(
        worker__public_id__in=list(marks)
    )
    last = behind.order_by("-rank", "worker__public_id")
    sorts = {
        "is_best": _build_key_filter(best[:BEST]),
        "is_named": Q(worker__public_id__in=[NO_WORKER, *order]),
        "is_behind": _build_key_filter(last[:LOOKED_AT]),
    }
    if listed is not None:
        sorts["is_listed"] = listed
    numbers = {
        "n_alike": build_group_count(
            unmarked.filter(rank_low__lte=best.values("rank_high")[:1]), "run"
        ),
        "n_named": build_group_count(named, "run"),
        "n_behind": build_group_count(behind, "run"),
        "n_unranked": build_group_count(workers.filter(rank__isnull=True), "run"),
    }
    flags = {name: ExpressionWrapper(sort, BooleanField()) for name, sort in sorts.items()}
    rows = list(
        workers.annotate(**flags)
        .filter(Q(*((name, True) for name in flags), _connector=Q.OR))
        .order_by("rank", "worker__public_id")
        .values(*COLUMNS, *flags, **numbers)
    )
    found = {name: [build_worker_row(row) for row in rows if row[name]] for name in flags}
    # Each row carries the same counts.
    counted = {name: rows[0][name] if rows else 0 for name in numbers}
    # Of one rank in the order of their ids, as `last` has them.
    found["is_behind"].sort(key=lambda row: -(row.rank or 0))
    return WorkerSelection(
        best=found["is_best"],
        n_alike=counted["n_alike"],
        named=found["is_named"],
        n_named=counted["n_named"],
        behind=found["is_behind"],
        n_behind=counted["n_behind"],
        listed=found.get("is_listed", []),
        n_unranked=counted["n_unranked"],
    )


def _build_key_filter(rows: QuerySet[WorkerGrade]) -> Q:
    """Return the filter for exactly these grade rows, as a subquery of their primary keys."""
    return Q(pk__in=rows.values("pk"))


def _select_for_review(listed: WorkerSelection, marks: Marks, ranked: int) -> list[ListedWorker]:
    """Return at most 8 workers to review: those named by alarms, then the lowest ranks."""
    # Workers named by an alarm, by rank; workers without a rank come last.
    rows = sorted(
        listed.named,
        key=lambda row: (marks[row.worker][0].place, row.rank is None, row.rank, row.name),
    )
    people = [ListedWorker(row, marks[row.worker]) for row in rows[:LOOKED_AT]]
    more = listed.behind[: LOOKED_AT - len(people)]
    return [*people, *(ListedWorker(row, (), build_lowest_message(row, ranked)) for row in more)]


def _describe_lead(ranked: int, people: WorkerSelection) -> Message:
    """Return the message on how many workers could be first, by the overlap of rank intervals."""
    if not ranked:
        return Message("best.nobody")
    if not people.best:
        return Message("best.all_marked")
    if people.best[0].rank_high is None:
        return Message("best.no_intervals")
    return Message("best.lead", {"alike": people.n_alike})


def _describe_unlisted_ranks(best: list[WorkerRow]) -> Message | None:
    """Return the message on better ranks that are not listed because of alarms; None if all are."""
    if not best or best[0].rank is None or best[0].rank == 1:
        return None
    return Message("best.above", {"above": best[0].rank - 1})


def _load_pairs_of_leader(run: Run, models: list[ModelRow]) -> list[ModelPair]:
    """Return the comparisons of the best-ranked model with the others; [] without ranks."""
    leader = next((row for row in models if row.rank is not None), None)
    return [] if leader is None else read_pairs(run, model=leader.model)


def _choose_step(trust: TrustReport, n_models: int, n_questions: int) -> RecommendedStep:
    """Return the recommended next step: first to correct the data, then to add missing data."""
    level = {fact.name: fact.level for fact in trust.facts}
    if "changes" in level:
        return RecommendedStep.GRADE_AGAIN
    # More people cannot help there: a rank needs answers to as many questions.
    if n_questions < FEWEST_QUESTIONS:
        return RecommendedStep.ASK_QUESTIONS
    if "bad" in (level["workers"], level["answers"], level["support"]):
        return RecommendedStep.ASK_PEOPLE
    if level["alarms"] == "bad":
        return RecommendedStep.READ_ALARMS
    if trust.changed.has_model_changes:
        return RecommendedStep.ADD_MODELS
    return RecommendedStep.TAKE_AWAY if n_models else RecommendedStep.ASK_MODELS
