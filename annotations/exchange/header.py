"""Find the columns that a reader wants in a file's header, and the file's further columns."""

from __future__ import annotations

import csv
import io
import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

from annotations.exchange.column_names import normalise_name
from annotations.exchange.defusing import MARK as DEFUSED
from annotations.exchange.defusing import restore_text
from annotations.exchange.ids import BLANKS, INVISIBLE
from annotations.exchange.problems import InputError, Problem

LISTED = 20
MOST_COLUMNS = 4_096
"""Columns of a file of any format: a workbook of more is refused while it is unpacked."""

OF_ANSWERS = "crowdgrade:answers"
OF_MODEL_ANSWERS = "crowdgrade:model-answers"
OF_QUESTIONS = "crowdgrade:questions"
OF_PASSAGES = "crowdgrade:passages"
MARKS = frozenset({DEFUSED, OF_ANSWERS, OF_MODEL_ANSWERS, OF_QUESTIONS, OF_PASSAGES})
"""Names of columns that mark a file as an export of ours, or its texts as defused."""

_ENDS = re.compile(f"^[{BLANKS}{INVISIBLE}]+|[{BLANKS}{INVISIBLE}]+$")

Row = tuple[int, tuple[str, ...], tuple[str, ...]]
"""A row of any format: its first line, the wanted cells in the order of the wanted columns, the
further cells."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column that a reader looks for in a file's header, under any of its accepted names.

    `key` is its default name, `names` are the names it may have in the file, the preferred first.
    With `mark` it is wanted only in a file that has a column of that name too; in any other file it
    is a further column. If it is `structured`, JSON Lines may hold a list or an object, which is
    returned as JSON. `renamed_by` is the command line option that sets its name, "" where there is
    none. In a file that people fill in by hand a name may be in `any_case`, with other blanks and
    signs: a column "Bonus" that is ignored is an amount that is not paid. With `exactly_first` an
    exact name is preferred to others.
    """

    key: str
    names: tuple[str, ...]
    required: bool = True
    mark: str = ""
    renamed_by: str = "--columns"
    structured: bool = False
    any_case: bool = False
    exactly_first: bool = False

    def find_positions(self, names: Sequence[str], *, marked: bool) -> list[int]:
        """Return the positions of this column in a header; [] if absent, several if duplicated."""
        if self.mark and not marked:
            return []
        # A name in another case is preferred to one with other blanks and signs.
        folds = (str.casefold, normalise_name) if self.any_case else (str,)
        for fold in (str, *folds) if self.exactly_first else folds:
            for name in self.names:
                positions = [
                    i for i, heading in enumerate(names) if heading and fold(heading) == fold(name)
                ]
                if positions:
                    return positions
        return []


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """Positions of the wanted and of the further columns in a file, and its marking columns.

    `wanted` holds the position of each wanted column (None for an absent optional one), `others`
    the position and name of each further column that has a name, `marks` the marking columns
    (`MARKS`).
    """

    wanted: tuple[int | None, ...]
    others: tuple[tuple[int, str], ...]
    marks: frozenset[str] = frozenset()

    @property
    def is_defused(self) -> bool:
        """Whether the file's texts are escaped against spreadsheet formulas (see `defusing`)."""
        return DEFUSED in self.marks


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """Names of the columns in a file of answers: worker, question, answer, model, status."""

    worker: str = "worker"
    question: str = "question"
    answer: str = "answer"
    model: str = "model"
    status: str = "status"

    @classmethod
    def parse(cls, text: str) -> ColumnNames:
        """Parse `worker=NAME,question=NAME,...` to column names; unnamed ones keep their defaults.

        Names may hold spaces and, after the first one, equal signs; an entry with a comma is
        quoted as in CSV (`"answer=Answer, in full"`). Raises ValueError, with a sentence for the
        user, for an unknown word, an entry without `=` or without a name, a word given twice, and
        a name that would serve two columns of the same file.
        """
        known = [field.name for field in fields(cls)]
        names_by_key = parse_column_names(text, known)
        names = cls(**names_by_key)
        for same_file in (("worker", "question", "answer"), ("model", *known[1:3], "status")):
            key_by_name: dict[str, str] = {}
            for key in same_file:
                other = key_by_name.setdefault(getattr(names, key), key)
                if other != key:
                    raise ValueError(f"{other} and {key} are both named {getattr(names, key)!r}")
        return names

    def build_answer_columns(self) -> tuple[Column, ...]:
        """Return the required columns of a file of workers' answers: worker, question, answer."""
        return (
            Column("worker", (self.worker,)),
            Column("question", (self.question,)),
            Column("answer", (self.answer,)),
        )

    def build_model_answer_columns(self) -> tuple[Column, ...]:
        """Return the columns of a file of model answers: model, question, answer, status.

        The default names of question and answer are accepted too, because a chosen name may be
        meant for the workers' file only. Status may be absent unless a name was chosen for it.
        """
        return (
            Column("model", (self.model,)),
            Column("question", tuple(dict.fromkeys((self.question, "question")))),
            Column("answer", tuple(dict.fromkeys((self.answer, "answer")))),
            Column("status", (self.status,), required=self.status != "status"),
        )


