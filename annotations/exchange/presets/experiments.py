"""Read exports of experiment tools: jsPsych trials, psiTurk files, Argilla and doccano records.

The responses of a trial are JSON, {"Q0": "..."}: each text becomes a row with its question
in the column `trialquestion` and the text in `trialanswer`; other trials have neither.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Mapping as Dict
from io import BytesIO
from itertools import chain, combinations, islice
from typing import Any, Protocol

from annotations.exchange.column_names import normalise_name
from annotations.exchange.presets.cells import (
    WORDS,
    compute_mean_words,
    holds_for_most,
    is_json,
    is_number,
)
from annotations.exchange.presets.mapping import Mapping
from annotations.exchange.presets.shapes import (
    ANNOTATOR,
    DOCUMENT,
    LABEL,
    RECORD,
    RESPONSE,
    STATUS,
    USER,
    extract_annotator,
    is_doccano_table,
)
from annotations.exchange.presets.values import format_answer_cell
from annotations.exchange.problems import InputError
from annotations.exchange.reading.decoding import open_text
from annotations.exchange.reading.source import Readable, Source, make_source

TRIAL_QUESTION, TRIAL_ANSWER = "trialquestion", "trialanswer"
NO_TEXT = "trials that hold no written answer to an item"
UNSUBMITTED = frozenset({"draft", "discarded", "pending"})
ANNOTATED = ("annotation", "annotation_agent")
"""Columns of Argilla's older data sets, whose records are annotated once each."""

PARTICIPANTS = (
    *("PROLIFIC_PID", "prolific_id", "prolific_participant_id", "participant_id", "participant"),
    *("subject_id", "subject", "subjectid", "worker_id", "worker", "sona_id", "run_id", "user_id"),
    *("username", "ppt", "pid", "uniqueid", "id"),
)
ITEMS = (
    *("item", "item_id", "question", "question_id", "task_id", "prompt_id", "stimulus_id"),
    *("sentence_id", "trial_name", "name"),
)
TRIAL_PLACES = ("trial_index", "time_elapsed", "internal_node_id")
TEXT_TRIALS = ("survey-text", "survey text", "surveytext")
FORM_TRIALS = ("survey-html-form", "survey", "html-form", "survey-multi", "cloze")
OF_TRIAL_ITEM = (*ITEMS, "prompt", "stimulus")
OF_TRIAL_ANSWER = ("response", "answer", "text", "reply", "value")

PART, TEXT_BOX = ":::", ":::text_box"
"""Between schema and label in a column of Potato; a label of texts."""
TICKED, UNTICKED = frozenset({"true", "1", "on"}), frozenset({"", "False", "false", "0"})
UNIQUE_ID = re.compile(r"[A-Za-z0-9_-]+:[A-Za-z0-9_-]+")
PSITURK = {
    3: ("uniqueid", "question", "response"),
    4: ("uniqueid", "trial", "time", "trialdata"),
}
OF_EVENTS = 5
PEEKED, COMPARED = 20, 40
PAIR = ("question", "response")
_PAIRED = re.compile(
    r"(?:question|item|prompt|(?P<answer>answer|response|reply))(?P<number>\d{1,3})"
)
"""Normalised names of numbered columns that hold a question or its answer."""

Cells = tuple[str, ...]
Rows = Iterator[tuple[int, Cells]]


class TrialTable(Protocol):
    """Protocol of a table whose header and rows the functions of this module change."""

    name: str
    header: list[str]
    rows: Rows


class ColumnReader(Protocol):
    """Interface of a table's header and first rows, by which its columns are found."""

    @property
    def header(self) -> list[str]:
        """Names of the file's columns, in order."""

    def get_values(self, column: str) -> list[str]:
        """Return the non-empty cells of a column."""

    def find_column(self, *names: str) -> str:
        """Return the first of these names that is a column of the file; "" if none is."""


