"""Presets of the known kinds of exports: how to recognise each, and what its columns hold.

A preset proposes a mapping; whoever reads the file may change it. The order matters: a file is of
the first one that recognises it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from annotations.exchange.presets import experiments, otree
from annotations.exchange.presets.cells import (
    MOST,
    SENTENCE_WORDS,
    compute_mean_words,
    holds_for_most,
    is_number,
    is_panel_id,
)
from annotations.exchange.presets.columns import (
    are_ticked_options,
    find_answer_columns,
    find_columns_of_long_table,
    find_question_text_column,
    find_worker_column,
    is_constant_by_question,
)
from annotations.exchange.presets.known_names import ANSWERS, OF_PANEL, QUESTIONS
from annotations.exchange.presets.mapping import Mapping
from annotations.exchange.presets.preset import Preset, Row, TimeColumns, get_named_cell
from annotations.exchange.presets.survey_tools import TOOLS
from annotations.exchange.presets.table import Head
from annotations.exchange.presets.tools import CANCELLED, read_label_studio_cell
from annotations.exchange.prolific import normalise_status, recognise_status
from annotations.exchange.reading import mturk
from annotations.exchange.reading.mturk_columns import ANSWER, restore_spelling

QUALTRICS = (
    *("StartDate", "EndDate", "Status", "IPAddress", "Progress", "Duration (in seconds)"),
    *("Finished", "RecordedDate", "ResponseId", "RecipientLastName", "RecipientFirstName"),
    *("RecipientEmail", "ExternalReference", "LocationLatitude", "LocationLongitude"),
    *("DistributionChannel", "UserLanguage"),
)
LEGACY = (
    *("ResponseID", "ResponseSet", "Name", "ExternalDataReference", "EmailAddress", "IPAddress"),
    *("LocationAccuracy", "EndDate", "Finished"),
)
"""Labels of Qualtrics' columns V1 to V10 in its older exports."""

# Response types of Qualtrics that nobody answered in earnest, as words and as codes.
PREVIEWS = (
    *("survey preview", "survey test", "spam preview", "offline preview", "survey preview (spam)"),
    *("1", "2", "9", "17"),
)
TRIED = "survey previews and tests"
SPAM_STATUSES = (
    *("spam", "possible spam", "imported spam", "imported (spam)", "ex spam", "offline spam"),
    *("8", "12", "40", "24"),
)
SPAM = "responses that Qualtrics marked as spam"
NOT_FINISHED = ("false", "0", "no", "falsch", "nein", "faux", "non", "falso", "onwaar", "fałsz")
"""Values of the column Finished, also as a spreadsheet writes them in its language."""
ALL_OF_IT = 100
"""Percents of the survey that who finished it has seen."""
PANEL_STATUSES = {"returned": "returned submissions", "timed-out": "submissions that timed out"}
_PANEL_STATUSES = {normalise_status(status): reason for status, reason in PANEL_STATUSES.items()}
SUBMISSION = ("Submission id", "session_id")
PARTICIPANT = ("Participant id", *OF_PANEL)
OF_SUBMISSIONS = (
    *("Started at", "started_datetime", "Completed at", "completed_date_time", "Reviewed at"),
    *("reviewed_at_datetime", "Archived at", "Time taken", "Completion code", "entered_code"),
    *("Total approvals", "num_approvals", "num_rejections", "prolific_score"),
)
FEWEST_OF_SUBMISSIONS = 2
"""Columns of its own, beside ids and status, by which Prolific's list is known."""


def _get_worker_panel(mapping: Mapping) -> str:
    """Return "Prolific" if the worker column is named after it, else ""."""
    return "Prolific" if "prolific" in mapping.worker.casefold() else ""


def _propose_long_mapping(head: Head) -> Mapping:
    """Return the column mapping of a table with one answer per row."""
    worker, question, answer, wording = find_columns_of_long_table(head)
    return Mapping(worker, question, (answer,) if answer else (), wording)


def _propose_wide_mapping(head: Head) -> Mapping:
    """Return the column mapping of a table with one worker per row."""
    worker = find_worker_column(head)
    known = {worker, *_find_panel_columns(head)}
    return Mapping(
        worker, "", find_answer_columns(head, [name for name in head.header if name not in known])
    )


def _find_panel_columns(head: Head) -> set[str]:
    """Return the columns that a panel adds, such as ids and status; "" for absent ones."""
    more = ("STUDY_ID", "SESSION_ID", "Submission id", "Completion code", "Status")
    return {head.find_column(name) for name in (*OF_PANEL, *more)}


