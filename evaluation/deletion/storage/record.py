"""Records of deletions: what depends on an object, the messages shown before, the log.

Messages shown before something is deleted, erased or undone, by code. Find what depends on a
question set or run, and what prevents its deletion. Common functions of deletion, undo and erasure:
records, audit entries, row batches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Final, Protocol
from uuid import UUID

from django.db.models import Case, Count, Exists, F, Model, OuterRef, Q, QuerySet, When
from django.db.models.functions import Least
from django.utils import timezone

from annotations.models import (
    GRADED,
    AuditEntry,
    BonusPayment,
    Decision,
    PanelRow,
    Question,
    QuestionSet,
    Response,
    Submission,
    Translation,
    Worker,
    WritingEvent,
)
from annotations.web.numbers import TableCounts, build_group_count, load_table_counts
from evaluation.core.messages.message import fill_template
from evaluation.models import (
    Alarm,
    AlarmReview,
    AnswerFact,
    AnswerScore,
    Audit,
    AuditItem,
    CrowdFact,
    Event,
    ExemplaryAnswer,
    Exhibit,
    HumanJudgement,
    JudgementRequest,
    LLMAnswerScore,
    LLMResponse,
    Removal,
    Run,
    RunData,
    Webhook,
    WorkerGrade,
    WorkerVerdict,
)
from evaluation.models.runs import ACTIVE, GRADING
from evaluation.runs.background.leases import wake_process_on_commit
from evaluation.runs.run_types import list_run_kinds

SENTENCES: Final = {
    # Runs.
    "run_of_record": "It is the official run of its question set: afterwards the newest run that "
    "is done counts.",
    "decisions_stay": "{n:decision} about workers stay with the question set. Later runs still "
    "leave out {out:worker} because of them. Any other run of the set shows these decisions and "
    "can take them back.",
    "sample_judged": "What experts judged in its sample stays with the answers; that these were "
    "drawn at random is no longer recorded.",
    "replies_stay": "The replies that it fetched stay with the question set.",
    # Question sets.
    "payments_kept": "{n:,} payments to its workers are in the ledger and stay there.",
    "decisions_kept": "{n:,} decisions about its workers' submissions stay stored with reasons.",
    "writing_kept": "{n:,} entries name who wrote and checked problems for it. They stay stored.",
    "workers_go_with_set": "Workers without other answers and without notes are deleted with it.",
    "models_stay": "The models stay registered; their answers to this set's questions go.",
    "downloads_stay": "Files that were downloaded are not deleted.",
    # Models.
    "other_owners": "It answered in {sets} that its owner may not change: the answers "
    "there belong to these. Archive it instead.",
    "answers_in_sets": "Its answers are in {sets} and will be deleted there.",
    "runs_scored": "{n:run} scored it and {lose} its row. All others keep their grades. "
    "The results will be marked “not reproducible”, with the number of withdrawn answers. Grade "
    "again afterwards.",
    "files_name_it": "Pictures, tables and exports that name it stay as they were made.",
    "model_in_use": "A run works with it or its answers: it goes once that run has ended.",
    # Workers.
    "answers_in_use": "A run works on these answers: they are erased once that run has ended.",
    "runs_made": "{n} finished {runs_were} made of these answers. Grades and other numbers "
    "stay, the texts are deleted. The runs will be marked “not reproducible”, with the number "
    "of withdrawn answers.",
    "copies_go": "Copies are deleted too: texts quoted in results, alarms, prompts to models "
    "and lists for experts, and the vectors of texts that no other worker wrote.",
    "appeals_go": "What they wrote against {n:rejection} goes at once, with what they were "
    "answered.",
    "reasons_kept": "These stay stored, with their reasons: {kept}. Read them: they may quote an "
    "answer.",
    "id_stays": "The id {id} stays, so that the person is not invited again. Rows of it in files "
    "are refused from now on.",
    "uploads_go": "Files uploaded to these question sets in the last day and not imported yet "
    "are deleted too, because they may contain the answers. Files that were downloaded are not "
    "deleted.",
    # Imports of answers.
    "import_in_use": "A run works on these answers: it is undone once that run has ended.",
    "import_runs": "{n} finished {runs_were} made of these answers ({named}). The grades "
    "stay and will be marked “not reproducible”, with the number of withdrawn answers. Grade "
    "again afterwards.",
    "repeated_later": "Later files repeated answers that were there already: {files}. Answers that "
    "came with this import go all the same; import those files again afterwards to have them back.",
    "questions_stay": "{n} of the questions that it made stay, because runs, models' answers or "
    "other answers use them. To delete the questions too, delete those runs first.",
    "workers_stay": "{n} workers stay in the list without these answers, because decisions about "
    "them or payments to them stay stored.",
    "workers_go": "Workers without other answers and without a run are deleted too.",
    "asked_anew": "{n:,} of its answers were asked for anew since, and stay.",
    "models_in_use": "{n:,} of the models that it made stay registered, because they are in "
    "runs, have other answers, or have a description. Delete them on their pages.",
    "version_stays": "Version {number}, which it published, stays published.",
    # Joined demographic exports.
    "facts_return": "Earlier values that come back: {n:,}.",
    "facts_changed": "Values that were changed since, and stay: {n:,}.",
    "flags_return": "{n:answer} that this file flagged as rejected will count again.",
    "answers_stay": "The answers themselves stay.",
    # Imports of questions and passages; `noun` is one of the two.
    "published": "Version {number}, into which it came, is published and keeps its {noun}: what "
    "people are asked does not change under their answers. Open the next version in the editor "
    "instead and delete the {noun} there.",
    "none_can_go": "None of its {noun} can be taken out.{why}",
    "draft_in_use": "A run works on this version: it is undone once that run has ended.",
    "draft_stays": "The draft itself stays, with everything else in it.",
    "changed": "{n:,} of its {noun} were changed since, and stay: delete them in the editor.",
    "passages_needed": "{n:,} of its passages stay, because questions are about them: undo the "
    "import of those questions first, or delete them in the editor.",
    "questions_answered": "{n:,} of its questions stay, because answers of workers or models "
    "use them: first undo the imports of those.",
    "deleted_before": "{n:,} of its {noun} were deleted before.",
    "texts_stay": "{n:,} of its rows gave a text or a translation to {noun} that were there "
    "before: these texts stay. Change them in the editor.",
}


class Note(str):
    """Message about a deletion as text, with its code (of `SENTENCES`) and values."""

    __slots__ = ("code", "values")

    code: str
    values: Mapping[str, Any]

    def __new__(cls, code: str, **values: Any) -> Note:
        """Create the message of a code, filled with its values."""
        note = super().__new__(cls, fill_template(SENTENCES[code], values))
        note.code, note.values = code, values
        return note


def format_runs_were(n: int) -> str:
    """Return "run was" or "runs were", by the number of runs."""
    return "run was" if n == 1 else "runs were"


@dataclass(frozen=True)
class DependentRows:
    """Numbers of rows that would be deleted with an object, and reasons that prevent it.

    Attributes
    ----------
    counts : number of rows by label. inputs : input hashes of the runs.
    obstacles : messages (`Note`) why the object cannot be deleted; () if it can.
    notes : messages (`Note`) on further consequences.
    """

    counts: dict[str, int]
    inputs: list[str]
    obstacles: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def n_rows(self) -> int:
        """Total number of rows that would be deleted."""
        return sum(self.counts.values())

    @property
    def can_go(self) -> bool:
        """Whether nothing prevents the deletion."""
        return not self.obstacles


def list_rows_of_run(runs: Any) -> list[tuple[str, QuerySet[Any, Any]]]:
    """Return the rows that are deleted with runs, by label, in a valid order of deletion."""
    return [
        ("judgements", HumanJudgement.objects.filter(exhibit__run__in=runs)),
        ("requests to judge", JudgementRequest.objects.filter(exhibit__run__in=runs)),
        ("things shown to experts", Exhibit.objects.filter(run__in=runs)),
        ("alarms", Alarm.objects.filter(run__in=runs)),
        ("scores of answers", AnswerScore.objects.filter(run__in=runs)),
        ("grades of workers", WorkerGrade.objects.filter(run__in=runs)),
        ("consensus answers", ExemplaryAnswer.objects.filter(run__in=runs)),
        ("scores of models' answers", LLMAnswerScore.objects.filter(run__in=runs)),
        ("facts of answers", AnswerFact.objects.filter(run__in=runs)),
        ("facts of the crowd", CrowdFact.objects.filter(run__in=runs)),
        ("tables and pictures", RunData.objects.filter(run__in=runs)),
    ]


def list_rows_of_set(question_set: int) -> list[tuple[str, QuerySet[Any, Any]]]:
    """Return the rows that are deleted with a set, by label, in a valid order of deletion."""
    version = "version__question_set"
    runs = Run.objects.filter(**{version: question_set}).values("pk")
    answer, question = f"submission__{version}", f"question__{version}"
    return [
        *list_rows_of_run(runs),
        ("runs", Run.objects.filter(**{version: question_set})),
        (
            "decisions about workers (triage)",
            WorkerVerdict.objects.filter(question_set=question_set),
        ),
        (
            "judgements of answers",
            HumanJudgement.objects.filter(**{f"response__{answer}": question_set}),
        ),
        (
            "requests to judge answers",
            JudgementRequest.objects.filter(**{f"response__{answer}": question_set}),
        ),
        ("answers", Response.objects.filter(**{answer: question_set})),
        ("rows of panels' files", PanelRow.objects.filter(**{f"file__{version}": question_set})),
        ("submissions", Submission.objects.filter(**{version: question_set})),
        ("answers of models", LLMResponse.objects.filter(**{question: question_set})),
        ("translations", Translation.objects.filter(**{version: question_set})),
        ("questions", Question.objects.filter(**{version: question_set})),
    ]


def _list_decisions(runs: Any) -> list[tuple[str, QuerySet[Any, Any]]]:
    """Return users' notes on alarms and samples for experts in runs, by label."""
    return [
        ("samples for experts", Audit.objects.filter(run__in=runs)),
        ("answers in samples for experts", AuditItem.objects.filter(audit__run__in=runs)),
        ("notes on alarms", AlarmReview.objects.filter(alarm__run__in=runs)),
    ]


