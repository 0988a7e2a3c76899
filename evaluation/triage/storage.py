"""Store decisions about the workers of a run: accept, look again, exclude, take back.

A requester decides about one worker at a time, or accepts all undecided workers in one batch.

A worker has one decision. Its part for the grades is a `WorkerVerdict`, its part for the panel a
`Decision` in the log of payments. `_log_panel_decisions` writes the second after the first,
and `copy_decisions_to_verdicts` the first after the second, in the transaction of the decision:

    ============================  ==================================
    verdict                       decision in the log
    ============================  ==================================
    accept                        approve
    exclude                       approve: panels pay for work done
    exclude and reject            reject, with category and message
    look, or none                 open, or none
    ============================  ==================================

Each writes only what differs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Max, Min

from annotations.ledger.decisions import (
    KEYS_PER_QUERY,
    NewDecision,
    load_newest_decisions,
    lock_submissions,
    store_decisions,
)
from annotations.models import Decision, Submission, Worker
from annotations.models.base import new_public_id
from annotations.panels.people import APPROVED, PanelDecision
from evaluation.core.messages.reasons import OWN, REASONS
from evaluation.models import Run, WorkerGrade, WorkerVerdict
from evaluation.runs.reports.verdicts import AcceptedBatch, WorkerDecision
from evaluation.triage.messages import build_rejection_message

Kind = WorkerVerdict.Kind
DECISIONS = (Kind.ACCEPT, Kind.LOOK, Kind.EXCLUDE)
_CODE_BY_PANEL_CATEGORY = {
    "LOW_EFFORT": "low_effort",
    "FAILED_INSTRUCTIONS": "instructions",
    "FAILED_CHECK": "attention",
    "TOO_QUICKLY": "too_fast",
}
"""Reason of an exclusion by the panel's category of a rejection; for any other it is own words."""
# A rejection message adds sentences around the reason, and panels take 1,024 characters in all.
LONGEST_REASON = 600
# Rows inserted by one statement.
BATCH = 2000

VERDICT_PROBLEMS = {
    "unknown_decision": "Choose what you decide: accept, look again or exclude.",
    "reason_too_long": "At most {longest:,} characters.",
    "reason_no_text": "There is a character in it that is no text.",
    "category_missing": "Choose why the worker is excluded.",
    "reason_missing": "Write why the worker is excluded.",
    "machine_is_no_reason": "Panels do not take a suspicion of machine-written answers as a reason "
    "to refuse pay. Exclude without rejecting the work, or choose what can be shown.",
    "nothing_to_take_back": "There is nothing to take back: the worker has no decision.",
}
"""Sentences that explain a refused decision, by code."""


class VerdictError(ValueError):
    """Error: invalid decision; `code` is a key of `VERDICT_PROBLEMS`, `field` the form field."""

    def __init__(self, code: str, field: str, **values: Any) -> None:
        super().__init__(VERDICT_PROBLEMS[code].format(**values))
        self.code = code
        self.field = field


class DecidedMeanwhileError(RuntimeError):
    """Error: another user decided about the worker (`newest`) since the page was opened."""

    def __init__(self, newest: WorkerVerdict) -> None:
        super().__init__(f"{newest.decided_by} decided meanwhile")
        self.newest = newest


class NothingToTakeBackError(RuntimeError):
    """Error: the worker has no verdict to take back."""


@dataclass(frozen=True)
class BatchUndo:
    """Number of acceptances taken back; `n_otherwise` of their workers have a later decision."""

    n: int
    n_otherwise: int


class Unseen:
    """Type of `UNSEEN`, the default: the caller passes no verdict that the user saw last."""


UNSEEN = Unseen()
Seen = UUID | Unseen | None