def _propose_qualtrics_mapping(head: Head) -> Mapping:
    """Return the column mapping of a Qualtrics export."""
    panel, named = (*OF_PANEL, "workerId"), ("ExternalReference", "ExternalDataReference")
    # By how surely they name a person: a response id names only what one person sent.
    order = [name for name in map(head.find_column, panel) if name]
    order += [name for name in head.wordings if _asks_for_panel_id(head, name)]
    order += [name for name in map(head.find_column, (*named, "ResponseId")) if name]
    worker = find_worker_column(head, first=order)
    known = {worker, *map(head.find_column, (*QUALTRICS, *LEGACY)), *_find_panel_columns(head)}
    rest = [
        name
        for name in head.header
        # Times of pages, orders of display and scores stand in columns of such names.
        if name not in known
        and not name.casefold().endswith(("_do", "_first click", "_last click"))
        and not name.casefold().endswith(("_page submit", "_click count"))
        and not name.upper().startswith("SC0")
    ]
    return Mapping(worker, "", find_answer_columns(head, rest))


def _asks_for_panel_id(head: Head, name: str) -> bool:
    """Return whether a column is a question for Prolific's id, by its wording and its cells."""
    asks = "prolific" in head.wordings[name].casefold()
    return asks and holds_for_most(is_panel_id, head.get_values(name))


def _is_qualtrics_export(head: Head) -> bool:
    """Return whether the columns are those of a Qualtrics export."""
    if not (head.find_column("StartDate") and head.find_column("ResponseId")):
        return False
    return bool(head.find_column("RecordedDate", "Finished", "ResponseSet"))


def _find_trial_reason(row: Row) -> str:
    """Return why a row of a Qualtrics export is a trial or spam; "" for other rows."""
    of_preview = get_named_cell(row, "DistributionChannel").casefold() == "preview"
    status = get_named_cell(row, "Status", "Response Type").casefold()
    if of_preview or status in PREVIEWS:
        return TRIED
    return SPAM if status in SPAM_STATUSES else ""


def _is_unfinished_response(row: Row) -> bool:
    """Return whether a respondent did not finish the Qualtrics survey."""
    finished = get_named_cell(row, "Finished").casefold()
    if finished:
        return finished in NOT_FINISHED
    progress = get_named_cell(row, "Progress").rstrip("%")
    return progress.isdecimal() and int(progress) < ALL_OF_IT


def _find_panel_exclusion_reason(row: Row) -> str:
    """Return why Prolific's status excludes a row; "" if it does not."""
    return _PANEL_STATUSES.get(normalise_status(get_named_cell(row, "Status")), "")


def _is_rejected_by_panel(row: Row) -> bool | None:
    """Return whether the panel rejected the submission of a row; None if unknown."""
    status = normalise_status(get_named_cell(row, "Status"))
    return None if not status else status.casefold() == mturk.REJECTED


def _find_cancellation_reason(row: Row) -> str:
    """Return why a Label Studio annotation is not read; "" if it is read."""
    skipped = get_named_cell(row, CANCELLED).casefold() == "true"
    return "skipped annotations" if skipped else ""


OF_TOOL = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", CANCELLED)
"""Columns that Label Studio adds to those of the task and of the fields; `id` is the task's."""


def _propose_label_studio_mapping(head: Head) -> Mapping:
    """Return the column mapping of a Label Studio export."""
    worker, task = head.find_column("annotator"), head.find_column("id")
    known = {head.find_column(name) for name in OF_TOOL}
    rest = [name for name in head.header if name not in known]
    if head.fields or head.task:
        fields, of_task = list(head.fields), list(head.task)
    else:
        of_task = _find_task_columns(head, task, rest)
        fields = [name for name in rest if name not in of_task]
    wording = find_question_text_column(head, of_task)
    return Mapping(worker, task, find_answer_columns(head, fields, read_label_studio_cell), wording)


def _find_task_columns(head: Head, task: str, rest: Sequence[str]) -> list[str]:
    """Return the columns with the task's data, found by their values, position or name.

    They have one value per task; if each task has one row, or all annotators agree, position and
    name of a column decide.
    """
    if task and len(set(head.get_values(task))) < len(head.get_values(task)):
        of_task = [name for name in rest if is_constant_by_question(head, task, name)]
        # Annotators who agree about each task fill a field like a column of the task.
        if set(of_task) != set(rest):
            return of_task
    end = [name for name in map(head.find_column, OF_TOOL[1:4]) if name]
    places = [head.header.index(name) for name in (task, *end) if name]
    first = places[1] if len(places) > 1 else 0
    in_order = places == sorted(places) and places[1:] == list(range(first, first + len(end)))
    if task and len(end) > 2 and in_order:
        # Label Studio writes the task, its id, the fields that were filled in, and the annotator.
        return [name for name in rest if head.header.index(name) < places[0]]
    answers = {head.find_column(name) for name in ANSWERS if name != "text"}
    if not answers.intersection(rest):
        return list(rest)
    return [name for name in rest if name not in answers]


