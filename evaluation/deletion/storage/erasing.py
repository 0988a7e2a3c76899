"""Erase workers' answers, also from all stored copies of their texts.

Remove texts from all stored copies: run results, alarms and prompts.

Copies of a text are in many rows that do not refer to the answer. Each place is searched once, in
batches of rows, for all run types together, so that a new run type needs no change here.

Erase workers' answers: all on a requester's request, or one set's by the worker.

Deleted are the answers with all copies, the kind of device, and the use of assistive technology.
Kept are the participation with its times, decisions, payments, and numbers without a text, such as
grades. Erased answers are refused if a file contains them again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Exists, Min, Model, OuterRef, Q, QuerySet
from django.utils import timezone

from annotations.models import (
    Appeal,
    Assignment,
    AuditEntry,
    BonusPayment,
    Decision,
    IdempotentRequest,
    OtherText,
    PanelRow,
    QuestionSet,
    Response,
    Submission,
    Upload,
    Worker,
    WorkerNote,
)
from evaluation.deletion.storage.record import (
    DependentRows,
    Note,
    Parts,
    StepResult,
    add_withdrawn_counts,
    count_answers_by_run,
    count_rows,
    delete_batch,
    find_request,
    finish_removal,
    format_runs_were,
    is_in_use,
    store_request,
)
from evaluation.models import (
    Alarm,
    AlarmReview,
    AnswerFact,
    AnswerScore,
    AuditItem,
    CrowdFact,
    Embedding,
    Exhibit,
    HumanJudgement,
    JudgementRequest,
    LLMResponse,
    RawReply,
    Removal,
    Run,
    RunData,
    RunTask,
    WorkerVerdict,
    compute_text_hash,
)
from evaluation.runs.flow.stored import MEANING

ERASED = "(erased)"
"""Replacement of an erased text."""
DISTINCT = 12
"""Least length in characters of a text that is searched inside longer ones.

A shorter text, such as "yes", occurs in sentences that are no copies. It is erased where it is a
whole value or a whole line."""
QUOTED = 60
"""Characters after which a message about a text cuts it off."""
ROWS = 50
"""Rows of one transaction; few, because rows of results may be large."""
BATCH_SIZE = 200
"""Texts looked up by one query."""


class OwnTexts:
    """Texts that only one worker wrote, to be removed from stored values."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.whole: set[str] = set()
        inside: set[str] = set()
        for text in texts:
            line = " ".join(text.split())
            forms = {text, text.strip(), line} - {""}
            self.whole |= forms
            if len(line) >= DISTINCT:
                # Results quote texts as they are; prompts are stored as JSON text, in which
                # quotation marks and line breaks are escaped.
                inside |= {kept for form in forms for kept in _list_stored_forms(form)}
                # Messages show only the beginning of a long text.
                inside |= set(_list_stored_forms(line[:QUOTED])) if len(line) > QUOTED else set()
        # The longest first: otherwise only the beginning of a longer text might be erased.
        self.inside = sorted(inside, key=len, reverse=True)
        self._shortest = min(map(len, self.inside), default=0)

    def remove_from(self, value: Any) -> Any:
        """Return a JSON value with the texts erased; the same object if it contains none."""
        if isinstance(value, str):
            return self._remove_from_text(value)
        if isinstance(value, list):
            made = [self.remove_from(item) for item in value]
            # Identity, not equality: `erase_copies` writes only rows with a replaced value.
            return made if any(a is not b for a, b in zip(made, value, strict=True)) else value
        if isinstance(value, dict):
            pairs = {key: self.remove_from(inner) for key, inner in value.items()}
            return pairs if any(pairs[key] is not value[key] for key in value) else value
        return value

    def _remove_from_text(self, value: str) -> str:
        """Return a text with these texts replaced by "(erased)"; the same object if it has none."""
        if value.strip() in self.whole:
            return ERASED
        made = value
        if self.inside and len(value) >= self._shortest:
            for text in self.inside:
                if text in made:
                    made = made.replace(text, ERASED)
        if "\n" in made:
            lines = made.split("\n")
            cut = [ERASED if line.strip() in self.whole else line for line in lines]
            made = made if cut == lines else "\n".join(cut)
        return made if made != value else value


def _list_stored_forms(text: str) -> list[str]:
    """Return the forms in which a text may be stored: plain, and escaped as in JSON."""
    # JSON may escape non-ASCII characters or not. [1:-1] cuts off the quotation marks.
    return [text, *(json.dumps(text, ensure_ascii=plain)[1:-1] for plain in (True, False))]


