"""Tables to download: all questions, passages and answers of a version.

An export declares its columns and yields its rows while they are written; it never holds all rows.
The functions `build_..._export` each return one table of a version: workers' answers (with scores
and grades of a run, if one is given), questions, passages, or models' answers with all samples.
`choose_named_version` and `choose_named_run` return the version and the run that a user names.
Commands write exports to files, pages and the REST API send them, in the formats of
`annotations.exchange.writing.formats`. Imports read every export back, except grades: an export of
imported rows is the same file.

Pages and the REST API pass the user, who gets visible rows only; commands pass None. Pseudonyms
distinguish workers without revealing their ids.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.models import Count, F, FilteredRelation, Q, QuerySet, Sum, Value
from django.db.models.functions import Coalesce, Length
from django.utils.crypto import salted_hmac

from annotations.exchange.facts import (
    ASKING,
    CONTRAST_OF_RUN,
    FACTS,
    OF_MODEL_RUN,
    OF_RUN,
    READ_IN,
    SIGNALS,
    format_json_object,
    format_seconds,
    format_time,
)
from annotations.exchange.header import OF_ANSWERS, OF_MODEL_ANSWERS, OF_PASSAGES, OF_QUESTIONS
from annotations.exchange.reading.questions import OF_PASSAGE, OF_QUESTION
from annotations.exchange.writing.formats import FORMATS, write_table
from annotations.models import (
    GRADED,
    Passage,
    Question,
    QuestionSet,
    QuestionSetVersion,
    Response,
    ScopedQuerySet,
)
from annotations.models.access import AnyUser
from evaluation.models import LLMResponse, Run, WorkerGrade
from evaluation.models.runs import GRADING, choose_official_or_newest

__all__ = [
    "ChoiceError",
    "Export",
    "build_answers_export",
    "build_model_answers_export",
    "build_passages_export",
    "build_questions_export",
    "choose_named_run",
    "choose_named_version",
]


LENGTH = 16
"""Characters, of 5 bits each: among a million workers two are alike once in 2,000,000 sets."""


def build_pseudonym_function(question_set: QuestionSet) -> Callable[[str, str], str]:
    """Return a function from (panel, worker id) to the worker's pseudonym in this question set.

    The same worker has the same one in every export of the set, another one in another set.
    Without this installation's secret key it cannot be computed, not even by trying all ids.
    """
    salt = f"crowdgrade.pseudonym.{question_set.public_id}"

    def name(panel: str, worker: str) -> str:
        # With a separator, or two pairs of panel and worker id could have one digest.
        digest = salted_hmac(salt, f"{panel}\0{worker}", algorithm="sha256").digest()
        return "w-" + base64.b32encode(digest).decode()[:LENGTH].lower()

    return name


AT_ONCE = 2000
"""Rows fetched by one call."""

Row = Sequence[object]


@dataclass(frozen=True)
class Export:
    """A table of a version's data to download.

    Attributes
    ----------
    what : "answers", "model-answers", "questions" or "passages".
    rows : returns a new iterator over the rows with every call.
    n_rows : number of rows; n_characters : total length of their long texts; both for estimates.
    """

    what: str
    version: QuestionSetVersion
    header: tuple[str, ...]
    rows: Callable[[], Iterator[Row]]
    n_rows: int
    n_characters: int

    @property
    def estimated_bytes(self) -> int:
        """Estimated size of the CSV file in bytes: the long texts, and 6 bytes per cell."""
        return self.n_characters + self.n_rows * 6 * len(self.header)

    def iterate_chunks(self, kind: str) -> Iterator[bytes]:
        """Return the chunks of bytes of the table's file in a format of `FORMATS`."""
        return FORMATS[kind](self.header, self.rows())

    def write_file(
        self, path: Path, kind: str, progress: Callable[[str, int, int], None] | None = None
    ) -> int:
        """Write the table to a file, all or nothing; return the number of bytes.

        `progress` is called with `what`, the rows written and their total. Raises `InputError` if
        the file cannot be written, or the format cannot hold a text.
        """
        return write_table(path, kind, self.header, self._iterate_rows(progress))

    def _iterate_rows(self, progress: Callable[[str, int, int], None] | None) -> Iterator[Row]:
        """Yield the rows of the table; report progress after every 2,000 rows and at the end."""
        done = 0
        for done, row in enumerate(self.rows(), 1):
            if progress is not None and done % AT_ONCE == 0:
                progress(self.what, done, max(done, self.n_rows))
            yield row
        if progress is not None:
            progress(self.what, done, done)