def find_run_dependents(run: Run) -> DependentRows:
    """Return the numbers of rows that would be deleted with a run, and messages on consequences."""
    counts = count_rows([*list_rows_of_run([run.pk]), *_list_decisions([run.pk])])
    notes = []
    if getattr(run, "of_record", None) is not None:
        notes.append(Note("run_of_record"))
    if n := WorkerVerdict.objects.filter(run=run).count():
        question_set = run.version.question_set
        excluded = [
            verdict
            for verdict in WorkerVerdict.list_exclusion_verdicts(question_set)
            if verdict.run_id == run.pk
        ]
        notes.append(Note("decisions_stay", n=n, out=len(excluded)))
    if AuditItem.objects.filter(audit__run=run).exists():
        notes.append(Note("sample_judged"))
    if LLMResponse.objects.filter(run=run).exists():
        notes.append(Note("replies_stay"))
    return DependentRows(counts, [run.input_hash] if run.input_hash else [], notes=tuple(notes))


def find_set_dependents(question_set: QuestionSet) -> DependentRows:
    """Return the numbers of rows that would be deleted with a question set, and obstacles."""
    of_set = {"submission__version__question_set": question_set}
    runs = Run.objects.filter(version__question_set=question_set).values("pk")
    written = "problem__project__version__question_set"
    remaining = {
        "payments_kept": BonusPayment.objects.filter(**of_set),
        "decisions_kept": Decision.objects.filter(**of_set),
        "writing_kept": WritingEvent.objects.filter(**{written: question_set}),
    }
    counts = count_rows(
        [
            *list_rows_of_set(question_set.pk),
            *_list_decisions(runs),
            ("versions", question_set.versions.all()),
            ("shares", question_set.shares.all()),
            ("webhooks of this set alone", Webhook.objects.filter(question_set=question_set)),
            ("events of webhooks", Event.objects.filter(question_set=question_set)),
            *remaining.items(),
        ]
    )
    counts.setdefault("versions", 0)
    obstacles = tuple(Note(code, n=counts.pop(code)) for code in remaining if code in counts)
    hashes = Run.objects.filter(version__question_set=question_set).exclude(input_hash="")
    notes = tuple(map(Note, ("workers_go_with_set", "models_stay", "downloads_stay")))
    inputs = sorted(set(hashes.values_list("input_hash", flat=True)))
    return DependentRows(counts, inputs, obstacles, notes)


