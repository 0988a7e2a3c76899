"""Read files of questions and files of passages, and check every row."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Generic, TypeVar

from annotations.exchange.facts import FaultRecorder, read_json_object
from annotations.exchange.header import OF_PASSAGES, OF_QUESTIONS, Column, parse_column_names
from annotations.exchange.ids import clean_id
from annotations.exchange.problems import Problems
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.reading.tables import open_table
from annotations.languages import is_known_language, normalise_language_tag

LONGEST_QUESTION = 100_000
LONGEST_PASSAGE = 1_000_000
"""Bytes that the texts may have in UTF-8. (A cell of CSV has a limit of its own.)"""

LONGEST = {"question": 255, "passage": 255, "title": 500, "category": 200, "language": 35}
"""Characters that the short cells may have."""

NO_TEXT = "text_missing"
"""The code of a question or passage without a text."""

CellFault = tuple[str, str, dict[str, Any]]
"""A column, the code of what is wrong with its cell, and the code's values."""

ROLES = ("graded", "practice", "attention", "gold")
FORMATS = ("plain", "simple")
LONGEST_BESIDE = 20_000
"""Characters that feedback, and an image in words, may have."""
KINDS = ("free", "short", "extractive", "choice")
OF_QUESTION = ("text", "choices", "accepted_answers", "feedback")
OF_PASSAGE = ("title", "text", "image_alt")
"""What a file may say in further languages, each in a column such as text.ar."""
LISTS = ("choices", "accepted_answers")
YES = ("true", "yes", "1")
NO = ("false", "no", "0")


@dataclass(frozen=True, slots=True)
class QuestionColumns:
    """Names of the columns in a file of questions or passages: question, text, passage."""

    question: str = "question"
    text: str = "text"
    passage: str = "passage"

    @classmethod
    def parse(cls, text: str) -> QuestionColumns:
        """Parse `question=NAME,text=NAME,...` to column names; ValueError if invalid."""
        names = cls(**parse_column_names(text, [field.name for field in fields(cls)]))
        if len({names.question, names.text, names.passage}) < 3:
            raise ValueError("question, text and passage are columns of their own: name each once")
        return names

    def list_question_columns(self) -> tuple[Column, ...]:
        """Return the columns of a file of questions: question (or id), text, passage."""
        return (
            Column("question", _list_accepted_names(self.question, "question", "id")),
            Column("text", (self.text,)),
            Column("passage", (self.passage,), required=self.passage != "passage"),
        )

    def list_passage_columns(self) -> tuple[Column, ...]:
        """Return the columns of a file of passages: passage (or id), text."""
        return (
            Column("passage", _list_accepted_names(self.passage, "passage", "id")),
            Column("text", tuple(dict.fromkeys((self.text, "text")))),
        )


def _list_accepted_names(name: str, default: str, alternative: str) -> tuple[str, ...]:
    """Return a column's accepted names: the default and its alternative, or the chosen name."""
    return (default, alternative) if name == default else (name,)


DEFAULT_COLUMNS = QuestionColumns()


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """One question of a file, with its passage's id, kind, accepted answers and translations.

    `accepted_answers` holds texts, or lists of texts with the same meaning. `metadata` has the
    further cells that are not empty, by their columns. `translations` are by language and field.
    """

    line: int = field(compare=False)
    question: str
    text: str
    passage: str
    kind: str
    choices: tuple[str, ...]
    accepted_answers: tuple[Any, ...]
    answerable: bool | None
    category: str
    language: str
    metadata: dict[str, str]
    role: str = "graded"
    feedback: str = ""
    max_characters: int | None = None
    translations: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PassageRecord:
    """One passage of a file, with its title, text, language and translations.

    A file has no image, but a description of one (`image_alt`).
    """

    line: int = field(compare=False)
    passage: str
    title: str
    text: str
    language: str
    metadata: dict[str, str]
    format: str = "plain"
    image_alt: str = ""
    translations: dict[str, dict[str, Any]] = field(default_factory=dict)