def select_visible_rows(user: AnyUser | None, rows: ScopedQuerySet) -> QuerySet:  # type: ignore[type-arg]
    """Return the rows that the user may see; all rows if the user is None (a command)."""
    return rows.all() if user is None else rows.visible_to(user)


FORMAT = 1
"""Value of the column that marks the file: the version of these columns."""

YES = "yes"

OF_SUBMISSION = ("state", "started_at", "last_seen_at", "submitted_at")
OF_WORKER = (
    *("grade", "grade_low", "grade_high", "raw", "raw_low", "raw_high"),
    *("leave_one_out", "weight", "n_answers", "support", "rank", "contrast"),
)
Grades = dict[int, tuple[object, ...]]
UNGRADED = (None,) * len(OF_WORKER)


def build_answers_export(
    version: QuestionSetVersion,
    run: Run | None = None,
    *,
    pseudonyms: bool = False,
    user: AnyUser | None = None,
    checks: bool = False,
) -> Export:
    """Return the table of a version's submitted answers, one row each, in order of arrival.

    Answers to practice and attention questions are in no run, so they have their own file: with
    `checks` these are written, without it all others.

    With a run, each row has the run's score of the answer and grades of the worker, empty if the
    run did not read them. With `pseudonyms`, workers' ids are replaced, and additional imported
    cells (which may hold ids of other panels) are left out.
    """
    rows = select_visible_rows(user, Response.objects.all()).filter(
        submission__version=version, state=Response.State.SUBMITTED
    )
    if checks:
        rows = rows.exclude(question__role__in=GRADED)
    # Only where there are such questions: the filter joins the question of every answer.
    elif version.questions.exclude(role__in=GRADED).exists():
        rows = rows.filter(question__role__in=GRADED)
    size = rows.aggregate(n=Count("pk"), length=Coalesce(Sum(Length("text")), Value(0)))
    header = ("worker", "question", "answer", *FACTS, *(OF_RUN if run else ()), OF_ANSWERS)
    header += SIGNALS + READ_IN + (CONTRAST_OF_RUN if run else ())
    name = build_pseudonym_function(version.question_set) if pseudonyms else None

    def read() -> Iterator[Row]:
        grades = {} if run is None else _load_grades(run)
        for row in _select_answer_columns(rows, run).iterator(AT_ONCE):
            # The 15 columns of `_select_answer_columns` before the signals.
            worker, panel, question, text, status, *facts, extra, worker_key = row[:15]
            first_draft, signals, *counts, language = row[15 : 16 + len(SIGNALS)]
            rejected, started, submitted, seconds, state, *times = facts
            graded: tuple[object, ...] = ()
            contrasts: tuple[object, ...] = ()
            if run is not None:
                *of_worker, contrast = grades.get(worker_key, UNGRADED)
                graded = (str(run.public_id), *row[-3:-1], *of_worker)
                contrasts = (row[-1], contrast)
            yield (
                name(panel, worker) if name else worker,
                question,
                text,
                panel,
                status,
                YES if rejected else None,
                format_time(started),
                format_time(submitted),
                format_seconds(seconds),
                state,
                *map(format_time, times),
                None if name else format_json_object(extra),
                *graded,
                FORMAT,
                format_time(first_draft),
                signals or None,
                *counts,
                language or None,
                *contrasts,
            )

    return Export(
        "checks" if checks else "answers", version, header, read, size["n"], size["length"]
    )


def _select_answer_columns(rows: QuerySet[Response], run: Run | None) -> QuerySet[Response, Any]:
    """Return the answers as tuples of the export's columns; with a run, also their scores."""
    columns = [
        *("submission__worker__external_id", "submission__worker__panel"),
        *("question__external_id", "text", "status"),
        *("rejected", "started_at", "submitted_at", "work_seconds"),
        *(f"submission__{name}" for name in OF_SUBMISSION),
        *("extra", "submission__worker_id"),
        *SIGNALS,
        *READ_IN,
    ]
    if run is not None:
        # Not a filter on scores__run, which would drop the answers without a score in this run.
        rows = rows.annotate(of_run=FilteredRelation("scores", condition=Q(scores__run=run)))
        columns += ["of_run__score", "of_run__score_leave_one_out", "of_run__contrast"]
    return rows.order_by("pk").values_list(*map(F, columns))


