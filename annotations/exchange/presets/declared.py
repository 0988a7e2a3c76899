"""The exports that are known: how each is recognised, and what its columns say.

A preset proposes a mapping; whoever reads the file may change it. The order matters: a file is of
the first one that recognises it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Mapping as Dict
from dataclasses import dataclass, field

from annotations.exchange.presets.mapping import Mapping
from annotations.exchange.presets.table import Head
from annotations.exchange.presets.tools import CANCELLED, cell_of
from annotations.exchange.reading import mturk
from annotations.exchange.reading.mturk_columns import ANSWER

WORKERS = (
    *("PROLIFIC_PID", "Prolific ID", "prolific_participant_id", "participant id", "participant"),
    *("worker", "worker id", "annotator", "annotator id", "rater", "user", "user id", "username"),
    *("subject", "subject id", "respondent", "respondent id", "Response ID", "pid", "id", "name"),
    *("Email Address", "email", "student"),
)
QUESTIONS = (
    *("question", "question id", "item", "item id", "task", "task id", "prompt", "prompt id"),
    *("sentence", "sentence id", "instance id", "stimulus", "q"),
)
ANSWERS = (
    *("answer", "response", "worker answer", "free text", "text answer", "translation", "reply"),
    *("explanation", "comment", "text"),
)
IDS = ("prolificid", "prolificpid", "participantid", "workerid", "mturkid", "respondentid")
"""Parts of a question that asks for an id, in small letters and without spaces."""
TIMES = ("Timestamp", "Start time", "Completion time", "Started", "Submitted", "Date")
OF_PANEL = ("PROLIFIC_PID", "Prolific ID", "prolific_id", "prolific_participant_id")

QUALTRICS = (
    *("StartDate", "EndDate", "Status", "IPAddress", "Progress", "Duration (in seconds)"),
    *("Finished", "RecordedDate", "ResponseId", "RecipientLastName", "RecipientFirstName"),
    *("RecipientEmail", "ExternalReference", "LocationLatitude", "LocationLongitude"),
    *("DistributionChannel", "UserLanguage"),
)
PRIVATE = (
    *("IPAddress", "RecipientLastName", "RecipientFirstName", "RecipientEmail"),
    *("LocationLatitude", "LocationLongitude", "Email Address", "email"),
)
"""Columns that say who or where somebody is: they are left out, unless they are mapped."""

# Response types of Qualtrics that nobody answered in earnest, as words and as codes.
PREVIEWS = (
    *("survey preview", "survey test", "spam preview", "offline preview", "survey preview (spam)"),
    *("1", "2", "9", "17"),
)
TRIED = "survey previews and tests"
PANEL_STATUSES = {"returned": "returned submissions", "timed-out": "submissions that timed out"}
SUBMISSIONS = ("Submission id", "Participant id", "Status")

# A column whose cells have so many words on average is taken for free text.
WORDS = 2.5
Row = Dict[str, str]


@dataclass(frozen=True, slots=True)
class Times:
    """Columns of when an answer was begun, when it was sent, and how many seconds it took."""

    started: str = ""
    submitted: str = ""
    seconds: str = ""


@dataclass(frozen=True, slots=True)
class Preset:
    """One kind of export.

    Attributes
    ----------
    slug, title : what commands and pages call it. how : how the file is got there.
    recognises : whether the beginning of a file is of it. propose : its mapping.
    panel : where the workers' ids come from. cell : what a cell of an answer says.
    left_out : why a row is no answer, "" if it is one. rejected : whether it was refused where it
    was collected, None where nobody said. times, private : columns, where the file has them.
    """

    slug: str
    title: str
    how: str
    recognises: Callable[[Head], bool]
    propose: Callable[[Head], Mapping]
    panel: Callable[[Mapping], str] = field(default=lambda mapping: "")
    cell: Callable[[str], str] = str
    left_out: Callable[[Row], str] = field(default=lambda row: "")
    rejected: Callable[[Row], bool | None] = field(default=lambda row: None)
    times: Times = Times()
    private: Sequence[str] = PRIVATE


def free_text(head: Head, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns whose cells read like written answers; all of them where none does."""
    found = []
    for column in columns:
        values = head.values(column)
        words = sum(len(value.split()) for value in values)
        # What everybody ticked alike, such as a consent, is no answer.
        differ = len(set(values)) > 1 or len(values) == 1
        if values and words >= WORDS * len(values) and differ:
            found.append(column)
    filled = [column for column in columns if head.values(column)]
    return tuple(found or filled or columns)