Place = tuple[Callable[[Sequence[int]], QuerySet[Any, Any]], tuple[str, ...]]
RUN = "run__version__in"

PLACES: Mapping[str, Place] = {
    "runs": (
        lambda versions: _select_all_rows(Run, version__in=versions),
        ("summary", "warnings", "reasons", "error", "notes"),
    ),
    "run data": (lambda versions: _select_all_rows(RunData, **{RUN: versions}), ("data",)),
    "tasks of runs": (
        lambda versions: _select_all_rows(RunTask, **{RUN: versions}),
        ("payload", "error"),
    ),
    "alarms": (
        lambda versions: _select_all_rows(Alarm, **{RUN: versions}),
        ("message", "evidence", "outcome"),
    ),
    "reviews": (
        lambda versions: _select_all_rows(AlarmReview, **{f"alarm__{RUN}": versions}),
        ("note",),
    ),
    "verdicts": (
        lambda versions: _select_all_rows(
            WorkerVerdict,
            question_set__in=QuestionSet.objects.filter(versions__in=versions).values("pk"),
        ),
        ("reason",),
    ),
    "exhibits": (lambda versions: _select_all_rows(Exhibit, **{RUN: versions}), ("key", "shown")),
    "claims": (
        lambda versions: _select_all_rows(CrowdFact, slot=MEANING, **{RUN: versions}),
        ("value",),
    ),
    "claims beside answers": (
        lambda versions: _select_all_rows(AnswerFact, slot=MEANING, **{RUN: versions}),
        ("crowd",),
    ),
    "replies": (
        lambda versions: _select_all_rows(LLMResponse, question__version__in=versions),
        ("prompt", "text", "parameters", "extra"),
    ),
    "raw replies": (
        lambda versions: _select_all_rows(RawReply, response__question__version__in=versions),
        ("request", "reply"),
    ),
    "requests": (lambda versions: _select_all_rows(IdempotentRequest), ("body",)),
}
"""Places of copies: a function from the answered versions to the rows, and the fields to search.

Decisions and audit entries are kept for good, and quote no answer by themselves."""


def erase_copies(place: str, texts: OwnTexts, versions: Sequence[int], after: int) -> int | None:
    """Remove texts from the next rows (after key `after`) of one of `PLACES`, where copies are.

    Return the last row's key, or None if no rows are left.
    """
    rows_of, fields = PLACES[place]
    # By key, not by offset: rows deleted between two batches would shift the offsets.
    rows = list(rows_of(versions).filter(pk__gt=after).order_by("pk").only("pk", *fields)[:ROWS])
    for row in rows:
        cut = {field: texts.remove_from(getattr(row, field)) for field in fields}
        changed = {field: made for field, made in cut.items() if made is not getattr(row, field)}
        if changed:
            _select_all_rows(type(row), pk=row.pk).update(**changed)
    return rows[-1].pk if len(rows) == ROWS else None


def select_own_texts(texts: Iterable[str], responses: Sequence[int], **where: Any) -> set[str]:
    """Return the texts that no other worker's or model's answer equals.

    `where` may have `versions`: then only the other answers to these versions are compared.
    """
    own = set(texts)
    versions = where.get("versions")
    people = Response.objects.exclude(pk__in=responses)
    models = LLMResponse.objects.all()
    if versions is not None:
        people = people.filter(submission__version__in=versions)
        models = models.filter(question__version__in=versions)
    for some in _split_into_batches(sorted(own)):
        for rows in (people, models):
            # A text that another worker wrote too stays: its copies may be of the other answer.
            own -= set(rows.filter(text__in=some).values_list("text", flat=True))
    return own


def delete_vectors(texts: Iterable[str]) -> int:
    """Delete the texts' stored vectors of all embedders; return the number of vectors."""
    n = 0
    for some in _split_into_batches(sorted(texts)):
        n += Embedding.objects.filter(
            text_hash__in=[compute_text_hash(text) for text in some]
        ).delete()[0]
    return n


def _split_into_batches(items: Sequence[str]) -> Iterable[Sequence[str]]:
    """Yield the items in batches that fit into one query."""
    for first in range(0, len(items), BATCH_SIZE):
        yield items[first : first + BATCH_SIZE]