def add_psiturk_header(given: Readable) -> Source | None:
    """Return a psiTurk file with the header row that it lacks; None for any other file.

    Raises `InputError` for its events, which hold no answers.
    """
    source = make_source(given)
    if source.suffix != ".csv":
        return None
    text = open_text(source)
    if text.encoding not in ("utf-8", "cp1252"):
        return None
    try:
        rows = [row for row in islice(csv.reader(text.iterate_lines("")), PEEKED) if row]
    except csv.Error:
        return None
    # The ids, WORKER:ASSIGNMENT, tell files of psiTurk from others without a header.
    widths = {len(row) for row in rows}
    if len(widths) != 1 or not all(UNIQUE_ID.fullmatch(row[0]) for row in rows):
        return None
    (width,) = widths
    if width == OF_EVENTS and all(row[-1].replace(".", "").isdecimal() for row in rows):
        raise InputError.from_code(source.name, "psiturk_events")
    # Any table may have four columns; psiTurk's fourth holds the trial as JSON.
    if width not in PSITURK or (width > len(PSITURK[3]) and not rows[0][-1].startswith("{")):
        return None
    header = (",".join(PSITURK[width]) + "\n").encode()
    return Source(
        source.name,
        source.place,
        # The stamp is that of the file as it is: it only has to change with the content.
        lambda: BytesIO(header + source.open().read()),
        source.stamper,
    )


def add_trial_columns(table: TrialTable) -> None:
    """Add columns for question, answer or annotator to a table that has none for them.

    Tables of jsPsych, psiTurk, doccano and Potato, and those with numbered pairs.
    """
    header = table.header
    # Reversed, so that of equal names the first one remains.
    plain = {normalise_name(name): name for name in reversed(header)}
    if "trialtype" in plain and any(normalise_name(name) in plain for name in TRIAL_PLACES):
        table.header = [*header, TRIAL_QUESTION, TRIAL_ANSWER]
        table.rows = _iterate_trial_rows(table.rows, header, plain, table.name)
    elif tuple(header) == PSITURK[4]:
        table.header = [*header, TRIAL_QUESTION, TRIAL_ANSWER]
        table.rows = _iterate_psiturk_rows(table.rows)
    elif (pairs := _find_question_answer_pairs(header)) and not set(PAIR) & set(header):
        _split_pairs_into_rows(table, pairs)
    elif {"id", "text", "label"} <= set(header):
        _add_annotator_column(table)
    elif any(PART in name for name in header) and not any(TEXT_BOX in name for name in header):
        _add_choice_columns(table)


def _find_question_answer_pairs(header: Sequence[str]) -> list[tuple[int, int]]:
    """Return the positions of pairs such as question_1 and answer_1; [] for fewer than two.

    Surveys that draw questions for each person write so.
    """
    places: dict[tuple[bool, str], int] = {}
    for place, name in enumerate(header):
        if part := _PAIRED.fullmatch(normalise_name(name)):
            places.setdefault((bool(part["answer"]), part["number"]), place)
    numbers = [number for is_answer, number in places if is_answer and (False, number) in places]
    pairs = [(places[False, number], places[True, number]) for number in numbers]
    return pairs if len(pairs) > 1 else []


def _split_pairs_into_rows(table: TrialTable, pairs: Sequence[tuple[int, int]]) -> None:
    """Change a table with numbered pairs of question and answer to one row for each pair.

    Only if questions differ in a column and recur in another one, and are no numbers.
    """
    first = list(islice(table.rows, COMPARED))
    rows = chain(first, table.rows)
    columns = [[cell for _, cells in first if (cell := cells[q].strip())] for q, _ in pairs]
    distinct = [set(column) for column in columns]
    recurs = any(one & other for one, other in combinations(distinct, 2))
    if not recurs or max(map(len, distinct)) < 2 or holds_for_most(is_number, [*chain(*columns)]):
        table.rows = rows
        return
    paired = {place for pair in pairs for place in pair}
    rest = [place for place in range(len(table.header)) if place not in paired]
    table.header = [*(table.header[place] for place in rest), *PAIR]
    table.rows = (
        (line, (*(cells[place] for place in rest), cells[q], cells[a]))
        for line, cells in rows
        for q, a in pairs
        if cells[q].strip() or cells[a].strip()
    )