def _worker(head: Head) -> str:
    """The column called so, else a question for an id, else the first that holds no times."""
    found = head.named(*WORKERS) or head.like(*IDS)
    times = {head.named(name) for name in TIMES}
    return found or next((name for name in head.header if name not in times), "")


def _panel(mapping: Mapping) -> str:
    return "Prolific" if "prolific" in mapping.worker.casefold() else ""


def _long(head: Head) -> Mapping:
    worker = _worker(head)
    question = head.named(*(name for name in QUESTIONS)) or next(
        (name for name in head.header if name != worker), ""
    )
    answer = head.named(*ANSWERS)
    if not answer or answer in (worker, question):
        rest = [name for name in head.header if name not in (worker, question)]
        answer = next(iter(free_text(head, rest)), "")
    return Mapping(worker, question, (answer,) if answer else ())


def _wide(head: Head) -> Mapping:
    worker = _worker(head)
    known = {worker, *PRIVATE, *(head.named(name) for name in TIMES), *_of_panel(head)}
    return Mapping(worker, "", free_text(head, [name for name in head.header if name not in known]))


def _of_panel(head: Head) -> set[str]:
    more = ("STUDY_ID", "SESSION_ID", "Submission id", "Completion code", "Status")
    return {head.named(name) for name in (*OF_PANEL, *more)}


def _qualtrics(head: Head) -> Mapping:
    worker = head.named(*OF_PANEL, "workerId", "ExternalReference", "ResponseId")
    if worker == "ExternalReference" and not head.values(worker):
        worker = head.named("ResponseId")
    known = {worker, *QUALTRICS, *_of_panel(head)}
    rest = [
        name
        for name in head.header
        # Times of pages, orders of display and scores stand in columns of such names.
        if name not in known
        and not name.endswith(("_DO", "_First Click", "_Last Click"))
        and not name.endswith(("_Page Submit", "_Click Count"))
        and not name.startswith("SC0")
    ]
    return Mapping(worker, "", free_text(head, rest))


def _is_qualtrics(head: Head) -> bool:
    return bool(head.wordings) or {"StartDate", "RecordedDate", "ResponseId"} <= set(head.header)


def _tried(row: Row) -> str:
    of_preview = row.get("DistributionChannel", "").strip().casefold() == "preview"
    return TRIED if of_preview or row.get("Status", "").strip().casefold() in PREVIEWS else ""


def _left_of_panel(row: Row) -> str:
    return PANEL_STATUSES.get(row.get("Status", "").strip().casefold(), "")


def _rejected_of_panel(row: Row) -> bool | None:
    status = row.get("Status", "").strip().casefold()
    return None if not status else status == mturk.REJECTED


def _label_studio(head: Head) -> Mapping:
    known = ("annotator", "annotation_id", "id", "created_at", "updated_at", "lead_time", CANCELLED)
    rest = [name for name in head.header if name not in known]
    # What a task shows is the same in all of its annotations; what is answered, is not.
    of_task = [name for name in rest if _hangs_on(head, "id", name)]
    fields = [name for name in rest if name not in of_task] or rest
    texts = [name for name in of_task if head.values(name)]
    return Mapping("annotator", "id", free_text(head, fields), texts[0] if texts else "")


def _hangs_on(head: Head, key: str, column: str) -> bool:
    """Whether a column has one value for each key, at least one of which stands there twice."""
    at, of = head.header.index(key), head.header.index(column)
    first: dict[str, str] = {}
    for row in head.rows:
        if first.setdefault(row[at], row[of]) != row[of]:
            return False
    return len(first) < len(head.rows)