def _propose_potato_mapping(head: Head) -> Mapping:
    """Return the column mapping of a Potato export."""
    worker = head.find_column("user", "user_id", "username", "annotator")
    labels = [name for name in head.header if ":::" in name]
    boxes = [name for name in labels if name.partition(":::")[2].startswith("text_box")]
    text = head.find_column("displayed_text", "text")
    schemas = dict.fromkeys(name.partition(":::")[0] for name in labels)
    # Schemas of numbers are ratings or sliders.
    choices = [name for name in schemas if not holds_for_most(is_number, head.get_values(name))]
    answers = tuple(boxes) or experiments.find_free_text_columns(head, choices, or_all=True)
    return Mapping(worker, head.find_column("instance_id", "id"), answers, text)


def _propose_mturk_mapping(head: Head) -> Mapping:
    """Return the column mapping of a Mechanical Turk batch."""
    answers = tuple(name for name in head.header if restore_spelling([name])[0].startswith(ANSWER))
    return Mapping(head.find_column("WorkerId"), head.find_column("HITId"), answers)


def _is_panel_survey(head: Head) -> bool:
    """Return whether a file is a survey export with Prolific's ids, or Prolific's own list."""
    if _has_row_for_each_answer(head):
        return False
    asked = head.find_column(*OF_PANEL) or head.find_similar_column("prolificid", "prolificpid")
    return bool(asked) or is_submission_list(head) or _has_submission_statuses(head)


def _has_row_for_each_answer(head: Head) -> bool:
    """Return whether columns are named for question and answer, and workers answered several."""
    if not _is_long_table(head):
        return False
    worker, question, _, _ = find_columns_of_long_table(head)
    if not worker:
        return False
    workers = head.get_cells(worker)
    pairs = set(zip(workers, head.get_cells(question), strict=True))
    return 2 * len(set(workers)) <= len(workers) and len(pairs) >= MOST * len(workers)


def _has_submission_statuses(head: Head) -> bool:
    """Return whether a table has Prolific's ids of participant and submission, and its statuses."""
    statuses = head.get_values(head.find_column("Status"))
    ids = head.find_column(*SUBMISSION), head.find_column(*PARTICIPANT)
    return all(ids) and bool(statuses) and all(map(recognise_status, statuses))


def is_submission_list(head: Head) -> bool:
    """Return whether a file is Prolific's list of submissions, which has no answers.

    The headings may be those of any of its exports, old or new. A survey export with these columns
    pasted in has columns of answers too, and is no such list.
    """
    ids = head.find_column(*SUBMISSION), head.find_column(*PARTICIPANT), head.find_column("Status")
    own = {name for name in map(head.find_column, OF_SUBMISSIONS) if name}
    if not all(ids) or len(own) < FEWEST_OF_SUBMISSIONS:
        return False
    return not any(is_answer_column(head, name) for name in head.header)


def is_answer_column(head: Head, name: str) -> bool:
    """Return whether a column in a list of submissions holds answers to a question."""
    if not find_answer_columns(head, [name]):
        return False
    values = head.get_values(name)
    is_own_text = len(values) > 2 and len(set(values)) == len(values)
    # Screeners of Prolific are questions too, with few different answers of many participants.
    is_asked = name.rstrip().endswith("?") and not are_ticked_options(values)
    return is_asked or (is_own_text and compute_mean_words(values) >= SENTENCE_WORDS)


def _is_long_table(head: Head) -> bool:
    """Return whether a table has one answer per row."""
    if not (head.find_column(*QUESTIONS) and head.find_column(*ANSWERS)):
        return False
    worker, question, answer, _ = find_columns_of_long_table(head)
    return bool(question) and answer != question and bool(worker or answer)