def _select_all_rows(model: type[Model], *conditions: Q, **named: Any) -> QuerySet[Any, Any]:
    """Return the rows of a table that meet conditions, also those that its manager hides."""
    rows: QuerySet[Any, Any] = QuerySet(model).filter(*conditions, **named)
    return rows


WORKER, SUBMISSION = "worker", "submission"
APPEALS = "appeals"


def find_worker_dependents(worker: Worker) -> DependentRows:
    """Return what an erasure of a worker's answers in all sets deletes, and what stays."""
    submissions = Submission.objects.filter(worker=worker)
    counts = count_rows(
        [
            *_list_rows_of_submissions(submissions),
            ("notes", WorkerNote.objects.filter(worker=worker)),
            *_select_staying_rows(worker).items(),
            (APPEALS, Appeal.objects.filter(decision__submission__in=submissions)),
        ]
    )
    staying = {name: counts.pop(name, 0) for name in _select_staying_rows(worker)}
    notes = _build_notes(worker, counts.pop(APPEALS, 0), staying)
    return DependentRows(counts, [], notes=tuple(notes))


@transaction.atomic
def request_erasure(worker: Worker, user_id: int) -> Removal:
    """Store the request to erase a worker's answers; new answers are refused from now on.

    Return the earlier request if there is one.
    """
    if (before := find_request(WORKER, worker)) is not None:
        return before
    hanging = find_worker_dependents(worker)
    submissions = Submission.objects.filter(worker=worker)
    pending = _collect_texts(submissions)
    now = timezone.now()
    # Earlier withdrawals keep their time; the device was blanked then.
    submissions.filter(withdrawn_at=None).update(
        state=Submission.State.RETURNED, withdrawn_at=now, device="", assistive=False
    )
    Worker.objects.filter(pk=worker.pk).update(erased_at=now)
    # After the update: the database refuses to delete appeals of submissions not withdrawn.
    Appeal.objects.delete_withdrawn(submissions)
    return store_request(
        WORKER,
        worker,
        AuditEntry.Action.ERASE,
        hanging,
        name=f"worker {worker.external_id}",
        owner_id=worker.owner_id,
        asked_by=user_id,
        pending=pending,
    )


def request_copy_erasure(sender: Any, submission: Submission, **kwargs: Any) -> None:
    """Store the request to erase all copies of a withdrawn submission's answers.

    Receiver of the signal `withdrawing`, which is sent in the transaction that deletes the answers,
    before that.
    """
    if find_request(SUBMISSION, submission) is not None:
        return
    submissions = Submission.objects.filter(pk=submission.pk)
    store_request(
        SUBMISSION,
        submission,
        AuditEntry.Action.ERASE,
        DependentRows(count_rows(_list_rows_of_submissions(submissions)), []),
        name=f"{submission.version.question_set.name}: worker {submission.worker.external_id}",
        owner_id=submission.version.question_set.owner_id,
        asked_by=None,
        pending=_collect_texts(submissions),
    )


def erase_batch(removal: Removal) -> StepResult:
    """Erase a batch of a worker's rows or copies; WAITS while a run uses one of the versions."""
    pending = removal.pending
    versions: list[int] = pending.get("versions", [])
    if is_in_use(versions):
        return StepResult.WAITS
    with transaction.atomic():
        if removal.kind == WORKER and "begun" not in pending:
            # Again: a run that was working at the request has read the answers since.
            pending |= {
                **_collect_texts(Submission.objects.filter(worker=removal.target)),
                "begun": True,
            }
            removal.save(update_fields=["pending"])
        if delete_batch(removal, _list_rows(removal)):
            return StepResult.SOME
        if pending["places"]:
            _erase_next_copies(removal)
            return StepResult.SOME
        _delete_unstated_facts(versions)
        # All versions of all owners count here, because equal texts share one vector.
        delete_vectors(select_own_texts(pending["texts"], pending["responses"]))
        # A file that was uploaded in the last day may hold the answers too.
        for upload in Upload.objects.filter(question_set__versions__in=versions).distinct():
            upload.delete()
        if finish_removal(removal, AuditEntry.Action.ERASED):
            add_withdrawn_counts(pending["runs"])
    return StepResult.ALL