def _load_grades(run: Run) -> Grades:
    """Return each worker's grades in a run, as cells of `OF_WORKER`, by worker key."""
    rows = WorkerGrade.objects.filter(run=run).values_list("worker_id", *OF_WORKER)
    support = OF_WORKER.index("support")
    return {
        worker: (
            *values[:support],
            "ok" if values[support] else "too_few",
            *values[support + 1 :],
        )
        for worker, *values in rows.iterator(AT_ONCE)
    }


LATEST, RECORD = "latest", "record"


CHOICE_SENTENCES: Mapping[str, str] = {
    "set_empty": "{question_set} is empty: import questions or answers first",
    "no_version": "{question_set} has no version {number}; there is: {known}",
    "no_done_run": "{version} has no run that is done: grade it first",
    "no_run": "{question_set} has no run {wanted}: its page lists them, and 'latest' means the "
    "last one that is done, 'record' the one that counts",
    "run_of_another": "the run is of {other}, not of {version}",
    "run_without_results": "the run is {state} and has no results",
}
"""Message of each `ChoiceError`, by its code."""


class ChoiceError(ValueError):
    """Error: a version or run that the user names does not exist or has no results."""

    def __init__(self, code: str, **values: object) -> None:
        super().__init__(CHOICE_SENTENCES[code].format_map(values))
        self.code, self.values = code, values


def choose_named_version(
    question_set: QuestionSet, number: int | None = None, *, answered: bool = False
) -> QuestionSetVersion:
    """Return the version with a number, by default the set's default one. Raises `ChoiceError`."""
    if number is None:
        result = question_set.get_default_version(answered=answered)
        if result is None:
            raise ChoiceError("set_empty", question_set=question_set)
        return result
    result = question_set.versions.filter(number=number).first()
    if result is None:
        numbers = question_set.versions.order_by("number").values_list("number", flat=True)
        listed = ", ".join(map(str, numbers)) or "none"
        raise ChoiceError("no_version", question_set=question_set, number=number, known=listed)
    return result


def choose_named_run(version: QuestionSetVersion, wanted: str, user: AnyUser | None = None) -> Run:
    """Return the version's run with an id, or for "latest" the latest finished one.

    "record" selects the official run, or the latest if no run of the version is official.
    Raises `ChoiceError` if there is none, or if the run is of another version or has no results.
    """
    runs = select_visible_rows(user, Run.objects.all()).filter(
        version__question_set=version.question_set_id
    )
    runs = runs.select_related("version__question_set")
    if wanted in (LATEST, RECORD):
        done = runs.filter(version=version, kind=GRADING, state=Run.State.DONE, archived_at=None)
        latest = (
            choose_official_or_newest(done) if wanted == RECORD else done.order_by("-pk").first()
        )
        if latest is None:
            raise ChoiceError("no_done_run", version=version)
        return latest
    try:
        run = runs.get(public_id=UUID(wanted))
    except (ValueError, Run.DoesNotExist):
        named = {"question_set": version.question_set, "wanted": wanted[:40]}
        raise ChoiceError("no_run", **named) from None
    if run.version_id != version.pk:
        raise ChoiceError("run_of_another", other=run.version, version=version)
    if run.state != Run.State.DONE:
        raise ChoiceError("run_without_results", state=run.get_state_display())
    return run


ANSWERABLE = {None: None, True: "yes", False: "no"}


def build_questions_export(version: QuestionSetVersion, user: AnyUser | None = None) -> Export:
    """Return the table of a version's questions, one row each, in their order."""
    rows = select_visible_rows(user, Question.objects.all()).filter(version=version)
    columns = (
        *("external_id", "text", "passage__external_id", "kind", "choices"),
        *("accepted_answers", "answerable", "category", "language"),
        *("role", "feedback", "max_characters", "metadata"),
    )
    header: tuple[str, ...] = ("question", "text", "passage", *columns[3:], OF_QUESTIONS)
    header += _list_translated_columns(version, OF_QUESTION)

    def read() -> Iterator[Row]:
        translations = _read_translations(version, "question_id")
        columns_read = rows.order_by("position", "pk").values_list("pk", *columns)
        for (
            key,
            name,
            text,
            passage,
            kind,
            choices,
            accepted,
            answerable,
            *about,
        ) in columns_read.iterator(AT_ONCE):
            *about, metadata = about
            yield (
                *(name, text, passage, kind, _encode_list(choices), _encode_list(accepted)),
                *(ANSWERABLE[answerable], *about, format_json_object(metadata), FORMAT),
                *_iterate_translated_cells(version, OF_QUESTION, translations.get(key, {})),
            )

    return Export("questions", version, header, read, *_measure_size(rows))


