"""What to do with a run: whether to believe it, whom to keep, whom to look at, which model is best.

Nothing is computed here: it reads grades, ranks with their intervals, alarms, trust facts and the
comparisons of models, and puts the few that a decision hangs on first.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from evaluation.models import Run, WorkerGrade
from evaluation.reports.about import RunAbout, about
from evaluation.reports.alarms.marks import Mark, Marks, all_marks
from evaluation.reports.comparing.verdicts import leader_verdict
from evaluation.reports.comparisons import ModelPair, run_pairs
from evaluation.reports.models import ModelRow, model_rows
from evaluation.reports.triage.queue import lowest, lowest_said
from evaluation.reports.trust import Fact, TrustReport, trust_report
from evaluation.reports.workers import COLUMNS, WorkerRow, row_of
from evaluation.words.message import Message

# People and models that the page names; the pages behind it have all.
BEST, LOOKED_AT, MODELS = 5, 8, 5
# Workers read for the list of whom to look at.
ASKED_FOR = 50
# No row has this id: a page without alarms asks the database as often as one with.
NOBODY = UUID(int=0)


class Step(StrEnum):
    """What a requester does next, the first of these that there is reason for."""

    GRADE_AGAIN = "grade_again"
    ASK_PEOPLE = "ask_people"
    READ_ALARMS = "read_alarms"
    ADD_MODELS = "add_models"
    ASK_MODELS = "ask_models"
    TAKE_AWAY = "take_away"


@dataclass(frozen=True)
class Person:
    """Somebody with the reasons, the worst first, to look at them; none for one of the best."""

    row: WorkerRow
    marks: tuple[Mark, ...]
    why: Message | None = None


@dataclass(frozen=True)
class Decision:
    """The first page of a run.

    Attributes
    ----------
    trust : the verdict and its facts. concerns : the facts that are not good, worst first.
    best : by rank, without those whom an alarm names. best_said : how sure that order is. above :
        which ranks are left out before the first of them, as a sentence; None if none is.
    n_ranked : people with a rank; n_workers : all whom the run grades; n_left_out : whom it
        excluded. Both count people with an answer.
    look_at : first whom alarms and notices name, then who is lowest whatever is asked; at most 8
        of `n_look_at`. look_said : what there is to say of nobody; None if somebody is listed.
    without_rank : who answered too little, as a sentence; None if there are none.
    models : by score, best first; models_said : whether the first is better than the others.
    step : what to do next.
    """

    about: RunAbout
    trust: TrustReport
    best: list[Person]
    best_said: Message
    above: Message | None
    n_ranked: int
    n_workers: int
    n_left_out: int
    look_at: list[Person]
    n_look_at: int
    look_said: Message | None
    without_rank: Message | None
    models: list[ModelRow]
    n_models: int
    models_said: Message
    step: Step

    @property
    def concerns(self) -> list[Fact]:
        """The facts that ask for something."""
        return [fact for fact in self.trust.facts if fact.level in ("bad", "care")]

    @property
    def not_enough_data(self) -> list[Fact]:
        """The facts whose check did not run for want of data; experts have a place of their own."""
        facts = [fact for fact in self.trust.facts if fact.name != "experts"]
        return [fact for fact in facts if fact.result == "not_enough_data"]

    @property
    def experts(self) -> Fact:
        """Whether experts who graded some answers agree with the scores."""
        return next(fact for fact in self.trust.facts if fact.name == "experts")


def decision(run: Run) -> Decision:
    """Return the decision page of a run that is done, by a constant number of queries."""
    trust = trust_report(run)
    marks = all_marks(run)
    answered = Q(n_answers__gt=0)
    counts = WorkerGrade.of_crowd(run).aggregate(
        all=Count("pk", filter=answered),
        ranked=Count("pk", filter=Q(rank__isnull=False)),
    )
    ranked = counts["ranked"]
    ringing = [worker for worker, found in marks.items() if found[0].rings]
    unmarked = _ranked(run).exclude(worker__public_id__in=ringing)
    best = _rows(unmarked.order_by("rank", "worker__public_id"), BEST)
    behind = _lowest(run, ranked, list(marks))
    named = _workers(run).filter(worker__public_id__in=[NOBODY, *marks])
    models, n_models = _models(run)
    without = counts["all"] - ranked
    n_look_at = named.count() + behind.count()
    return Decision(
        about=about(run),
        trust=trust,
        best=[Person(row, marks.get(row.worker, ())) for row in best],
        best_said=_best_said(ranked, best, unmarked),
        above=_above(best),
        n_ranked=ranked,
        n_workers=counts["all"],
        n_left_out=WorkerGrade.of_excluded(run).filter(answered).count(),
        look_at=_look_at(named, behind, marks, ranked),
        n_look_at=n_look_at,
        look_said=None if n_look_at else Message("look.nobody"),
        without_rank=Message("look.without_rank", {"without_rank": without})
        if ranked and without
        else None,
        models=models,
        n_models=n_models,
        models_said=leader_verdict(models, _pairs_of_leader(run, models)),
        step=_step(trust, n_models),
    )


def _workers(run: Run) -> QuerySet[WorkerGrade]:
    return WorkerGrade.objects.filter(run=run)


def _ranked(run: Run) -> QuerySet[WorkerGrade]:
    return _workers(run).filter(rank__isnull=False)


def _lowest(run: Run, ranked: int, marked: list[UUID]) -> QuerySet[WorkerGrade]:
    """Return those without a mark who stay in the lowest quarter on whatever questions."""
    rows = _workers(run).filter(lowest(ranked))
    return rows.exclude(worker__public_id__in=marked)


def _look_at(
    named: QuerySet[WorkerGrade], behind: QuerySet[WorkerGrade], marks: Marks, ranked: int
) -> list[Person]:
    order = sorted(marks, key=lambda worker: (marks[worker][0].place, worker))[:ASKED_FOR]
    rows = _rows(named.filter(worker__public_id__in=[NOBODY, *order]), ASKED_FOR)
    # Whom one alarm names, by rank; who has none comes last.
    rows.sort(key=lambda row: (marks[row.worker][0].place, row.rank is None, row.rank, row.name))
    people = [Person(row, marks[row.worker]) for row in rows[:LOOKED_AT]]
    last = _rows(behind.order_by("-rank", "worker__public_id"), LOOKED_AT)
    more = last[: LOOKED_AT - len(people)]
    return [*people, *(Person(row, (), lowest_said(row, ranked)) for row in more)]


def _rows(rows: QuerySet[WorkerGrade], most: int) -> list[WorkerRow]:
    return [row_of(row) for row in rows.values(*COLUMNS)[:most]]


def _best_said(ranked: int, best: list[WorkerRow], unmarked: QuerySet[WorkerGrade]) -> Message:
    """Say how sure the order is: whose intervals of ranks overlap that of the first."""
    if not ranked:
        return Message("best.nobody")
    if not best:
        return Message("best.all_marked")
    if best[0].rank_high is None:
        return Message("best.no_intervals")
    alike = unmarked.filter(rank_low__lte=best[0].rank_high).count()
    return Message("best.lead", {"alike": alike})


def _above(best: list[WorkerRow]) -> Message | None:
    """Say which ranks are left out before the first of the best, because alarms name them."""
    if not best or best[0].rank is None or best[0].rank == 1:
        return None
    return Message("best.above", {"above": best[0].rank - 1})


def _models(run: Run) -> tuple[list[ModelRow], int]:
    rows = model_rows(run, size=MODELS)
    return rows.rows, run.llm_scores.count() if rows.next else len(rows.rows)


def _pairs_of_leader(run: Run, models: list[ModelRow]) -> list[ModelPair]:
    leader = next((row for row in models if row.rank is not None), None)
    return [] if leader is None else run_pairs(run, model=leader.model)


def _step(trust: TrustReport, n_models: int) -> Step:
    """Return what to do next: first what makes the grades wrong, then what is missing."""
    level = {fact.name: fact.level for fact in trust.facts}
    if "changes" in level:
        return Step.GRADE_AGAIN
    if "bad" in (level["workers"], level["answers"], level["support"]):
        return Step.ASK_PEOPLE
    if level["alarms"] == "bad":
        return Step.READ_ALARMS
    if trust.changed.of_models:
        return Step.ADD_MODELS
    return Step.TAKE_AWAY if n_models else Step.ASK_MODELS