def count_rows(parts: Sequence[tuple[str, QuerySet[Any, Any]]]) -> dict[str, int]:
    """Return the number of rows of each part by label, without zeros, in one query."""
    numbers = load_table_counts({name: TableCounts(rows, (Count("pk"),)) for name, rows in parts})
    return {name: n for name, [(n,)] in numbers.items() if n}


BATCH = 2000
"""Rows of one transaction."""


class ForbiddenRemovalError(ValueError):
    """The object cannot be deleted or undone; `reasons` are sentences."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__(" ".join(reasons))
        self.reasons = reasons


class StepResult(Enum):
    """Result of one step of a deletion: rows are left, all is done, or it waits for a run."""

    SOME = 1
    ALL = 2
    WAITS = 3


Parts = Sequence[tuple[str, QuerySet[Any, Any]]]


class HasPublicId(Protocol):
    """Protocol of objects with a public id, such as a run."""

    pk: Any
    public_id: UUID


def find_request(kind: str, thing: HasPublicId) -> Removal | None:
    """Return the stored request to delete or undo an object; None without one."""
    return Removal.objects.filter(kind=kind, target_id=thing.public_id).first()


def store_request(
    kind: str,
    thing: HasPublicId,
    action: AuditEntry.Action,
    hanging: DependentRows,
    *,
    name: str,
    owner_id: int,
    asked_by: int | None,
    pending: dict[str, Any] | None = None,
) -> Removal:
    """Store a request to delete, undo or erase an object, with an audit entry; return it.

    Call it inside a transaction.
    """
    removal = Removal.objects.create(
        kind=kind,
        target=thing.pk,
        target_id=thing.public_id,
        name=name[:300],
        owner_id=owner_id,
        asked_by_id=asked_by,
        counts=hanging.counts,
        inputs=hanging.inputs,
        pending=pending or {},
        total=hanging.n_rows + 1,
    )
    write_audit_entry(removal, action)
    # Not before the commit: a background process that wakes earlier finds no removal.
    wake_process_on_commit()
    return removal


def write_audit_entry(removal: Removal, action: AuditEntry.Action) -> None:
    """Write an entry about a deletion into the audit log."""
    AuditEntry.objects.create(
        owner_id=removal.owner_id,
        done_by_id=removal.asked_by_id,
        action=action,
        kind=removal.kind,
        object_id=removal.target_id,
        name=removal.name,
        counts=removal.counts,
        inputs=removal.inputs,
    )


def finish_removal(removal: Removal, action: AuditEntry.Action) -> bool:
    """Store that a deletion is finished; return False if another process did so before."""
    ended = Removal.objects.filter(pk=removal.pk, finished_at=None)
    # A conditional update: of two processes only one writes the audit entry.
    if not ended.update(finished_at=timezone.now(), done=F("total"), pending={}):
        return False
    write_audit_entry(removal, action)
    return True


def delete_batch(removal: Removal, parts: Parts) -> bool:
    """Delete a batch of rows of the first part that has any; return False if none has."""
    for _, rows in parts:
        # Django cannot delete a sliced query, so the keys of the batch are read first.
        keys = list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH])
        if keys:
            _delete_rows(rows.model, keys)
            left = F("done") + len(keys)
            # `Least`, because rows may have been added since the count, and the database refuses
            # `done` above `total`.
            Removal.objects.filter(pk=removal.pk).update(done=Least(left, F("total")))
            return True
    return False


def _delete_rows(model: type[Model], keys: list[int]) -> None:
    """Delete rows of a table by primary key, and workers left without data if it is submissions."""
    # The base manager also deletes rows that are otherwise only added.
    rows = model._base_manager.filter(pk__in=keys)
    workers: set[int] = set()
    if model is Submission:
        workers = set(rows.values_list("worker", flat=True))
    rows.delete()
    if workers:
        # Workers with a grade, and erased ones, who must not be invited again, stay with their id.
        Worker.objects.filter(
            ~Exists(WorkerGrade.objects.filter(worker=OuterRef("pk"))),
            ~Exists(WorkerVerdict.objects.filter(worker=OuterRef("pk"))),
            pk__in=workers,
            submissions=None,
            notes=None,
            erased_at=None,
        ).delete()


def is_in_use(versions: Sequence[int] | QuerySet[Any, Any]) -> bool:
    """Return whether a queued or running run uses any of these versions."""
    return Run.objects.filter(version__in=versions, state__in=ACTIVE).exists()


def count_answers_by_run(
    of_response: Q, versions: Sequence[int], since: datetime
) -> dict[int, int]:
    """Return the number of the selected answers that each finished run used, by run.

    `of_response` is the condition on `Response` that selects the answers; `since` is the time of
    the first of them. Gradings store each answer they used; other run types used all answers that
    existed at their start. One query.
    """
    reading = [name for name, kind in list_run_kinds().items() if kind.reads_worker_answers]
    # A run that started before the first of the answers cannot have used them.
    runs = Run.objects.filter(
        version__in=versions, state=Run.State.DONE, kind__in=reading, started_at__gte=since
    )
    answers = Response.objects.filter(
        of_response, state="submitted", status="text", question__role__in=GRADED
    )
    graded = answers.filter(scores__run=OuterRef("pk"))
    there = answers.filter(
        Q(submission__submitted_at__isnull=True)
        | Q(submission__submitted_at__lte=OuterRef("started_at")),
        submission__version=OuterRef("version"),
        created_at__lte=OuterRef("started_at"),
        rejected=False,
    )
    made_of = Case(
        When(kind=GRADING, then=build_group_count(graded, "scores__run")),
        default=build_group_count(there, "submission__version"),
    )
    rows = runs.annotate(made_of=made_of).order_by("pk").values_list("pk", "made_of")
    return {run: n for run, n in rows if n}


def add_withdrawn_counts(n_of: dict[str, int]) -> None:
    """Add numbers of deleted answers to the runs that used them, by run key as text."""
    for key, n in n_of.items():
        Run.objects.filter(pk=int(key)).update(n_withdrawn=F("n_withdrawn") + n)