def _potato(head: Head) -> Mapping:
    worker = head.named("user", "user_id", "username", "annotator")
    labels = [name for name in head.header if ":::" in name]
    boxes = [name for name in labels if name.partition(":::")[2].startswith("text_box")]
    text = head.named("displayed_text", "text")
    answers = tuple(boxes) or free_text(head, labels)
    return Mapping(worker, head.named("instance_id", "id"), answers, text)


def _mturk(head: Head) -> Mapping:
    answers = tuple(name for name in head.header if name.startswith(ANSWER))
    return Mapping("WorkerId", "HITId", answers)


def _is_survey_of_panel(head: Head) -> bool:
    asked = head.named(*OF_PANEL) or head.like("prolificid", "prolificpid")
    return bool(asked) or is_list_of_submissions(head)


def is_list_of_submissions(head: Head) -> bool:
    """Whether this is Prolific's own export, which knows who took part and not what they said."""
    return all(name in head.header for name in SUBMISSIONS)


PRESETS = {
    preset.slug: preset
    for preset in (
        Preset(
            "own",
            "A table with the columns worker, question and answer",
            "Our own form, and what Crowdgrade exports.",
            lambda head: {"worker", "question", "answer"} <= set(head.header),
            lambda head: Mapping("worker", "question", ("answer",)),
            private=(),
        ),
        Preset(
            "mturk",
            "Mechanical Turk: results of a batch",
            "On the page of the batch: Review Results, then Download CSV.",
            lambda head: {"HITId", "WorkerId"} <= set(head.header),
            _mturk,
            panel=lambda mapping: mturk.PANEL,
        ),
        Preset(
            "qualtrics",
            "Qualtrics: a survey's responses",
            "Data & Analysis, Export & Import, Export Data: CSV or TSV, answers as choice text.",
            _is_qualtrics,
            _qualtrics,
            panel=_panel,
            left_out=_tried,
            times=Times("StartDate", "EndDate", "Duration (in seconds)"),
        ),
        Preset(
            "label-studio",
            "Label Studio: JSON, JSON-MIN or CSV",
            "On the page of the project: Export.",
            lambda head: {"annotator", "annotation_id"} <= set(head.header),
            _label_studio,
            cell=cell_of,
            left_out=lambda row: "skipped annotations" if row.get(CANCELLED) == "true" else "",
            times=Times("", "created_at", "lead_time"),
        ),
        Preset(
            "potato",
            "Potato: annotated instances as TSV, CSV or JSON Lines",
            "annotated_instances in the folder annotation_output.",
            lambda head: (
                any(":::" in name for name in head.header) and bool(head.named("instance_id", "id"))
            ),
            _potato,
        ),
        Preset(
            "prolific",
            "Prolific: a survey with the column PROLIFIC_PID",
            "The file of the survey tool, in which Prolific's ids were recorded.",
            _is_survey_of_panel,
            _wide,
            panel=_panel,
            left_out=_left_of_panel,
            rejected=_rejected_of_panel,
        ),
        Preset(
            "long",
            "A spreadsheet with a row for each answer",
            "Columns for the worker, the question and the answer.",
            lambda head: (
                bool(head.named(*WORKERS))
                and bool(head.named(*QUESTIONS))
                and bool(head.named(*ANSWERS))
            ),
            _long,
            panel=_panel,
        ),
        Preset(
            "wide",
            "A spreadsheet with a row for each worker and a column for each question",
            "The first row names the questions, one column the workers.",
            lambda head: len(head.header) > 1,
            _wide,
            panel=_panel,
        ),
    )
}


def recognised(head: Head) -> Preset:
    """The preset that a file is most likely of; a wide spreadsheet, if no other."""
    found = (preset for preset in PRESETS.values() if preset.recognises(head))
    return next(found, PRESETS["wide"])
