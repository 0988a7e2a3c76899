"""Find what depends on a question set or run, and what prevents its deletion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, QuerySet

from annotations.models import (
    BonusPayment,
    Decision,
    PanelRow,
    Question,
    QuestionSet,
    Response,
    Submission,
    Translation,
    WritingEvent,
)
from annotations.web.numbers import TableCounts, read_numbers
from evaluation.deletion.storage.notes import Note
from evaluation.models import (
    Alarm,
    AlarmReview,
    AnswerFact,
    AnswerScore,
    Audit,
    AuditItem,
    CrowdFact,
    ExemplaryAnswer,
    Exhibit,
    HumanJudgement,
    JudgementRequest,
    LLMAnswerScore,
    LLMResponse,
    Run,
    RunData,
    WorkerGrade,
    WorkerVerdict,
)


@dataclass(frozen=True)
class Hanging:
    """Rows that would be deleted with an object, and reasons that prevent it.

    Attributes
    ----------
    counts : how many of what, in the words of people. rows : all of them, for the progress.
    obstacles : why it cannot be deleted; () if it can. notes : what else is to be known. Both are
        of `Note`. inputs : hashes of the runs.
    """

    counts: dict[str, int]
    inputs: list[str]
    obstacles: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def rows(self) -> int:
        """Total number of rows that would be deleted."""
        return sum(self.counts.values())

    @property
    def can_go(self) -> bool:
        """Whether nothing prevents the deletion."""
        return not self.obstacles


def parts_of_run(runs: Any) -> list[tuple[str, QuerySet[Any, Any]]]:
    """Return the named rows that depend on some runs, in a valid order of deletion."""
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


def parts_of_set(question_set: int) -> list[tuple[str, QuerySet[Any, Any]]]:
    """Return the named rows that depend on a set, its runs' first, in a valid deletion order."""
    version = "version__question_set"
    runs = Run.objects.filter(**{version: question_set}).values("pk")
    answer, question = f"submission__{version}", f"question__{version}"
    return [
        *parts_of_run(runs),
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


def _of_people(runs: Any) -> list[tuple[str, QuerySet[Any, Any]]]:
    """Return users' decisions and requests on runs, which are deleted last and not in batches."""
    return [
        ("samples for experts", Audit.objects.filter(run__in=runs)),
        ("answers in samples for experts", AuditItem.objects.filter(audit__run__in=runs)),
        ("notes on alarms", AlarmReview.objects.filter(alarm__run__in=runs)),
    ]


def hanging_on_run(run: Run) -> Hanging:
    """Return what would be deleted with a run."""
    counts = counted([*parts_of_run([run.pk]), *_of_people([run.pk])])
    notes = []
    if getattr(run, "of_record", None) is not None:
        notes.append(Note("run_of_record"))
    if n := WorkerVerdict.objects.filter(run=run).count():
        question_set = run.version.question_set
        excluded = [one for one in WorkerVerdict.excluding(question_set) if one.run_id == run.pk]
        notes.append(Note("decisions_stay", n=n, out=len(excluded)))
    if AuditItem.objects.filter(audit__run=run).exists():
        notes.append(Note("sample_judged"))
    if LLMResponse.objects.filter(run=run).exists():
        notes.append(Note("replies_stay"))
    return Hanging(counts, [run.input_hash] if run.input_hash else [], notes=tuple(notes))


def hanging_on_set(question_set: QuestionSet) -> Hanging:
    """Return what would be deleted with a question set, and what prevents it."""
    of_set = {"submission__version__question_set": question_set}
    runs = Run.objects.filter(version__question_set=question_set).values("pk")
    written = "problem__project__version__question_set"
    kept = {
        "payments_kept": BonusPayment.objects.filter(**of_set),
        "decisions_kept": Decision.objects.filter(**of_set),
        "writing_kept": WritingEvent.objects.filter(**{written: question_set}),
    }
    counts = counted(
        [
            *parts_of_set(question_set.pk),
            *_of_people(runs),
            ("versions", question_set.versions.all()),
            ("shares", question_set.shares.all()),
            *kept.items(),
        ]
    )
    counts.setdefault("versions", 0)
    obstacles = tuple(Note(code, n=counts.pop(code)) for code in kept if code in counts)
    hashes = Run.objects.filter(version__question_set=question_set).exclude(input_hash="")
    notes = tuple(map(Note, ("workers_go_with_set", "models_stay", "downloads_stay")))
    inputs = sorted(set(hashes.values_list("input_hash", flat=True)))
    return Hanging(counts, inputs, obstacles, notes)


def counted(parts: Sequence[tuple[str, QuerySet[Any, Any]]]) -> dict[str, int]:
    """Return the non-zero numbers of rows by name; one query."""
    found = read_numbers({name: TableCounts(rows, (Count("pk"),)) for name, rows in parts})
    return {name: n for name, [(n,)] in found.items() if n}