def decide_on_worker(
    run: Run,
    worker: Worker,
    user: Any,
    kind: str,
    category: str = "",
    reason: str = "",
    rejects: bool = False,
    seen: Seen = UNSEEN,
) -> WorkerVerdict:
    """Store a decision about a worker and return its row; an equal current one is returned.

    Exception: a worker accepted in a batch and then accepted alone gets a row, which outlives
    taking back the batch. `seen` is the public id of the newest verdict that the user saw, None for
    none. Raises VerdictError for invalid values, DecidedMeanwhileError where another row is the
    newest, and `WorkerGrade.DoesNotExist` for a worker who is not in the run.
    """
    decision = _validate_decision(kind, category, reason, rejects)
    with transaction.atomic():
        newest = _lock_newest_verdict(run, worker)
        if (
            newest is not None
            and newest.decided_by_id == user.pk
            and _is_same_decision(newest, decision)
        ):
            return newest
        _check_seen_verdict(newest, seen)
        # Taking back may have made an equal decision current again: a second row would change
        # nothing.
        if (current := find_current_verdict(run, worker)) is not None and _is_same_decision(
            current, decision
        ):
            return current
        verdict = WorkerVerdict.objects.create(
            question_set_id=run.version.question_set_id,
            run=run,
            worker=worker,
            decided_by=user,
            **decision,
        )
        _log_panel_decisions(run.version_id, [worker.pk], user)
        return verdict


def take_back_verdict(run: Run, worker: Worker, user: Any, seen: Seen = UNSEEN) -> WorkerVerdict:
    """Take back the current verdict of a worker; return the row that does so.

    The verdict before it is current again.

    Raises DecidedMeanwhileError, NothingToTakeBackError and `WorkerGrade.DoesNotExist`.
    """
    with transaction.atomic():
        newest = _lock_newest_verdict(run, worker)
        # A repeated request must not take back the decision before as well.
        if newest is not None and _is_repeated_take_back(newest, user, seen):
            return newest
        _check_seen_verdict(newest, seen)
        current = find_current_verdict(run, worker)
        if current is None:
            raise NothingToTakeBackError
        undo_row = WorkerVerdict.objects.create(
            question_set_id=run.version.question_set_id,
            run=run,
            worker=worker,
            decided_by=user,
            kind=Kind.UNDO,
            takes_back=current,
        )
        _log_panel_decisions(run.version_id, [worker.pk], user)
        return undo_row


def lock_graded_workers(run: Run) -> None:
    """Lock all workers of a run until the transaction ends, against simultaneous decisions."""
    submissions = Submission.objects.filter(version=run.version_id)
    lock_submissions(list(submissions.values_list("pk", flat=True)), also_withdrawn=True)
    # Fixed order: two transactions that lock all grades cannot deadlock.
    grades = WorkerGrade.objects.select_for_update().filter(run=run).order_by("pk")
    # A queryset takes its locks only when it is evaluated.
    list(grades.values_list("pk", flat=True))


def accept_batch(run: Run, workers: Collection[UUID], user: Any) -> UUID:
    """Accept undecided workers of a run; return the batch id that their rows share.

    The caller has locked the run with `lock_graded_workers` before it selected the workers.
    """
    # One query for all keys: a batch may have thousands of workers.
    worker_keys = dict(
        WorkerGrade.objects.filter(run=run).values_list("worker__public_id", "worker_id").iterator()
    )
    batch = new_public_id()
    WorkerVerdict.objects.bulk_create(
        (
            WorkerVerdict(
                question_set_id=run.version.question_set_id,
                run=run,
                worker_id=worker_keys[worker],
                decided_by=user,
                kind=Kind.ACCEPT,
                together=batch,
            )
            for worker in workers
        ),
        batch_size=BATCH,
    )
    _log_panel_decisions(run.version_id, [worker_keys[worker] for worker in workers], user)
    return batch