Record = TypeVar("Record", QuestionRecord, PassageRecord)


@dataclass(frozen=True, slots=True)
class ItemFile(Generic[Record]):
    """The questions or passages of a file, in its order, each once.

    `n_rows` counts the data rows, `n_repeated` those that repeat an earlier row.
    """

    name: str
    sha256: str
    n_rows: int
    n_repeated: int
    warnings: list[str]
    records: list[Record]


def read_questions(
    path: Readable, columns: QuestionColumns = DEFAULT_COLUMNS
) -> ItemFile[QuestionRecord]:
    """Read questions from a CSV, TSV, JSON Lines or XLSX file.

    Optional columns: kind, choices, accepted_answers (both as a JSON list, or separated by |),
    answerable (yes or no), category, language, role, feedback and max_characters. Raises
    `InputError` with every bad row: no id or no text, the same id with other content, a cell that
    is too long or has an invalid value.
    """
    return _read_items(
        path, columns.list_question_columns(), _build_question, "question", OF_QUESTIONS
    )


def read_passages(
    path: Readable, columns: QuestionColumns = DEFAULT_COLUMNS
) -> ItemFile[PassageRecord]:
    """Read passages from a CSV, TSV, JSON Lines or XLSX file.

    Optional columns: title, language, format and image_alt.

    Raises `InputError` as `read_questions` does.
    """
    return _read_items(path, columns.list_passage_columns(), _build_passage, "passage", OF_PASSAGES)


def _build_fault_recorder(faults: list[CellFault]) -> FaultRecorder:
    """Return a `FaultRecorder` that appends the faults of cells to the list `faults`."""

    def note(column: str, code: str, /, **values: Any) -> None:
        """Append the fault of a cell to the list."""
        faults.append((column, code, values))

    return note


def _read_items(
    path: Readable, columns: tuple[Column, ...], make: Any, key: str, mark: str
) -> ItemFile[Any]:
    """Read the records of a file, built by `make` from each row; `key` is the field of the id."""
    problems = Problems(make_source(path).name)
    table = open_table(path, columns, problems)
    records: dict[str, Any] = {}
    n_rows = n_repeated = 0
    for line, cells, extra in table.rows:
        n_rows += 1
        is_own_export = mark in table.marks
        # A later line may bring new columns, which earlier ones do not have.
        further_cells = dict(zip(table.kept_aside, extra, strict=False))
        faults: list[CellFault] = []
        if is_own_export:
            metadata = read_json_object(
                "metadata", further_cells.pop("metadata", ""), _build_fault_recorder(faults)
            )
            record = make(line, cells, further_cells, faults)
            record.metadata.update(metadata)
            # Answers may have come before the questions, whose texts are not known then.
            faults = [entry for entry in faults if entry[1] != NO_TEXT]
        else:
            record = make(line, cells, further_cells, faults)
        for column, code, values in faults:
            problems.add_code(line, column, code, **values)
        if faults:
            continue
        first = records.setdefault(getattr(record, key), record)
        if first is record:
            continue
        n_repeated += 1
        if first != record:
            what = ", ".join(list_differences(first, record))
            problems.add_code(
                line,
                None,
                "record_differs",
                key=key,
                name=getattr(record, key),
                first_line=first.line,
                what=what,
            )
    if not n_rows and not problems.total:
        problems.add_code(None, None, "no_rows", what=f"{key}s")
    problems.raise_if_any()
    return ItemFile(
        table.name, table.sha256, n_rows, n_repeated, table.warnings, list(records.values())
    )


def list_differences(one: QuestionRecord | PassageRecord, other: object) -> list[str]:
    """Return the names of the fields in which two records (or a record and a row) differ."""
    return [
        f.name
        for f in dataclasses.fields(one)
        if f.compare and getattr(one, f.name) != getattr(other, f.name)
    ]


