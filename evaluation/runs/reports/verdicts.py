"""Load decisions about the workers of a run: current, active, past, and those a run applied.

An active decision is not taken back. The newest active decision of a worker is the current one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet

from evaluation.core.messages.reasons import OWN, REASONS
from evaluation.models import Run, WorkerVerdict
from evaluation.models.runs import GRADING
from evaluation.runs.steps.answers import find_known_worker_keys, select_answering_workers

COLUMNS = (
    *("public_id", "worker__public_id", "kind", "category", "reason", "rejects"),
    *("decided_by__username", "created_at", "together"),
)


# No row has this id. Django skips a query with an empty list, so the number of queries would
# depend on the data; tests count them.
NO_WORKER = UUID(int=0)


@dataclass(frozen=True)
class WorkerDecision:
    """A user's decision about a worker in a run, or its withdrawal.

    Attributes
    ----------
    kind : "accept", "look" or "exclude"; "undo" for a row that takes another one back.
    category : code of the reason, a key of `REASONS`. reason : own words of the user.
    rejects : whether the panel is asked to refuse pay.
    together : id of the batch; None for a worker who was decided alone.
    """

    renamed_keys: ClassVar = {"at": "decided_at"}

    id: UUID
    worker: UUID
    kind: str
    category: str
    reason: str
    rejects: bool
    by: str
    at: datetime
    together: UUID | None = None

    @property
    def word(self) -> str:
        """Label of the decision, such as "Look again"."""
        return str(WorkerVerdict.Kind(self.kind).label)

    @property
    def why(self) -> str:
        """Short reason of an exclusion; "" for other decisions."""
        if self.kind != WorkerVerdict.Kind.EXCLUDE:
            return ""
        if self.category == OWN or self.category not in REASONS:
            return self.reason
        return REASONS[self.category].briefly


@dataclass(frozen=True)
class AcceptedBatch:
    """A batch of workers accepted by a user at once.

    Attributes
    ----------
    n : number of workers in the batch whose acceptance was not taken back.
    """

    id: UUID
    by: str
    at: datetime
    n: int


Verdicts = dict[UUID, WorkerDecision]


def load_current_verdicts(run: Run, workers: Collection[UUID] | None = None) -> Verdicts:
    """Return the current decision about each worker of a run, by public id; one query.

    `workers` limits the query to these; None loads all.
    """
    # Later rows overwrite earlier ones: the newest decision of a worker remains.
    return {row.worker: row for row in load_active_verdicts(run, workers)}


def load_active_verdicts(
    run: Run, workers: Collection[UUID] | None = None
) -> list[AppliedDecision]:
    """Return the decisions in a run that were not taken back, newest last; one query.

    A worker may have several active decisions, of which the newest is current.
    """
    rows: QuerySet[WorkerVerdict, Any] = WorkerVerdict.select_current(run)
    if workers is not None:
        rows = rows.filter(worker__public_id__in=[NO_WORKER, *workers])
    return [AppliedDecision(*row) for row in rows.values_list(*APPLIED)]


def find_own_last_verdict(decided: Sequence[AppliedDecision], user: Any) -> AppliedDecision | None:
    """Return the user's last decision if the page may offer to take it back, else None.

    It must be current and about one worker only. `decided` are the active decisions of the run, the
    newest last.
    """
    own_last = next(
        (verdict for verdict in reversed(decided) if verdict.by == user.get_username()), None
    )
    if own_last is None or own_last.together is not None:
        return None
    current = {verdict.worker: verdict for verdict in decided}
    return own_last if current[own_last.worker] is own_last else None


def group_accepted_batches(decided: Iterable[WorkerDecision]) -> list[AcceptedBatch]:
    """Return the batches of workers who were accepted at once, newest first."""
    batches: dict[UUID, list[WorkerDecision]] = {}
    for verdict in decided:
        if verdict.together is not None:
            batches.setdefault(verdict.together, []).append(verdict)
    return [
        AcceptedBatch(key, members[0].by, min(verdict.at for verdict in members), len(members))
        for key, members in reversed(batches.items())
    ]


def load_decision_history(run: Run, worker: UUID) -> list[WorkerDecision]:
    """Return all decisions about a worker in a run and their withdrawals, newest first."""
    rows = WorkerVerdict.select_for_run(run).filter(worker__public_id=worker).order_by("-pk")
    return [WorkerDecision(*row) for row in rows.values_list(*COLUMNS)]


def load_active_and_history(
    run: Run, worker: UUID
) -> tuple[list[AppliedDecision], list[WorkerDecision]]:
    """Return a run's active decisions, and one worker's history, by one query."""
    active = Q(takes_back=None, taken_back=None)
    rows = WorkerVerdict.select_for_run(run).filter(active | Q(worker__public_id=worker))
    verdicts = [
        (takes_back is None and taken_back is None, AppliedDecision(*row))
        for takes_back, taken_back, *row in rows.values_list("takes_back", "taken_back", *APPLIED)
    ]
    history = [verdict for _, verdict in reversed(verdicts) if verdict.worker == worker]
    # The copy has the element type `WorkerDecision`: lists are invariant in Python's types.
    return [verdict for is_active, verdict in verdicts if is_active], [*history]


@dataclass(frozen=True)
class AppliedDecision(WorkerDecision):
    """A decision that excluded a worker from a run, or a decision made in the run and still valid.

    Attributes
    ----------
    name : external id of the worker. made_in : public id of the run in which it can be taken back;
        None once that run is deleted.
    """

    name: str = ""
    made_in: UUID | None = None

    def fill_origin(self, run: Run) -> AppliedDecision:
        """Return the decision with `run` as the run to take it back in, if it names none.

        Unchanged if the original run exists, or if `run` is no finished grading.
        """
        # A verdict outlives its run; any finished grading of the question set can take it back.
        if self.made_in is not None or run.kind != GRADING or run.state != Run.State.DONE:
            return self
        return replace(self, made_in=run.public_id)


APPLIED = (*COLUMNS, "worker__external_id", "run__public_id")


def load_applied_verdicts(run: Run) -> list[AppliedDecision]:
    """Return the decisions that were applied when the run was made, oldest first; one query."""
    verdicts = run.applied_verdicts.order_by("pk")
    return [AppliedDecision(*row) for row in verdicts.values_list(*APPLIED)]


@dataclass(frozen=True)
class RunDecisions:
    """Decisions about workers that a run applied, and those made since.

    Attributes
    ----------
    applied : decisions that the run applied. counting : current decisions on the requested workers.
    any_counts : whether any worker of the run has an active decision.
    """

    applied: list[AppliedDecision]
    counting: Verdicts
    any_counts: bool


def load_run_decisions(run: Run, workers: Collection[UUID]) -> RunDecisions:
    """Return the decisions that a run applied, and the current ones about some workers.

    One query instead of `load_applied_verdicts`, `load_current_verdicts` and a check.
    """
    active = WorkerVerdict.select_current(run)
    applied = Exists(
        run.applied_verdicts.through.objects.filter(run=run, workerverdict=OuterRef("pk"))
    )
    about_workers = Q(pk__in=active.filter(worker__public_id__in=list(workers)).values("pk"))
    # One row suffices to know that any is active.
    any_active = active.order_by("pk").values("pk")[:1]
    rows = (
        WorkerVerdict.objects.annotate(
            is_applied=applied,
            is_active=ExpressionWrapper(Q(pk__in=active.values("pk")), BooleanField()),
        )
        .filter(Q(is_applied=True) | about_workers | Q(pk__in=any_active))
        .order_by("pk")
        .values_list("is_applied", "is_active", *APPLIED)
    )
    worker_ids = set(workers)
    verdicts = [
        (is_applied, is_active, AppliedDecision(*row)) for is_applied, is_active, *row in rows
    ]
    return RunDecisions(
        applied=[verdict for is_applied, _, verdict in verdicts if is_applied],
        counting={
            verdict.worker: verdict
            for _, is_active, verdict in verdicts
            if is_active and verdict.worker in worker_ids
        },
        any_counts=any(is_active for _, is_active, _ in verdicts),
    )


def build_applied_context(
    run: Run, verdicts: list[AppliedDecision] | None = None
) -> dict[str, Any]:
    """Return the template context on the decisions that a run applied, and their run.

    `verdicts` are the applied decisions, if the caller has read them. Else one query reads them,
    and one more their run if there is any decision.
    """
    verdicts = load_applied_verdicts(run) if verdicts is None else verdicts
    source_run = (
        Run.objects.filter(verdicts__applied_in=run).order_by("pk").first() if verdicts else None
    )
    return {"made_by": [verdict.fill_origin(run) for verdict in verdicts], "made_of": source_run}


@dataclass(frozen=True)
class ExcludedWorker:
    """A worker excluded by a new run; `decision` is None if the settings name the worker."""

    worker: UUID
    name: str
    decision: AppliedDecision | None


@dataclass(frozen=True)
class RunExclusions:
    """Workers that a new run with a run's settings would exclude, and the number of workers.

    `n_people` counts the workers who answered, excluded ones included.
    """

    left_out: list[ExcludedWorker]
    n_people: int

    @property
    def n_graded(self) -> int:
        """Number of workers who would remain in the new run."""
        return self.n_people - len(self.left_out)

    @property
    def ids(self) -> str:
        """Public ids of the excluded workers, joined by commas, for a form field."""
        return ",".join(sorted(excluded.worker.hex for excluded in self.left_out))


def load_run_exclusions(run: Run) -> RunExclusions:
    """Return the workers that a new run with the settings of `run` would exclude; up to 4 queries.

    These are workers excluded by a decision, and those named by the option `exclude_workers`.
    """
    workers = select_answering_workers(
        run.version, rejected=bool(run.parameters.get("include_rejected"))
    )
    decided = [
        verdict.pk for verdict in WorkerVerdict.list_exclusion_verdicts(run.version.question_set)
    ]
    rows = WorkerVerdict.objects.filter(pk__in=decided, worker__in=workers)
    decisions = [AppliedDecision(*row).fill_origin(run) for row in rows.values_list(*APPLIED)]
    left_out = {
        decision.worker: ExcludedWorker(decision.worker, decision.name, decision)
        for decision in decisions
    }
    named = run.parameters.get("exclude_workers") or ()
    if named:
        worker_keys = find_known_worker_keys(run.version, named)
        for worker, name in workers.filter(pk__in=worker_keys).values_list(
            "public_id", "external_id"
        ):
            left_out.setdefault(worker, ExcludedWorker(worker, name, None))
    return RunExclusions(
        sorted(left_out.values(), key=lambda excluded: excluded.name), workers.count()
    )