PRESETS = {
    preset.slug: preset
    for preset in (
        Preset(
            "own",
            "A table with the columns worker, question and answer",
            "Our own form, and what Crowdgrade exports.",
            lambda head: {"worker", "question", "answer"} <= set(head.header),
            lambda head: Mapping("worker", "question", ("answer",)),
            has_private=False,
            is_fixed=True,
        ),
        Preset(
            "mturk",
            "Mechanical Turk: results of a batch",
            "On the page of the batch: Review Results, then Download CSV.",
            lambda head: bool(head.find_column("HITId") and head.find_column("WorkerId")),
            _propose_mturk_mapping,
            is_fixed=True,
            panel=lambda mapping: mturk.PANEL,
        ),
        Preset(
            "qualtrics",
            "Qualtrics: a survey's responses",
            "Data & Analysis, Export & Import, Export Data: CSV or TSV, answers as choice text.",
            _is_qualtrics_export,
            _propose_qualtrics_mapping,
            panel=_get_worker_panel,
            left_out=_find_trial_reason,
            unfinished=_is_unfinished_response,
            is_fixed=True,
            times=TimeColumns(("StartDate",), ("EndDate",), ("Duration (in seconds)",)),
        ),
        Preset(
            "label-studio",
            "Label Studio: JSON, JSON-MIN or CSV",
            "On the page of the project: Export.",
            lambda head: bool(head.find_column("annotator") and head.find_column("annotation_id")),
            _propose_label_studio_mapping,
            is_fixed=True,
            cell=read_label_studio_cell,
            left_out=_find_cancellation_reason,
            times=TimeColumns((), ("created_at",), ("lead_time",)),
        ),
        Preset(
            "potato",
            "Potato: annotated instances as TSV, CSV or JSON Lines",
            "annotated_instances in the folder annotation_output.",
            lambda head: (
                any(":::" in name for name in head.header)
                and bool(head.find_column("instance_id", "id"))
            ),
            _propose_potato_mapping,
            is_fixed=True,
        ),
        Preset(
            "argilla",
            "Argilla: records with responses",
            "The records of a data set as JSON, JSON Lines, or from the hub.",
            experiments.is_argilla_export,
            experiments.propose_argilla_mapping,
            is_fixed=True,
            left_out=experiments.find_response_exclusion_reason,
        ),
        Preset(
            "doccano",
            "doccano: documents with labels, a file for each annotator",
            "Export without sharing annotations; each file is named after its annotator.",
            experiments.is_doccano_export,
            experiments.propose_doccano_mapping,
            is_fixed=True,
        ),
        Preset(
            "psiturk",
            "psiTurk: questiondata.csv or trialdata.csv",
            "psiturk download_datafiles; the files have no header.",
            experiments.is_psiturk_export,
            experiments.propose_psiturk_mapping,
            is_fixed=True,
            left_out=experiments.find_trial_exclusion_reason,
        ),
        Preset(
            "jspsych",
            "jsPsych: trials as CSV or JSON",
            "The data that the experiment saved, of all participants in one file.",
            experiments.is_jspsych_export,
            experiments.propose_jspsych_mapping,
            is_fixed=True,
            panel=_get_worker_panel,
            left_out=experiments.find_trial_exclusion_reason,
        ),
        Preset(
            "otree",
            "oTree: all apps, or one app, as CSV or XLSX",
            "On the page Data: download all apps (wide), or one app.",
            otree.is_otree_export,
            otree.propose_otree_mapping,
            is_fixed=True,
            left_out=otree.find_otree_exclusion_reason,
        ),
        *TOOLS,
        Preset(
            "prolific",
            "Prolific: a survey that recorded Prolific's ids",
            "The file of the survey tool, in which Prolific's ids were recorded.",
            _is_panel_survey,
            _propose_wide_mapping,
            panel=_get_worker_panel,
            left_out=_find_panel_exclusion_reason,
            rejected=_is_rejected_by_panel,
        ),
        Preset(
            "long",
            "A spreadsheet with a row for each answer",
            "Columns for the worker, the question and the answer.",
            _is_long_table,
            _propose_long_mapping,
            panel=_get_worker_panel,
        ),
        Preset(
            "wide",
            "A spreadsheet with a row for each worker and a column for each question",
            "The first row names the questions, one column the workers.",
            lambda head: len(head.header) > 1,
            _propose_wide_mapping,
            panel=_get_worker_panel,
        ),
    )
}


def recognise_preset(head: Head) -> Preset:
    """Return the first preset that recognises a file's beginning; else that of wide tables."""
    found = (preset for preset in PRESETS.values() if preset.recognises(head))
    return next(found, PRESETS["wide"])


def get_preset(
    slug: str, *, keep_unfinished: bool = False, keep_html: bool = False, keep_ids: bool = False
) -> Preset:
    """Return the preset with this slug; ValueError, listing all slugs, for an unknown one."""
    if slug not in PRESETS:
        raise ValueError(f"there is no preset {slug!r}; there are {', '.join(PRESETS)}")
    preset = replace(PRESETS[slug], keeps_html=keep_html, keeps_ids=keep_ids)
    return preset.include_unfinished() if keep_unfinished else preset