def _iterate_trial_rows(
    rows: Rows, header: Sequence[str], plain: dict[str, str], name: str
) -> Rows:
    """Yield the rows of jsPsych trials, with cells for question and answer added."""
    at = {one: place for place, one in enumerate(header)}

    def find_position(*names: str) -> int | None:
        """Return the position of the first of these columns that the file has; None if none."""
        return next((at[plain[one]] for one in map(normalise_name, names) if one in plain), None)

    # A file of several versions of jsPsych has both columns, one of them empty in each row.
    kind, places = (
        find_position("trial_type"),
        (find_position("response"), find_position("responses")),
    )
    responses = [place for place in places if place is not None]
    worker, item = find_position(*PARTICIPANTS), find_position(*ITEMS)
    assert kind is not None
    taken: set[tuple[str, str]] = set()
    for line, cells in rows:
        texts = {}
        asked = cells[item].strip() if item is not None else ""
        if _is_text_trial(cells[kind], bool(asked)):
            texts = _parse_response_texts(
                next((cells[at] for at in responses if cells[at].strip()), "")
            )
        if item is not None and not asked:
            texts = {}
        for key, text in texts.items():
            question = asked if len(texts) == 1 and asked else ":".join(filter(None, (asked, key)))
            pair = (cells[worker] if worker is not None else "", question)
            # Without a column of items two trials of one name cannot be distinguished.
            if item is None and pair in taken:
                raise InputError.from_code(name, "trials_alike", line=line, question=question)
            taken.add(pair)
            yield line, (*cells, question, text)
        if not texts:
            yield line, (*cells, "", "")


def _is_text_trial(kind: str, has_item: bool) -> bool:
    """Return whether a kind of trial has written answers."""
    name = kind.strip().casefold().removeprefix("jspsych-")
    return name in TEXT_TRIALS or (has_item and name in FORM_TRIALS)


def _parse_response_texts(cell: str) -> dict[str, str]:
    """Return the texts in a trial's response cell, by their names in it; {} for an empty cell."""
    try:
        value: Any = json.loads(cell)
    except (ValueError, RecursionError):
        value = cell
    if isinstance(value, dict):
        return {str(key): format_answer_cell(part) for key, part in value.items()}
    return {"": format_answer_cell(value)} if value not in (None, "") else {}


def _iterate_psiturk_rows(rows: Rows) -> Rows:
    """Yield the rows of a psiTurk file with cells for question and answer added."""
    for line, cells in rows:
        try:
            value = json.loads(cells[3])
        except (ValueError, RecursionError):
            value = {}
        data = value if isinstance(value, dict) else {}
        question = next(
            (format_answer_cell(data[key]) for key in OF_TRIAL_ITEM if data.get(key)), ""
        )
        answers = [data[key] for key in OF_TRIAL_ANSWER if isinstance(data.get(key), str)]
        yield line, (*cells, question if answers else "", answers[0] if answers else "")


def _add_annotator_column(table: TrialTable) -> None:
    """Add a column with the annotator, taken from the file name, to a doccano table."""
    # The rows can be read only once, so the peeked ones are put back in front.
    first = list(islice(table.rows, PEEKED))
    rest = table.rows

    def iterate_all_rows() -> Rows:
        """Yield all rows, beginning with those that were already read."""
        yield from first
        yield from rest

    at = table.header.index("id")
    if not is_doccano_table(table.header, [cells[at] for _, cells in first]):
        table.rows = iterate_all_rows()
        return
    annotator = extract_annotator(table.name)
    table.header = [DOCUMENT if name == "id" else name for name in table.header] + [ANNOTATOR]
    table.rows = ((line, (*cells, annotator)) for line, cells in iterate_all_rows())


def _add_choice_columns(table: TrialTable) -> None:
    """Add a column for each schema of a Potato table, with the labels that were chosen.

    Potato writes a column for each label, SCHEMA:::LABEL, filled where the label was chosen.
    """
    labels: dict[str, list[tuple[int, str]]] = {}
    for at, name in enumerate(table.header):
        schema, part, label = name.partition(PART)
        if part and schema not in table.header:
            labels.setdefault(schema, []).append((at, label))
    rows = table.rows

    def format_chosen(cells: Cells, of: Sequence[tuple[int, str]]) -> str:
        """Return the chosen labels of a schema as text, one per line."""
        filled = [
            (label, cells[at].strip()) for at, label in of if cells[at].strip() not in UNTICKED
        ]
        # A schema of one label is a number or a slider, unless the label was ticked.
        return "\n".join(
            label if len(of) > 1 or cell.casefold() in TICKED else cell for label, cell in filled
        )

    table.header = [*table.header, *labels]
    table.rows = (
        (line, (*cells, *(format_chosen(cells, of) for of in labels.values())))
        for line, cells in rows
    )