def _build_question(
    line: int, cells: tuple[str, ...], further_cells: dict[str, str], faults: list[CellFault]
) -> QuestionRecord:
    """Return the question record of a row; append faults of its cells to `faults`."""
    name, text, passage = clean_id(cells[0]), cells[1].strip(), clean_id(cells[2])
    faults.extend(_check_text("question", name, text, LONGEST_QUESTION))
    choices = tuple(_take_list("choices", further_cells, faults, nested=False))
    accepted = tuple(_take_list("accepted_answers", further_cells, faults, nested=True))
    kind = _pop_cell("kind", further_cells).casefold() or ("choice" if choices else "free")
    if kind not in KINDS:
        faults.append(("kind", *_build_word_fault("kind", kind, KINDS)))
    elif (kind == "choice") != bool(choices):
        faults.append(("choices", "choices_not_allowed", {}))
    role = _take_word("role", further_cells, ROLES, faults)
    feedback = _take_text("feedback", further_cells, faults)
    translations = _take_translations(OF_QUESTION, further_cells, faults)
    max_characters = _take_limit(further_cells, faults)
    record = QuestionRecord(
        line,
        name,
        text,
        passage,
        kind,
        choices,
        accepted,
        _take_answerable(further_cells, faults),
        _pop_cell("category", further_cells),
        _pop_cell("language", further_cells),
        _pick_filled_cells(further_cells),
        role,
        feedback,
        max_characters,
        translations,
    )
    faults.extend(_check_lengths(record, "question", "passage", "category", "language"))
    return record


def _build_passage(
    line: int, cells: tuple[str, ...], further_cells: dict[str, str], faults: list[CellFault]
) -> PassageRecord:
    """Return the passage record of a row; append faults of its cells to `faults`."""
    name, text = clean_id(cells[0]), cells[1].strip()
    faults.extend(_check_text("passage", name, text, LONGEST_PASSAGE))
    title, language = (
        _pop_cell("title", further_cells),
        _pop_cell("language", further_cells),
    )
    text_format = _take_word("format", further_cells, FORMATS, faults)
    alt = _take_text("image_alt", further_cells, faults)
    translations = _take_translations(OF_PASSAGE, further_cells, faults)
    record = PassageRecord(
        line,
        name,
        title,
        text,
        language,
        _pick_filled_cells(further_cells),
        text_format,
        alt,
        translations,
    )
    faults.extend(_check_lengths(record, "passage", "title", "language"))
    return record


def _check_text(key: str, name: str, text: str, longest: int) -> Iterator[CellFault]:
    """Yield faults: a missing id, and a text that is missing or too long."""
    if not name:
        yield key, "record_id_missing", {"name": key}
    if not text:
        yield "text", NO_TEXT, {}
    # A character has at most four bytes, so most texts need not be encoded to know.
    elif len(text) * 4 > longest and (size := len(text.encode())) > longest:
        yield "text", "text_too_long", {"size": size, "most": longest}


def _check_lengths(record: object, *names: str) -> Iterator[CellFault]:
    """Yield a fault for each of the named fields that is longer than its limit."""
    for name in names:
        if (size := len(getattr(record, name))) > LONGEST[name]:
            yield name, "value_too_long", {"name": name, "size": size, "most": LONGEST[name]}


def _pop_cell(name: str, further_cells: dict[str, str]) -> str:
    """Remove a cell from `further_cells` and return it cleaned as an id is; "" if absent."""
    return clean_id(further_cells.pop(name, ""))


def _take_word(
    name: str, further_cells: dict[str, str], known: tuple[str, ...], faults: list[CellFault]
) -> str:
    """Remove a cell and return it in lower case; the first of `known` if it is empty."""
    word = _pop_cell(name, further_cells).casefold() or known[0]
    if word not in known:
        faults.append((name, *_build_word_fault(name, word, known)))
    return word


