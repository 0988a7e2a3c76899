"""Erase workers' answers: all on a requester's request, or one set's by the worker.

What they wrote goes with all copies of it, and so do the kind of their device and whether they use
assistive technology; that they took part, when, and what was decided and paid stays, and so do
numbers without a text, such as grades. Nothing of it is taken in again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Exists, Min, OuterRef, Q, QuerySet
from django.utils import timezone

from annotations.models import (
    Appeal,
    Assignment,
    AuditEntry,
    BonusPayment,
    Decision,
    OtherText,
    PanelRow,
    Response,
    Submission,
    Upload,
    Worker,
    WorkerNote,
)
from evaluation.deletion.storage.hanging import Hanging, counted
from evaluation.deletion.storage.notes import Note, runs_were
from evaluation.deletion.storage.record import (
    Parts,
    Went,
    ask,
    end,
    known,
    note_withdrawn,
    runs_made_of,
    take_some,
    works_on,
)
from evaluation.deletion.storage.scrubbing import PLACES, Texts, drop_vectors, only_theirs, scrub
from evaluation.models import (
    AnswerFact,
    AnswerScore,
    AuditItem,
    CrowdFact,
    HumanJudgement,
    JudgementRequest,
    Removal,
    WorkerVerdict,
)
from evaluation.runs.flow.fact_slots import MEANING

WORKER, SUBMISSION = "worker", "submission"
APPEALS = "appeals"


def hanging_on_worker(worker: Worker) -> Hanging:
    """Return what is deleted with a worker's answers in all sets, and what stays."""
    submissions = Submission.objects.filter(worker=worker)
    counts = counted(
        [
            *_parts(submissions),
            ("notes", WorkerNote.objects.filter(worker=worker)),
            *_staying(worker).items(),
            (APPEALS, Appeal.objects.filter(decision__submission__in=submissions)),
        ]
    )
    staying = {name: counts.pop(name, 0) for name in _staying(worker)}
    notes = _notes(worker, counts.pop(APPEALS, 0), staying)
    return Hanging(counts, [], notes=tuple(notes))


@transaction.atomic
def erase(worker: Worker, user_id: int) -> Removal:
    """Request erasure of a worker (repeatable); from now on new answers are refused."""
    if (before := known(WORKER, worker)) is not None:
        return before
    hanging = hanging_on_worker(worker)
    submissions = Submission.objects.filter(worker=worker)
    pending = _found(submissions)
    now = timezone.now()
    submissions.filter(withdrawn_at=None).update(
        state=Submission.State.RETURNED, withdrawn_at=now, device="", assistive=False
    )
    Worker.objects.filter(pk=worker.pk).update(erased_at=now)
    Appeal.objects.forget(submissions)
    return ask(
        WORKER,
        worker,
        AuditEntry.Action.ERASE,
        hanging,
        name=f"worker {worker.external_id}",
        owner_id=worker.owner_id,
        asked_by=user_id,
        pending=pending,
    )


def withdrawing(sender: Any, submission: Submission, **kwargs: Any) -> None:
    """Receiver of `annotations.answering.withdrawals.withdrawing`: erase copies of the answers.

    Called before the answers are gone, in their transaction.
    """
    if known(SUBMISSION, submission) is not None:
        return
    of = Submission.objects.filter(pk=submission.pk)
    ask(
        SUBMISSION,
        submission,
        AuditEntry.Action.ERASE,
        Hanging(counted(_parts(of)), []),
        name=f"{submission.version.question_set.name}: worker {submission.worker.external_id}",
        owner_id=submission.version.question_set.owner_id,
        asked_by=None,
        pending=_found(of),
    )


def step(removal: Removal) -> Went:
    """Erase a batch of rows; wait while a run uses a version the worker answered in."""
    pending = removal.pending
    versions: list[int] = pending.get("versions", [])
    if works_on(versions):
        return Went.WAITS
    with transaction.atomic():
        if removal.kind == WORKER and "begun" not in pending:
            # Once more: a run that worked when it was asked for has read them too.
            pending |= {**_found(Submission.objects.filter(worker=removal.target)), "begun": True}
            removal.save(update_fields=["pending"])
        if take_some(removal, _rows_of(removal)):
            return Went.SOME
        if pending["places"]:
            _scrub(removal)
            return Went.SOME
        _drop_facts(versions)
        drop_vectors(only_theirs(pending["texts"], pending["responses"]))
        # A file that was uploaded in the last day may hold the answers too.
        for upload in Upload.objects.filter(question_set__versions__in=versions).distinct():
            upload.delete()
        if end(removal, AuditEntry.Action.ERASED):
            note_withdrawn(pending["runs"])
    return Went.ALL


