"""Files of questions and of passages, checked row by row."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Generic, TypeVar

from annotations.exchange.facts import Note, object_of
from annotations.exchange.header import OF_PASSAGES, OF_QUESTIONS, Column, given_names
from annotations.exchange.ids import clean_id
from annotations.exchange.problems import Problems
from annotations.exchange.reading.source import Readable, source_of
from annotations.exchange.reading.tables import open_table
from annotations.languages import canonical, is_known

LONGEST_QUESTION = 100_000
LONGEST_PASSAGE = 1_000_000
"""Bytes that the texts may have in UTF-8. (A cell of CSV has a limit of its own.)"""

LONGEST = {"question": 255, "passage": 255, "title": 500, "category": 200, "language": 35}
"""Characters that the short cells may have."""

NO_TEXT = "text_missing"
"""The code of a question or passage without a text."""

Found = tuple[str, str, dict[str, Any]]
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
    """How the columns of a file of questions are called."""

    question: str = "question"
    text: str = "text"
    passage: str = "passage"

    @classmethod
    def parse(cls, text: str) -> QuestionColumns:
        """The names in `question=NAME,text=NAME,...`; raises ValueError as `given_names` does."""
        names = cls(**given_names(text, [field.name for field in fields(cls)]))
        if len({names.question, names.text, names.passage}) < 3:
            raise ValueError("question, text and passage are columns of their own: name each once")
        return names

    def for_questions(self) -> tuple[Column, ...]:
        """Question (or id), text, and passage where there is one."""
        return (
            Column("question", _or(self.question, "question", "id")),
            Column("text", (self.text,)),
            Column("passage", (self.passage,), required=self.passage != "passage"),
        )

    def for_passages(self) -> tuple[Column, ...]:
        """Passage (or id) and text, under our own words too."""
        return (
            Column("passage", _or(self.passage, "passage", "id")),
            Column("text", tuple(dict.fromkeys((self.text, "text")))),
        )


def _or(given: str, own: str, other: str) -> tuple[str, ...]:
    return (own, other) if given == own else (given,)


DEFAULT_COLUMNS = QuestionColumns()


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """One question; `passage` is "" where it has none, `answerable` None where nobody said.

    `accepted_answers` holds texts, or lists of texts that mean the same. `metadata` has the
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
    """One passage; `metadata` has the further cells that are not empty, by their columns.

    A file holds no image, but what it shows in words (`image_alt`).
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

    `n_rows` counts the data rows, `n_repeated` those that say once more what an earlier one said.
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
    """The questions in a CSV, TSV, JSON Lines or XLSX file.

    Beside the wanted columns these are known: kind, choices, accepted_answers (both as a JSON
    list, or parted by |), answerable (yes or no), category, language, role, feedback and
    max_characters. Raises `InputError` with
    every bad row: no id or no text, the same id with something else, a cell that is too long or
    not what its column holds.
    """
    return _read(path, columns.for_questions(), _question, "question", OF_QUESTIONS)


def read_passages(
    path: Readable, columns: QuestionColumns = DEFAULT_COLUMNS
) -> ItemFile[PassageRecord]:
    """The passages in a CSV, TSV, JSON Lines or XLSX file.

    Title, language, format and image_alt are known as well.

    Raises `InputError` as `read_questions` does.
    """
    return _read(path, columns.for_passages(), _passage, "passage", OF_PASSAGES)


def _noting(found: list[Found]) -> Note:
    def note(column: str, code: str, /, **values: Any) -> None:
        found.append((column, code, values))

    return note


def _read(
    path: Readable, columns: tuple[Column, ...], make: Any, key: str, mark: str
) -> ItemFile[Any]:
    problems = Problems(source_of(path).name)
    table = open_table(path, columns, problems)
    records: dict[str, Any] = {}
    n_rows = n_repeated = 0
    for line, cells, extra in table.rows:
        n_rows += 1
        of_export = mark in table.marks
        # A later line may bring new columns, which earlier ones do not have.
        aside = dict(zip(table.kept_aside, extra, strict=False))
        found: list[Found] = []
        if of_export:
            metadata = object_of("metadata", aside.pop("metadata", ""), _noting(found))
            record = make(line, cells, aside, found)
            record.metadata.update(metadata)
            # Answers may have come before the questions, whose texts are not known then.
            found = [entry for entry in found if entry[1] != NO_TEXT]
        else:
            record = make(line, cells, aside, found)
        for column, code, values in found:
            problems.add_code(line, column, code, **values)
        if found:
            continue
        first = records.setdefault(getattr(record, key), record)
        if first is record:
            continue
        n_repeated += 1
        if first != record:
            what = ", ".join(differences(first, record))
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


def differences(one: QuestionRecord | PassageRecord, other: object) -> list[str]:
    """The names of the fields in which two records (or a record and a row) differ."""
    return [
        f.name
        for f in dataclasses.fields(one)
        if f.compare and getattr(one, f.name) != getattr(other, f.name)
    ]


def _question(
    line: int, cells: tuple[str, ...], aside: dict[str, str], found: list[Found]
) -> QuestionRecord:
    name, text, passage = clean_id(cells[0]), cells[1].strip(), clean_id(cells[2])
    found.extend(_texts("question", name, text, LONGEST_QUESTION))
    choices = tuple(_listed("choices", aside, found, nested=False))
    accepted = tuple(_listed("accepted_answers", aside, found, nested=True))
    kind = _short("kind", aside).casefold() or ("choice" if choices else "free")
    if kind not in KINDS:
        found.append(("kind", *_unknown("kind", kind, KINDS)))
    elif (kind == "choice") != bool(choices):
        found.append(("choices", "choices_not_allowed", {}))
    role = _word("role", aside, ROLES, found)
    feedback = _beside("feedback", aside, found)
    translations = _translations(OF_QUESTION, aside, found)
    max_characters = _limit(aside, found)
    record = QuestionRecord(
        line,
        name,
        text,
        passage,
        kind,
        choices,
        accepted,
        _answerable(aside, found),
        _short("category", aside),
        _short("language", aside),
        _metadata(aside),
        role,
        feedback,
        max_characters,
        translations,
    )
    found.extend(_too_long(record, "question", "passage", "category", "language"))
    return record


def _passage(
    line: int, cells: tuple[str, ...], aside: dict[str, str], found: list[Found]
) -> PassageRecord:
    name, text = clean_id(cells[0]), cells[1].strip()
    found.extend(_texts("passage", name, text, LONGEST_PASSAGE))
    title, language = _short("title", aside), _short("language", aside)
    written = _word("format", aside, FORMATS, found)
    alt = _beside("image_alt", aside, found)
    said = _translations(OF_PASSAGE, aside, found)
    record = PassageRecord(line, name, title, text, language, _metadata(aside), written, alt, said)
    found.extend(_too_long(record, "passage", "title", "language"))
    return record


def _texts(key: str, name: str, text: str, longest: int) -> Iterator[Found]:
    if not name:
        yield key, "record_id_missing", {"name": key}
    if not text:
        yield "text", NO_TEXT, {}
    elif len(text) * 4 > longest and (size := len(text.encode())) > longest:
        yield "text", "text_too_long", {"size": size, "most": longest}


def _too_long(record: object, *names: str) -> Iterator[Found]:
    for name in names:
        if (size := len(getattr(record, name))) > LONGEST[name]:
            yield name, "value_too_long", {"name": name, "size": size, "most": LONGEST[name]}


def _short(name: str, aside: dict[str, str]) -> str:
    return clean_id(aside.pop(name, ""))


def _word(name: str, aside: dict[str, str], known: tuple[str, ...], found: list[Found]) -> str:
    word = _short(name, aside).casefold() or known[0]
    if word not in known:
        found.append((name, *_unknown(name, word, known)))
    return word


def _unknown(name: str, word: str, known: Sequence[str]) -> tuple[str, dict[str, Any]]:
    return "word_unknown", {"name": name, "word": word[:40], "known": ", ".join(known)}


def _beside(name: str, aside: dict[str, str], found: list[Found]) -> str:
    text = aside.pop(name, "").strip()
    if len(text) > LONGEST_BESIDE:
        values = {"size": len(text), "most": LONGEST_BESIDE}
        found.append((name, "beside_text_long", values))
    return text


def _translations(
    names: tuple[str, ...], aside: dict[str, str], found: list[Found]
) -> dict[str, dict[str, Any]]:
    """Take the cells of columns such as text.ar; a column whose end is no language stays aside."""
    said: dict[str, dict[str, Any]] = {}
    for column in [one for one in aside if one.partition(".")[0] in names and "." in one]:
        name, _, tag = column.partition(".")
        try:
            language = canonical(tag)
        except ValueError:
            continue
        if not is_known(language):
            continue
        value: Any
        if name in LISTS:
            value = _listed(column, aside, found, nested=name == "accepted_answers")
        elif name == "text":
            value = aside.pop(column).strip()
            if (size := len(value.encode())) > LONGEST_PASSAGE:
                values = {"size": size, "most": LONGEST_PASSAGE}
                found.append((column, "translation_too_long", values))
        else:
            value = _beside(column, aside, found)
        if value:
            said.setdefault(language, {})[name] = value
    return said


def _limit(aside: dict[str, str], found: list[Found]) -> int | None:
    cell = _short("max_characters", aside)
    # A spreadsheet writes whole numbers with a point, too.
    number = cell.removesuffix(".0")
    if not cell:
        return None
    if number.isascii() and number.isdecimal() and 1 <= int(number[:9]) <= LONGEST_QUESTION:
        return int(number)
    found.append(("max_characters", "max_characters_unusable", {"most": LONGEST_QUESTION}))
    return None


def _answerable(aside: dict[str, str], found: list[Found]) -> bool | None:
    word = _short("answerable", aside).casefold()
    if word and word not in YES + NO:
        found.append(("answerable", "not_boolean", {"cell": word[:40]}))
    return word in YES if word else None


def _listed(name: str, aside: dict[str, str], found: list[Found], *, nested: bool) -> list[Any]:
    cell = aside.pop(name, "").strip()
    if not cell.startswith("["):
        return [entry.strip() for entry in cell.split("|") if entry.strip()]
    try:
        # Numbers stay as typed.
        value = json.loads(cell, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, list) and all(_is_entry(entry, nested) for entry in value):
        return value
    found.append((name, "not_text_list", {}))
    return []


def _is_entry(entry: object, nested: bool) -> bool:
    if nested and isinstance(entry, list):
        return bool(entry) and all(_is_entry(alias, nested=False) for alias in entry)
    return isinstance(entry, str) and bool(entry.strip())


def _metadata(aside: dict[str, str]) -> dict[str, str]:
    return {name: cell for name, cell in aside.items() if cell.strip()}