def take_back_batch(run: Run, together: UUID, user: Any) -> BatchUndo:
    """Take back all active acceptances of a batch; return the numbers of workers.

    A later verdict about one of these workers stays. Raises NothingToTakeBackError if no
    acceptance of the batch is active, and `WorkerVerdict.DoesNotExist` if the run has no such
    batch.
    """
    with transaction.atomic():
        lock_graded_workers(run)
        # Rows taken back count here: only a batch that never existed is 404.
        if not WorkerVerdict.select_for_run(run).filter(together=together).exists():
            raise WorkerVerdict.DoesNotExist
        active = WorkerVerdict.select_current(run)
        accepted_rows = list(active.filter(together=together).values_list("pk", "worker_id"))
        if not accepted_rows:
            raise NothingToTakeBackError
        # `counting` orders by key, so the last row is the newest one of the batch.
        newer = active.filter(pk__gt=accepted_rows[-1][0]).exclude(together=together)
        since = set(newer.values_list("worker_id", flat=True))
        WorkerVerdict.objects.bulk_create(
            (
                WorkerVerdict(
                    question_set_id=run.version.question_set_id,
                    run=run,
                    worker_id=worker,
                    decided_by=user,
                    kind=Kind.UNDO,
                    takes_back_id=accepted,
                    together=together,
                )
                for accepted, worker in accepted_rows
            ),
            batch_size=BATCH,
        )
        _log_panel_decisions(run.version_id, [worker for _, worker in accepted_rows], user)
        return BatchUndo(len(accepted_rows), sum(worker in since for _, worker in accepted_rows))


def list_accepted_batches(run: Run) -> list[AcceptedBatch]:
    """Return the batches of acceptances with active rows, newest first; one query."""
    rows: Any = (
        WorkerVerdict.select_current(run)
        .filter(together__isnull=False)
        # Without this, the default ordering by key would become part of GROUP BY.
        .order_by()
        .values_list("together", "decided_by__username")
        .annotate(at=Min("created_at"), n=Count("pk"), first=Min("pk"))
        .order_by("-first")
    )
    return [AcceptedBatch(*row[:4]) for row in rows]


def find_current_verdict(run: Run, worker: Worker) -> WorkerVerdict | None:
    """Return the worker's newest verdict in a run that is not taken back, or None."""
    return WorkerVerdict.select_current(run).filter(worker=worker).last()


def derive_panel_decision(verdict: WorkerVerdict | WorkerDecision | None) -> PanelDecision | None:
    """Return the payment decision that a verdict implies; None for "look again" or no verdict.

    An exclusion without rejection approves.
    """
    if verdict is None or verdict.kind not in (Kind.ACCEPT, Kind.EXCLUDE):
        return None
    # Panels pay for work done; excluding its grades is no reason to refuse pay.
    if not verdict.rejects:
        return APPROVED
    category = REASONS.get(verdict.category, REASONS[OWN]).prolific
    return PanelDecision(
        Decision.Kind.REJECT, category, build_rejection_message(verdict.category, verdict.reason)
    )


def copy_decisions_to_verdicts(decisions: Sequence[Decision]) -> None:
    """Store new payment decisions as verdicts, where the current verdicts imply others.

    An approval accepts, but leaves an exclusion that is paid. A rejection excludes. A reopened
    decision takes back what counts. The rows belong to the newest run that graded the worker.
    """
    # Of several decisions about one submission the last one counts.
    by_submission = {decision.submission_id: decision for decision in decisions}
    by_version: dict[tuple[int, int], dict[int, Decision]] = {}
    for chunk in _split_keys(list(by_submission)):
        rows = Submission.objects.filter(pk__in=chunk).values_list(
            "pk", "worker_id", "version_id", "version__question_set_id"
        )
        for key, worker, version, question_set in rows:
            decided = by_version.setdefault((version, question_set), {})
            decided[worker] = by_submission[key]
    for (version, question_set), decided in by_version.items():
        active = _load_active_verdicts(version, list(decided))
        new_rows = [
            row
            for worker, decision in decided.items()
            for row in _build_verdicts(worker, decision, active.get(worker, []))
        ]
        if not new_rows:
            continue
        runs = _find_newest_runs(version, [row.worker_id for row in new_rows])
        for row in new_rows:
            row.question_set_id, row.run_id = question_set, runs.get(row.worker_id)
        WorkerVerdict.objects.bulk_create(new_rows, batch_size=BATCH)