def _drop_facts(versions: list[int]) -> None:
    """Delete values without agreement that no answer states any more.

    A claim about meaning is a text, which was taken out of its row if it was theirs alone.
    """
    stated = AnswerFact.objects.filter(
        run=OuterRef("run"),
        question=OuterRef("question"),
        slot=OuterRef("slot"),
        value=OuterRef("value"),
    )
    rows = CrowdFact.objects.filter(~Exists(stated), run__version__in=versions)
    rows.exclude(state=CrowdFact.State.AGREED).exclude(slot=MEANING).delete()


def _scrub(removal: Removal) -> None:
    pending = removal.pending
    if "own" not in pending:
        own = only_theirs(pending["texts"], pending["responses"], versions=pending["versions"])
        pending["own"] = sorted(own)
    place, after = pending["places"][0], pending.get("after", 0)
    found = scrub(place, Texts(pending["own"]), pending["versions"], after)
    if found is None:
        pending["places"], found = pending["places"][1:], 0
    pending["after"] = found
    removal.save(update_fields=["pending"])


def _found(submissions: QuerySet[Submission, Submission]) -> dict[str, Any]:
    """Return the data needed to find copies of answers after the answers are deleted."""
    responses = Response.objects.filter(submission__in=submissions)
    texts = set(responses.exclude(text="").values_list("text", flat=True))
    texts |= set(OtherText.objects.filter(response__in=responses).values_list("text", flat=True))
    versions, runs = _read_by(submissions)
    return {
        "texts": sorted(texts),
        "responses": list(responses.values_list("pk", flat=True)),
        "versions": versions,
        "runs": {str(run): n for run, n in runs.items()},
        "places": list(PLACES) if texts else [],
    }


def _read_by(submissions: QuerySet[Submission, Submission]) -> tuple[list[int], dict[int, int]]:
    """Return the versions of submissions, and by run the number of their answers it used."""
    since = submissions.order_by().values_list("version", Min("responses__created_at"))
    first = dict(since)
    times = [time for time in first.values() if time is not None]
    runs: dict[int, int] = {}
    if times:
        runs = runs_made_of(Q(submission__in=submissions), sorted(first), min(times))
    return sorted(first), runs


def _rows_of(removal: Removal) -> Parts:
    if removal.kind == SUBMISSION:
        return _parts(Submission.objects.filter(pk=removal.target))
    notes = WorkerNote.objects.filter(worker=removal.target)
    return [*_parts(Submission.objects.filter(worker=removal.target)), ("notes", notes)]


def _parts(submissions: QuerySet[Submission, Submission]) -> Parts:
    of = {"response__submission__in": submissions}
    return [
        ("judgements", HumanJudgement.objects.filter(**of)),
        ("requests to judge", JudgementRequest.objects.filter(**of)),
        ("answers in samples for experts", AuditItem.objects.filter(**of)),
        ("scores of answers", AnswerScore.objects.filter(**of)),
        ("facts of answers", AnswerFact.objects.filter(**of)),
        ("rows of files from panels", PanelRow.objects.filter(submission__in=submissions)),
        ("answers", Response.objects.filter(submission__in=submissions)),
        ("places in the order of questions", Assignment.objects.filter(submission__in=submissions)),
    ]


def _notes(worker: Worker, n_appeals: int, staying: Mapping[str, int]) -> list[Note]:
    versions, runs = _read_by(Submission.objects.filter(worker=worker))
    notes = []
    if works_on(versions):
        notes.append(Note("answers_in_use"))
    if n := len(runs):
        notes.append(Note("runs_made", n=n, runs_were=runs_were(n)))
    notes.append(Note("copies_go"))
    if n_appeals:
        notes.append(Note("appeals_go", n=n_appeals))
    said = ", ".join(f"{n:,} {name}" for name, n in staying.items() if n)
    if said:
        notes.append(Note("reasons_kept", kept=said))
    notes.append(Note("id_stays", id=worker.external_id))
    notes.append(Note("uploads_go"))
    return notes


def _staying(worker: Worker) -> dict[str, QuerySet[Any, Any]]:
    """Return the rows that stay after a worker's erasure, by label."""
    of = {"submission__worker": worker}
    return {
        "decisions": Decision.objects.filter(**of),
        "payments": BonusPayment.objects.filter(**of),
        "verdicts of runs": WorkerVerdict.objects.filter(worker=worker),
    }
