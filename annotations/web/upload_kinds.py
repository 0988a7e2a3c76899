"""Kinds of files that can be uploaded into a question set, with their readers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from annotations.exchange.header import ColumnNames
from annotations.exchange.importing import (
    ImportReport,
    import_answers,
    import_mturk,
    import_passages,
    import_questions,
)
from annotations.exchange.importing.answers import stage_answers, store_staged_answers
from annotations.exchange.importing.demographics import import_demographics
from annotations.exchange.importing.mturk import StagedBatch, stage_batch, store_batch
from annotations.exchange.importing.stage import Stage
from annotations.exchange.importing.survey_exports import (
    StagedSurveyExport,
    import_survey_export,
    stage_uploaded_export,
    store_uploaded_export,
)
from annotations.exchange.reading.mturk import PANEL
from annotations.exchange.reading.questions import QuestionColumns
from annotations.exchange.samples import find_sample_file


class UploadReport(Protocol):
    """Protocol of what upload pages need of an import's report: its changes and values."""

    @property
    def changed(self) -> bool:
        """Whether the import stored anything new."""

    def as_dict(self) -> dict[str, Any]:
        """Return the report's values for the upload's page."""

    def lines(self) -> Iterator[str]:
        """Yield the lines of the report for a terminal."""


@dataclass(frozen=True)
class StagedImport:
    """Functions that parse a kind of file into rows, and store the rows after confirmation.

    `read` takes the file, `columns` and the named `options`, and returns a stage of `kind`. `store`
    takes the set, the stage, `dry_run` and the other options.
    """

    kind: type[Stage]
    read: Callable[..., Stage]
    store: Callable[..., ImportReport]
    options: tuple[str, ...]


@dataclass(frozen=True)
class UploadKind:
    """A kind of file that can be uploaded: texts, options and import function.

    Attributes
    ----------
    columns_example : an example of a column mapping; empty if the columns have fixed names.
    load : takes the set, the file, `columns` (with a mapping), `dry_run` and the `options`.
    initial : the initial values of the options.
    stage : for files that may be large.
    names_questions : rows name questions of the set by id, so the page lists these ids.
    knows_who : `load` takes the importing user as `imported_by`.
    return_link : page of the set to return to, and the label of its link.
    brings_questions : the file can begin a version, and so can be uploaded into a new set.
    accept : the extensions of the files, unless they are tables.
    """

    slug: str
    title: str
    explanation: str
    example: str
    columns_example: str
    parse_columns: Callable[[str], Any]
    load: Callable[..., UploadReport]
    options: tuple[str, ...] = ()
    initial: dict[str, str] = field(default_factory=dict)
    stage: StagedImport | None = None
    names_questions: bool = False
    knows_who: bool = False
    return_link: tuple[str, str] = ("admin:question-set", "To the question set")
    brings_questions: bool = False
    accept: str = ""

    @property
    def sample(self) -> str:
        """Static path of a sample file; "" without one."""
        return find_sample_file(self.slug)


KINDS: dict[str, UploadKind] = {}

DEMOGRAPHICS = "demographics"
"""The kind of a demographic export, which the import of answers recognises."""
WIZARD = "import"
"""The kind of file whose columns are mapped on a page of its own."""
CHOICES = (
    *("preset", "mapping", "panel", "duplicates", "duplicates_of", "question_template"),
    *("arrangement", "keep_unfinished", "keep_html", "keep_ids", "create_questions"),
    "update_flags",
)
"""The options of that page."""
STORING = ("create_questions", "update_flags")
"""The options about storing rows, not about reading the file."""


def register_upload_kind(kind: UploadKind) -> None:
    """Add a kind of file to those that can be uploaded."""
    KINDS[kind.slug] = kind


register_upload_kind(
    UploadKind(
        "questions",
        "questions",
        "One row for each question: its id and its text. Further columns may be passage, kind, "
        "choices, accepted_answers, answerable, category and language.",
        "question,text,passage\nq1,Why do leaves turn red in autumn?,p1",
        "question=Item,text=Wording",
        QuestionColumns.parse,
        import_questions,
        knows_who=True,
        brings_questions=True,
    )
)
register_upload_kind(
    UploadKind(
        "passages",
        "passages",
        "One row for each passage that questions are asked about: its id and its text. "
        "Upload passages before the questions that name them.",
        "passage,title,text\np1,Autumn,In autumn the days grow shorter ...",
        "passage=Item,text=Body",
        QuestionColumns.parse,
        import_passages,
        knows_who=True,
    )
)
register_upload_kind(
    UploadKind(
        "answers",
        "answers",
        "One row for each answer: worker, question and the answer. "
        "Without an answer the row counts as not answered.",
        "worker,question,answer\nw1,q1,Because the green pigment breaks down.",
        'worker=WorkerId,question=Item,answer="Free text"',
        ColumnNames.parse,
        import_answers,
        ("panel", "duplicates", "create_questions", "update_flags"),
        stage=StagedImport(Stage, stage_answers, store_staged_answers, ("panel", "duplicates")),
    )
)
register_upload_kind(
    UploadKind(
        "import",
        "answers",
        "",
        "",
        "",
        ColumnNames.parse,
        import_survey_export,
        CHOICES,
        # `STORING` are the last of the choices: all others are options of reading.
        stage=StagedImport(
            StagedSurveyExport,
            stage_uploaded_export,
            store_uploaded_export,
            CHOICES[: -len(STORING)],
        ),
    )
)
register_upload_kind(
    UploadKind(
        DEMOGRAPHICS,
        "demographic data",
        "",
        "",
        "",
        ColumnNames.parse,
        import_demographics,
        ("mapping", "statuses", "arrangement", "keep_ids"),
        knows_who=True,
    )
)
register_upload_kind(
    UploadKind(
        "mturk",
        "Mechanical Turk results",
        "The results of a batch as Mechanical Turk offers them for download: one row for each "
        "assignment. Every Answer column of a HIT becomes a question. Answers of rejected "
        "assignments are flagged, and left out of gradings.",
        "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.sentence,Answer.translation\n"
        "3XQ...,31A...,A2F...,Approved,Guten Tag,Good day",
        "",
        ColumnNames.parse,
        import_mturk,
        ("panel", "question_template", "duplicates", "update_flags"),
        {"panel": PANEL},
        StagedImport(
            StagedBatch, stage_batch, store_batch, ("panel", "question_template", "duplicates")
        ),
    )
)