def _build_verdicts(
    worker: int, decision: Decision, active: list[WorkerVerdict]
) -> Iterator[WorkerVerdict]:
    """Yield the verdict rows that make a worker's verdict agree with a payment decision.

    `active` are the worker's verdicts that none takes back, the newest last.
    """
    newest = active[-1] if active else None
    proposed = derive_panel_decision(newest)
    if decision.kind == Decision.Kind.OPEN:
        # The newest first: taking one back makes the one before it current again.
        for row in reversed(active):
            if derive_panel_decision(row) is None:
                break
            yield WorkerVerdict(
                worker_id=worker,
                kind=Kind.UNDO,
                takes_back=row,
                decided_by_id=decision.decided_by_id,
            )
    elif decision.kind == Decision.Kind.APPROVE:
        if proposed != APPROVED:
            yield WorkerVerdict(
                worker_id=worker, kind=Kind.ACCEPT, decided_by_id=decision.decided_by_id
            )
    elif not (newest and newest.rejects and _agrees_with_payment_log(newest, decision)):
        yield WorkerVerdict(
            worker_id=worker,
            kind=Kind.EXCLUDE,
            category=_CODE_BY_PANEL_CATEGORY.get(decision.category, OWN),
            reason=decision.reason,
            rejects=True,
            decided_by_id=decision.decided_by_id,
        )


def _agrees_with_payment_log(verdict: WorkerVerdict, decision: Decision) -> bool:
    """Return whether a verdict agrees with a rejection in the payment log."""
    if verdict.reason == decision.reason:
        return True
    proposed = derive_panel_decision(verdict)
    return proposed == PanelDecision(decision.kind, decision.category, decision.reason)


def _log_panel_decisions(version: int, workers: Collection[int], user: Any) -> None:
    """Store in the payment log the decisions that verdicts imply, where they differ.

    Nothing is added about withdrawn submissions. The caller has locked the submissions.
    """
    keys: dict[int, int] = {}
    for chunk in _split_keys(list(workers)):
        submissions = Submission.objects.filter(
            version=version, worker__in=chunk, withdrawn_at=None, worker__erased_at=None
        )
        keys.update(submissions.values_list("pk", "worker_id"))
    active = _load_active_verdicts(version, list(keys.values()))
    newest = load_newest_decisions(keys)
    new_decisions = []
    for key, worker in keys.items():
        verdict = active[worker][-1] if worker in active else None
        before = newest.get(key)
        proposed = derive_panel_decision(verdict)
        if verdict is not None and proposed is not None and proposed.rejected:
            proposed = _find_logged_rejection(key, verdict) or proposed
        values = (
            (Decision.Kind.OPEN, "", "")
            if proposed is None
            else (proposed.kind, proposed.category, proposed.message)
        )
        if before is None:
            # Nothing to reopen where nothing was ever decided.
            is_new = proposed is not None
        else:
            is_new = (before.kind, before.category, before.reason) != values
        if is_new:
            new_decisions.append(NewDecision(key, *values))
    store_decisions(user, new_decisions)


def _find_logged_rejection(submission: int, verdict: WorkerVerdict) -> PanelDecision | None:
    """Return the logged rejection that a verdict was copied from; None for other verdicts."""
    # A verdict copied from the log has the whole message as its reason: built anew, the message
    # would wrap it once more, and differ from the log for ever.
    rows = Decision.objects.filter(submission=submission, kind=Decision.Kind.REJECT)
    row = rows.filter(reason=verdict.reason).order_by("-pk").first()
    return None if row is None else PanelDecision(row.kind, row.category, row.reason)