def _delete_unstated_facts(versions: list[int]) -> None:
    """Delete crowd facts without agreement that no remaining answer to the versions states.

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


def _erase_next_copies(removal: Removal) -> None:
    """Erase the next batch of stored copies of the texts, and record the progress in `removal`."""
    pending = removal.pending
    if "own" not in pending:
        own = select_own_texts(pending["texts"], pending["responses"], versions=pending["versions"])
        # Stored once, so that all batches remove the same texts.
        pending["own"] = sorted(own)
    place, after = pending["places"][0], pending.get("after", 0)
    result = erase_copies(place, OwnTexts(pending["own"]), pending["versions"], after)
    if result is None:
        pending["places"], result = pending["places"][1:], 0
    pending["after"] = result
    removal.save(update_fields=["pending"])


def _collect_texts(submissions: QuerySet[Submission, Submission]) -> dict[str, Any]:
    """Return the `pending` record of an erasure: texts, and keys of answers, versions and runs."""
    responses = Response.objects.filter(submission__in=submissions)
    texts = set(responses.exclude(text="").values_list("text", flat=True))
    texts |= set(OtherText.objects.filter(response__in=responses).values_list("text", flat=True))
    versions, runs = _find_versions_and_runs(submissions)
    return {
        "texts": sorted(texts),
        "responses": list(responses.values_list("pk", flat=True)),
        "versions": versions,
        "runs": {str(run): n for run, n in runs.items()},
        "places": list(PLACES) if texts else [],
    }


def _find_versions_and_runs(
    submissions: QuerySet[Submission, Submission],
) -> tuple[list[int], dict[int, int]]:
    """Return the submissions' versions, and by run the number of their answers that it used."""
    since = submissions.order_by().values_list("version", Min("responses__created_at"))
    first = dict(since)
    times = [time for time in first.values() if time is not None]
    runs: dict[int, int] = {}
    if times:
        runs = count_answers_by_run(Q(submission__in=submissions), sorted(first), min(times))
    return sorted(first), runs


def _list_rows(removal: Removal) -> Parts:
    """Return the rows that an erasure deletes, by label, in a valid order of deletion."""
    if removal.kind == SUBMISSION:
        return _list_rows_of_submissions(Submission.objects.filter(pk=removal.target))
    notes = WorkerNote.objects.filter(worker=removal.target)
    return [
        *_list_rows_of_submissions(Submission.objects.filter(worker=removal.target)),
        ("notes", notes),
    ]


def _list_rows_of_submissions(submissions: QuerySet[Submission, Submission]) -> Parts:
    """Return the rows that are deleted with submissions, by label, in a valid order of deletion."""
    lookup = {"response__submission__in": submissions}
    return [
        # Dependent rows come first: deleting an answer would cascade to all of them in one
        # transaction, and they would be missing from the progress.
        ("judgements", HumanJudgement.objects.filter(**lookup)),
        ("requests to judge", JudgementRequest.objects.filter(**lookup)),
        ("answers in samples for experts", AuditItem.objects.filter(**lookup)),
        ("scores of answers", AnswerScore.objects.filter(**lookup)),
        ("facts of answers", AnswerFact.objects.filter(**lookup)),
        ("rows of files from panels", PanelRow.objects.filter(submission__in=submissions)),
        ("answers", Response.objects.filter(submission__in=submissions)),
        ("places in the order of questions", Assignment.objects.filter(submission__in=submissions)),
    ]


def _build_notes(worker: Worker, n_appeals: int, staying: Mapping[str, int]) -> list[Note]:
    """Return the messages about what an erasure changes or leaves, to show for confirmation."""
    versions, runs = _find_versions_and_runs(Submission.objects.filter(worker=worker))
    notes = []
    if is_in_use(versions):
        notes.append(Note("answers_in_use"))
    if n := len(runs):
        notes.append(Note("runs_made", n=n, runs_were=format_runs_were(n)))
    notes.append(Note("copies_go"))
    if n_appeals:
        notes.append(Note("appeals_go", n=n_appeals))
    listing = ", ".join(f"{n:,} {name}" for name, n in staying.items() if n)
    if listing:
        notes.append(Note("reasons_kept", kept=listing))
    notes.append(Note("id_stays", id=worker.external_id))
    notes.append(Note("uploads_go"))
    return notes


def _select_staying_rows(worker: Worker) -> dict[str, QuerySet[Any, Any]]:
    """Return the querysets of rows that stay after a worker's erasure, by label."""
    lookup = {"submission__worker": worker}
    return {
        "decisions": Decision.objects.filter(**lookup),
        "payments": BonusPayment.objects.filter(**lookup),
        "verdicts of runs": WorkerVerdict.objects.filter(worker=worker),
    }