def is_argilla_export(head: ColumnReader) -> bool:
    """Return whether the columns are those of an export of Argilla."""
    of_responses = {RECORD, USER} <= set(head.header) and bool(_find_response_columns(head))
    return of_responses or set(ANNOTATED) <= set(head.header)


def propose_argilla_mapping(head: ColumnReader) -> Mapping:
    """Return the column mapping of an Argilla export; the first field is the question's text.

    Where the records have no ids, the first field is the question.
    """
    if set(ANNOTATED) <= set(head.header):
        text = "text" if head.get_values("text") else head.find_column("inputs")
        return Mapping(
            ANNOTATED[1],
            head.find_column("id"),
            find_free_text_columns(head, ANNOTATED[:1], or_all=True),
            text,
        )
    fields = [name for name in head.header if name.startswith("field.")]
    question = RECORD if head.get_values(RECORD) or not fields else fields[0]
    return Mapping(
        USER,
        question,
        find_free_text_columns(head, _find_response_columns(head), or_all=True),
        fields[0] if fields and question == RECORD else "",
    )


def is_doccano_export(head: ColumnReader) -> bool:
    """Return whether the columns are those of an export of doccano."""
    return {DOCUMENT, ANNOTATOR, LABEL} <= set(head.header)


def propose_doccano_mapping(head: ColumnReader) -> Mapping:
    """Return the column mapping of a doccano export; the document is the question's text."""
    return Mapping(ANNOTATOR, DOCUMENT, (LABEL,), "text")


def is_jspsych_export(head: ColumnReader) -> bool:
    """Return whether the columns are those of jsPsych trials with written answers."""
    return TRIAL_ANSWER in head.header and not is_psiturk_export(head)


def propose_jspsych_mapping(head: ColumnReader) -> Mapping:
    """Return the column mapping of jsPsych trials; the worker is "" if no column names it."""
    return Mapping(head.find_column(*PARTICIPANTS), TRIAL_QUESTION, (TRIAL_ANSWER,))


def is_psiturk_export(head: ColumnReader) -> bool:
    """Return whether the columns are those of a psiTurk file."""
    return any(tuple(head.header[: len(one)]) == one for one in PSITURK.values())


def propose_psiturk_mapping(head: ColumnReader) -> Mapping:
    """Return the column mapping of psiTurk's questiondata.csv or trialdata.csv."""
    if TRIAL_ANSWER in head.header:
        return Mapping("uniqueid", TRIAL_QUESTION, (TRIAL_ANSWER,))
    return Mapping("uniqueid", "question", ("response",))


def find_trial_exclusion_reason(row: Dict[str, str]) -> str:
    """Return why the row of a trial is not read as an answer; "" if it is read."""
    return "" if row.get(TRIAL_QUESTION, " ") else NO_TEXT


def find_response_exclusion_reason(row: Dict[str, str]) -> str:
    """Return why an Argilla response is not read (not submitted); "" if it is read."""
    of_record = "status" if normalise_name(ANNOTATED[1]) in row else STATUS
    status = row.get(normalise_name(of_record), "").strip().casefold()
    return f"responses with the status {status}" if status in UNSUBMITTED else ""


def _find_response_columns(head: ColumnReader) -> list[str]:
    """Return the columns of an Argilla export that hold responses."""
    return [name for name in head.header if name.startswith(RESPONSE)]


def find_free_text_columns(
    head: ColumnReader, names: Iterable[str], *, or_all: bool = False
) -> tuple[str, ...]:
    """Return the columns with free text; if none, () or with `or_all` all filled ones."""
    filled = [
        name
        for name in names
        if head.get_values(name) and not holds_for_most(is_json, head.get_values(name))
    ]
    found = [name for name in filled if compute_mean_words(head.get_values(name)) >= WORDS]
    return tuple(found or (filled if or_all else ()))