def _load_active_verdicts(version: int, workers: list[int]) -> dict[int, list[WorkerVerdict]]:
    """Return each worker's verdicts in a version that are not taken back, the newest last."""
    active: dict[int, list[WorkerVerdict]] = {}
    for chunk in _split_keys(workers):
        rows = WorkerVerdict.select_for_version(version).filter(worker__in=chunk)
        for row in rows.filter(takes_back=None, taken_back=None):
            active.setdefault(row.worker_id, []).append(row)
    return active


def _find_newest_runs(version: int, workers: list[int]) -> dict[int, int]:
    """Return the key of the newest finished run that graded each worker, by worker key."""
    runs: dict[int, int] = {}
    for chunk in _split_keys(workers):
        grades = WorkerGrade.objects.filter(
            run__version=version, run__state=Run.State.DONE, worker__in=chunk
        )
        newest: Any = grades.order_by().values_list("worker").annotate(run_key=Max("run"))
        runs.update(newest)
    return runs


def _split_keys(keys: list[int]) -> Iterator[list[int]]:
    """Yield the keys in lists that are short enough for one query."""
    for begin in range(0, len(keys), KEYS_PER_QUERY):
        yield keys[begin : begin + KEYS_PER_QUERY]


def _validate_decision(kind: str, category: str, reason: str, rejects: bool) -> dict[str, Any]:
    """Return the fields of a `WorkerVerdict`; raise VerdictError for invalid values.

    Only an exclusion keeps its category and `rejects`.
    """
    reason = reason.strip()
    if kind not in DECISIONS:
        raise VerdictError("unknown_decision", "verdict")
    if len(reason) > LONGEST_REASON:
        raise VerdictError("reason_too_long", "reason", longest=LONGEST_REASON)
    if "\0" in reason:
        raise VerdictError("reason_no_text", "reason")
    if kind != Kind.EXCLUDE:
        return {"kind": kind, "category": "", "reason": reason, "rejects": False}
    if category not in REASONS:
        raise VerdictError("category_missing", "category")
    if category == OWN and not reason:
        raise VerdictError("reason_missing", "reason")
    if rejects and not REASONS[category].rejects:
        raise VerdictError("machine_is_no_reason", "rejects")
    return {"kind": kind, "category": category, "reason": reason, "rejects": rejects}


def _is_same_decision(row: WorkerVerdict, decision: dict[str, Any]) -> bool:
    """Return whether a verdict equals a decision; always false for a verdict of a batch."""
    alone = row.together is None
    return alone and all(getattr(row, name) == value for name, value in decision.items())


def _lock_newest_verdict(run: Run, worker: Worker) -> WorkerVerdict | None:
    """Lock the worker's grade in the run and return the newest verdict, taken back or not."""
    # Two users who decide about the worker at once wait for each other on these rows. Payment
    # decisions lock the submission alone, so it comes first.
    submissions = Submission.objects.filter(version=run.version_id, worker=worker)
    lock_submissions(list(submissions.values_list("pk", flat=True)), also_withdrawn=True)
    WorkerGrade.objects.select_for_update().only("pk").get(run=run, worker=worker)
    rows = WorkerVerdict.select_for_run(run).filter(worker=worker)
    # Callers read both; one query, while the lock is held.
    rows = rows.select_related("decided_by", "takes_back")
    return rows.order_by("-pk").first()


def _is_repeated_take_back(newest: WorkerVerdict, user: Any, seen: Seen) -> bool:
    """Return whether the newest row is this user's take-back of the verdict `seen`."""
    taken_back = newest.takes_back
    return (
        taken_back is not None and newest.decided_by_id == user.pk and taken_back.public_id == seen
    )


def _check_seen_verdict(newest: WorkerVerdict | None, seen: Seen) -> None:
    """Raise DecidedMeanwhileError if the newest verdict is not the one that the user saw."""
    # Rows are never deleted: without a row there is nothing newer than what the user saw.
    if isinstance(seen, Unseen) or newest is None:
        return
    if newest.public_id != seen:
        raise DecidedMeanwhileError(newest)