def _build_word_fault(name: str, word: str, known: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Return (problem code, its values) for a word that is not in `known`."""
    return "word_unknown", {"name": name, "word": word[:40], "known": ", ".join(known)}


def _take_text(name: str, further_cells: dict[str, str], faults: list[CellFault]) -> str:
    """Remove a cell and return it trimmed; more than 20,000 characters are a fault."""
    text = further_cells.pop(name, "").strip()
    if len(text) > LONGEST_BESIDE:
        values = {"size": len(text), "most": LONGEST_BESIDE}
        faults.append((name, "beside_text_long", values))
    return text


def _take_translations(
    names: tuple[str, ...], further_cells: dict[str, str], faults: list[CellFault]
) -> dict[str, dict[str, Any]]:
    """Remove cells of columns such as text.ar; return them by language and field.

    A column whose ending is no language remains a further cell.
    """
    translations: dict[str, dict[str, Any]] = {}
    # A list, because the loop removes the columns that it has read.
    for column in [
        heading
        for heading in further_cells
        if heading.partition(".")[0] in names and "." in heading
    ]:
        name, _, tag = column.partition(".")
        try:
            language = normalise_language_tag(tag)
        except ValueError:
            continue
        if not is_known_language(language):
            continue
        value: Any
        if name in LISTS:
            value = _take_list(column, further_cells, faults, nested=name == "accepted_answers")
        elif name == "text":
            value = further_cells.pop(column).strip()
            if (size := len(value.encode())) > LONGEST_PASSAGE:
                values = {"size": size, "most": LONGEST_PASSAGE}
                faults.append((column, "translation_too_long", values))
        else:
            value = _take_text(column, further_cells, faults)
        if value:
            translations.setdefault(language, {})[name] = value
    return translations


def _take_limit(further_cells: dict[str, str], faults: list[CellFault]) -> int | None:
    """Remove and return the longest answer, in characters; None if there is none or it is bad."""
    cell = _pop_cell("max_characters", further_cells)
    # A spreadsheet writes whole numbers with a point, too.
    number = cell.removesuffix(".0")
    if not cell:
        return None
    # Nine digits decide that a number is too large, however long a crafted one is.
    if number.isascii() and number.isdecimal() and 1 <= int(number[:9]) <= LONGEST_QUESTION:
        return int(number)
    faults.append(("max_characters", "max_characters_unusable", {"most": LONGEST_QUESTION}))
    return None


def _take_answerable(further_cells: dict[str, str], faults: list[CellFault]) -> bool | None:
    """Remove the cell `answerable` and return it as a bool; None if it is empty."""
    word = _pop_cell("answerable", further_cells).casefold()
    if word and word not in YES + NO:
        faults.append(("answerable", "not_boolean", {"cell": word[:40]}))
    return word in YES if word else None


def _take_list(
    name: str, further_cells: dict[str, str], faults: list[CellFault], *, nested: bool
) -> list[Any]:
    """Remove a cell and return its entries: a JSON list, or texts separated by "|"."""
    cell = further_cells.pop(name, "").strip()
    if not cell.startswith("["):
        return [entry.strip() for entry in cell.split("|") if entry.strip()]
    try:
        # Numbers stay as typed.
        value = json.loads(cell, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, list) and all(_is_list_entry(entry, nested) for entry in value):
        return value
    faults.append((name, "not_text_list", {}))
    return []


def _is_list_entry(entry: object, nested: bool) -> bool:
    """Return whether a value is a non-blank text or, with `nested`, a list of such texts."""
    if nested and isinstance(entry, list):
        return bool(entry) and all(_is_list_entry(alias, nested=False) for alias in entry)
    return isinstance(entry, str) and bool(entry.strip())


def _pick_filled_cells(further_cells: dict[str, str]) -> dict[str, str]:
    """Return the cells that are not blank, by column name."""
    return {name: cell for name, cell in further_cells.items() if cell.strip()}