def parse_column_names(text: str, known: Sequence[str]) -> dict[str, str]:
    """Parse `KEY=NAME,...` to a dict of column names by key; ValueError for a key not in `known`.

    Raises ValueError, with a sentence for the user, as `ColumnNames.parse` specifies.
    """
    names_by_key: dict[str, str] = {}
    try:
        rows = list(csv.reader(io.StringIO(text), strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise ValueError(f"the column names {text!r} are not quoted as in CSV") from error
    if len(rows) != 1 or not rows[0]:
        raise ValueError(f"expected the column names as {known[0]}=NAME,{known[1]}=NAME,...")
    for entry in rows[0]:
        key, equals, name = entry.partition("=")
        key, name = key.strip(), clean_column_name(name)
        if not equals:
            raise ValueError(
                f"{entry.strip()!r} has no '=': expected {'=NAME, '.join(known)}=NAME; "
                'an entry whose name holds a comma goes in quotes: "answer=First, second"'
            )
        if key not in known:
            raise ValueError(f"unknown column {key!r}: the known ones are {', '.join(known)}")
        if key in names_by_key:
            raise ValueError(f"the column {key!r} is named twice")
        if not name:
            raise ValueError(f"no name after '{key}='")
        names_by_key[key] = name
    return names_by_key


def refuse_too_many_columns(file: str, n: int) -> None:
    """Raise `InputError` if a file has more than 4,096 columns."""
    if n > MOST_COLUMNS:
        raise InputError.from_code(file, "too_many_columns", n=n, most=MOST_COLUMNS)


def clean_column_name(name: str) -> str:
    """Return a column name in the form in which names are compared: trimmed, in Unicode's NFC.

    Invisible characters at its ends, such as a second byte order mark, are removed too.
    """
    return _ENDS.sub("", unicodedata.normalize("NFC", name))


CORNER = "participant"
"""The name of the first column of a table with people as columns, which often has none."""


def fill_empty_headings(names: Sequence[str]) -> Sequence[str]:
    """Return the column names of a header with a generated name in place of each empty one.

    The first one is then `CORNER`; each other one has the name at its left with its number, such
    as "Which of these? [2]".
    """
    found: list[str] = []
    base, number = "", 1
    for name in names:
        if name.strip():
            base, number = name.strip(), 1
            found.append(name)
        elif base:
            number += 1
            found.append(f"{base} [{number}]")
        else:
            found.append(CORNER if not found else name)
    return found


@lru_cache(maxsize=64)
def number_repeated_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return column names with a number added to each repeated one: note, note [2]."""
    counts: Counter[str] = Counter()
    numbered = []
    for name in names:
        counts[name] += 1
        numbered.append(name if counts[name] == 1 else f"{name} [{counts[name]}]")
    return tuple(numbered)


def map_extra_cells(cells: tuple[str, ...], kept_aside: Sequence[str]) -> dict[str, str]:
    """Return a row's further cells by column name, "" for columns beyond the row's end."""
    cells += ("",) * (len(kept_aside) - len(cells))
    return dict(zip(number_repeated_names(tuple(kept_aside)), cells, strict=True))


def locate_columns(
    names: Iterable[str], columns: Sequence[Column], file: str, line: int
) -> ColumnLayout:
    """Return a file's `ColumnLayout`: the positions of its wanted and of its further columns.

    Raises `InputError`, a problem for each required column that is missing and for each wanted
    one that occurs twice. Columns without a name are left out; names that are not wanted
    may repeat.
    """
    headings = [clean_column_name(name) for name in names]
    marks = MARKS.intersection(headings)
    # In such a file the names of columns are escaped like the cells.
    if DEFUSED in marks:
        headings = [clean_column_name(restore_text(name)) for name in headings]
    problems: list[Problem] = []
    wanted: list[int | None] = []
    for column in columns:
        positions = column.find_positions(headings, marked=column.mark in marks)
        wanted.append(positions[0] if positions else None)
        # All missing columns are collected, so that the user corrects the file once.
        if not positions and column.required:
            problems.append(_build_missing_column_problem(column, headings, file, line))
        if len(positions) > 1:
            first, again = positions[0], positions[1] + 1
            problems.append(
                Problem.from_code(
                    file, line, headings[first], "column_twice", first=first + 1, again=again
                )
            )
    if problems:
        raise InputError(problems)
    others = tuple(
        (i, name)
        for i, name in enumerate(headings)
        if name and i not in wanted and name not in marks
    )
    return ColumnLayout(tuple(wanted), others, marks)


def _build_missing_column_problem(
    column: Column, headings: Sequence[str], file: str, line: int
) -> Problem:
    """Return the problem of a missing required column, suggesting a heading that may be meant."""
    listed = ", ".join(name if len(name) <= 40 else f"{name[:40]}..." for name in headings[:LISTED])
    listed = listed or "none"
    if len(headings) > LISTED:
        listed += f" and {len(headings) - LISTED} more"
    name = column.names[0]
    accepted = {_simplify_name(n) for n in (*column.names, column.key)}
    suggestion = next((n for n in headings if n and _simplify_name(n) in accepted), None)
    return Problem.from_code(
        file,
        line,
        None,
        "column_missing",
        name=name,
        key=column.key,
        found=listed,
        suggestion=suggestion,
        option=column.renamed_by,
        renaming=_quote_option(column.key, suggestion) if suggestion else "",
    )


def _simplify_name(name: str) -> str:
    """Return a column name in lower case without blanks, "_" and "-"."""
    return "".join(c for c in name.casefold() if not c.isspace() and c not in "_-")


def _quote_option(key: str, name: str) -> str:
    """Return `KEY=NAME` quoted as in CSV and for the shell, for a suggested command."""
    entry = f"{key}={name}"
    if "," in entry or '"' in entry:
        entry = '"' + entry.replace('"', '""') + '"'
    return shlex.quote(entry)