def build_passages_export(version: QuestionSetVersion, user: AnyUser | None = None) -> Export:
    """Return the table of a version's passages, one row each; an image by its description."""
    rows = select_visible_rows(user, Passage.objects.all()).filter(version=version)
    beside = ("language", "format", "image_alt")
    header: tuple[str, ...] = ("passage", "title", "text", *beside, "metadata", OF_PASSAGES)
    header += _list_translated_columns(version, OF_PASSAGE)

    def read() -> Iterator[Row]:
        columns = ("pk", "external_id", "title", "text", *beside, "metadata")
        translations = _read_translations(version, "passage_id")
        columns_read = rows.order_by("position", "pk").values_list(*columns)
        for key, *cells, metadata in columns_read.iterator(100):
            more = _iterate_translated_cells(version, OF_PASSAGE, translations.get(key, {}))
            yield (*cells, format_json_object(metadata), FORMAT, *more)

    return Export("passages", version, header, read, *_measure_size(rows))


def _list_translated_columns(
    version: QuestionSetVersion, names: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the names of the columns for further languages, such as text.ar; () for none."""
    return tuple(f"{name}.{language}" for language in version.languages for name in names)


def _read_translations(
    version: QuestionSetVersion, field: str
) -> dict[int, dict[str, dict[str, Any]]]:
    """Return a version's translated texts, by item key, then language, then column name."""
    result: dict[int, dict[str, dict[str, Any]]] = {}
    rows = version.translations.filter(**{f"{field}__isnull": False}) if version.languages else []
    for row in rows:
        result.setdefault(getattr(row, field), {})[row.language] = row.texts
    return result


def _iterate_translated_cells(
    version: QuestionSetVersion, names: tuple[str, ...], translations: dict[str, dict[str, Any]]
) -> Iterator[str | None]:
    """Yield an item's texts in the further languages, in the order of the columns."""
    for language in version.languages:
        for name in names:
            text = translations.get(language, {}).get(name)
            yield _encode_list(text) if isinstance(text, list) else text or None


def _measure_size(rows: Any) -> tuple[int, int]:
    """Return the number of rows, and the total length of their texts in characters."""
    totals = rows.aggregate(n=Count("pk"), length=Coalesce(Sum(Length("text")), Value(0)))
    return totals["n"], totals["length"]


def _encode_list(values: list[Any]) -> str | None:
    """Return a list as JSON text; None if it is empty."""
    return json.dumps(values, ensure_ascii=False) if values else None


def build_model_answers_export(
    version: QuestionSetVersion, run: Run | None = None, user: AnyUser | None = None
) -> Export:
    """Return the table of a version's model answers; with a run, also the score of each."""
    rows = select_visible_rows(user, LLMResponse.objects.all()).filter(question__version=version)
    size = rows.aggregate(
        n=Count("pk"), length=Coalesce(Sum(Length("text") + Length("prompt")), Value(0))
    )
    header = (
        *("model", "question", "answer", "status", *ASKING),
        *(OF_MODEL_RUN if run else ()),
        OF_MODEL_ANSWERS,
    )
    columns = ["model__name", "question__external_id", "text", "status", "sample"]
    columns += ["finish_reason", "prompt", "parameters", "extra"]

    def read() -> Iterator[Row]:
        selected, names = rows, list(columns)
        if run is not None:
            # As for workers' answers: those without a score stay in the table.
            of_run = FilteredRelation("scores", condition=Q(scores__run=run))
            selected = rows.annotate(of_run=of_run)
            names += ["of_run__score", "of_run__reason"]
        values = selected.order_by("asked_at", "pk").values_list(*map(F, names))
        for *cells, parameters, extra, score, reason in (
            row if run else (*row, None, None) for row in values.iterator(AT_ONCE)
        ):
            graded = (str(run.public_id), score, reason) if run else ()
            yield (
                *cells,
                format_json_object(parameters),
                format_json_object(extra),
                *graded,
                FORMAT,
            )

    return Export("model-answers", version, header, read, size["n"], size["length"])
