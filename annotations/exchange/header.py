"""The columns of a file: which are wanted, where they stand, which are kept aside."""

from __future__ import annotations

import csv
import io
import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from annotations.exchange.column_names import plain_name
from annotations.exchange.defusing import MARK as DEFUSED
from annotations.exchange.defusing import restored
from annotations.exchange.problems import InputError, Problem

LISTED = 20
MOST_COLUMNS = 4_096
"""Columns of a file of any format: a workbook of more is refused while it is unpacked."""

OF_ANSWERS = "crowdgrade:answers"
OF_MODEL_ANSWERS = "crowdgrade:model-answers"
OF_QUESTIONS = "crowdgrade:questions"
OF_PASSAGES = "crowdgrade:passages"
MARKS = frozenset({DEFUSED, OF_ANSWERS, OF_MODEL_ANSWERS, OF_QUESTIONS, OF_PASSAGES})
"""Names of columns by which a file says that it is our own export, and how its texts stand."""

Row = tuple[int, tuple[str, ...], tuple[str, ...]]
"""What every format hands on: the line where the row begins, the wanted cells in the order asked
for, the cells kept aside."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column that a reader wants.

    `key` is our word for it, `names` are the names it may have in the file, the preferred first.
    With `mark` it is wanted only in a file that has a column of that name too; in any other file
    a column of its name is just another one. Of one that is `structured` JSON Lines may hold a list
    or an object, which is handed on as JSON. `renamed_by` is the option of the command line that
    says how it is called in a file, "" where there is none. In a file that people fill in by hand a
    name may stand in `any_case`, with other blanks and signs: a column "Bonus" that is read over is
    an amount that is lost. With `exactly_first` one that is spelled as we do goes before others.
    """

    key: str
    names: tuple[str, ...]
    required: bool = True
    mark: str = ""
    renamed_by: str = "--columns"
    structured: bool = False
    any_case: bool = False
    exactly_first: bool = False

    def found_in(self, names: Sequence[str], *, marked: bool) -> list[int]:
        """Where it stands among the names of a header: more than once is a mistake."""
        if self.mark and not marked:
            return []
        folds = (str.casefold, plain_name) if self.any_case else (str,)
        for fold in (str, *folds) if self.exactly_first else folds:
            for name in self.names:
                places = [i for i, one in enumerate(names) if one and fold(one) == fold(name)]
                if places:
                    return places
        return []


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the columns of one file stand.

    `wanted` holds the position of each wanted column (None for an absent optional one), `others`
    the position and name of each further column that has a name, `marks` the columns by which the
    file says what it is (`MARKS`).
    """

    wanted: tuple[int | None, ...]
    others: tuple[tuple[int, str], ...]
    marks: frozenset[str] = frozenset()

    @property
    def is_defused(self) -> bool:
        """Whether texts stand as `defusing` writes them."""
        return DEFUSED in self.marks


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """How the columns are called in the files; the defaults are our own words."""

    worker: str = "worker"
    question: str = "question"
    answer: str = "answer"
    model: str = "model"
    status: str = "status"

    @classmethod
    def parse(cls, text: str) -> ColumnNames:
        """The names in `worker=NAME,question=NAME,...`; what is not named keeps its default.

        Names may hold spaces and, after the first one, equal signs; an entry with a comma is
        quoted as in CSV (`"answer=Answer, in full"`). Raises ValueError, with a sentence for the
        user, for an unknown word, an entry without `=` or without a name, a word given twice, and
        a name that would serve two columns of the same file.
        """
        known = [field.name for field in fields(cls)]
        given = given_names(text, known)
        names = cls(**given)
        for same_file in (("worker", "question", "answer"), ("model", *known[1:3], "status")):
            taken: dict[str, str] = {}
            for key in same_file:
                other = taken.setdefault(getattr(names, key), key)
                if other != key:
                    raise ValueError(f"{other} and {key} are both named {getattr(names, key)!r}")
        return names

    def for_answers(self) -> tuple[Column, ...]:
        """Worker, question, answer."""
        return (
            Column("worker", (self.worker,)),
            Column("question", (self.question,)),
            Column("answer", (self.answer,)),
        )

    def for_model_answers(self) -> tuple[Column, ...]:
        """Model, question, answer, status.

        A name given for question or answer was perhaps meant for the workers' file only, so our
        own word will do as well. Status may be absent unless it was given a name.
        """
        return (
            Column("model", (self.model,)),
            Column("question", tuple(dict.fromkeys((self.question, "question")))),
            Column("answer", tuple(dict.fromkeys((self.answer, "answer")))),
            Column("status", (self.status,), required=self.status != "status"),
        )


def given_names(text: str, known: Sequence[str]) -> dict[str, str]:
    """The names in `KEY=NAME,...`, by their keys, which are among `known`.

    Raises ValueError, with a sentence for the user, as `ColumnNames.parse` says.
    """
    given: dict[str, str] = {}
    try:
        rows = list(csv.reader(io.StringIO(text), strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise ValueError(f"the column names {text!r} are not quoted as in CSV") from error
    if len(rows) != 1 or not rows[0]:
        raise ValueError(f"expected the column names as {known[0]}=NAME,{known[1]}=NAME,...")
    for entry in rows[0]:
        key, equals, name = entry.partition("=")
        key, name = key.strip(), clean_name(name)
        if not equals:
            raise ValueError(
                f"{entry.strip()!r} has no '=': expected {'=NAME, '.join(known)}=NAME; "
                'an entry whose name holds a comma goes in quotes: "answer=First, second"'
            )
        if key not in known:
            raise ValueError(f"unknown column {key!r}: the known ones are {', '.join(known)}")
        if key in given:
            raise ValueError(f"the column {key!r} is named twice")
        if not name:
            raise ValueError(f"no name after '{key}='")
        given[key] = name
    return given


def refuse_columns(file: str, n: int) -> None:
    """Raise `InputError` for a file of more columns than are read."""
    if n > MOST_COLUMNS:
        raise InputError.from_code(file, "too_many_columns", n=n, most=MOST_COLUMNS)


def clean_name(name: str) -> str:
    """A column's name as it is compared: trimmed and in Unicode's NFC."""
    return unicodedata.normalize("NFC", name).strip()


CORNER = "participant"
"""The name of the first column of a table with people as columns, which often has none."""


def named_corner(names: Sequence[str]) -> Sequence[str]:
    """Return the names of a header, also of columns without a heading.

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


def lay_out(names: Iterable[str], columns: Sequence[Column], file: str, line: int) -> Layout:
    """Find the wanted columns among the names of a header.

    Raises `InputError`, a problem for each required column that is missing and for each wanted
    one that stands there twice. Columns without a name are left out; names that are not wanted
    may repeat.
    """
    found = [clean_name(name) for name in names]
    marks = MARKS.intersection(found)
    if DEFUSED in marks:
        found = [clean_name(restored(name)) for name in found]
    problems: list[Problem] = []
    wanted: list[int | None] = []
    for column in columns:
        places = column.found_in(found, marked=column.mark in marks)
        wanted.append(places[0] if places else None)
        if not places and column.required:
            problems.append(_missing(column, found, file, line))
        if len(places) > 1:
            first, again = places[0], places[1] + 1
            problems.append(
                Problem.from_code(
                    file, line, found[first], "column_twice", first=first + 1, again=again
                )
            )
    if problems:
        raise InputError(problems)
    others = tuple(
        (i, name) for i, name in enumerate(found) if name and i not in wanted and name not in marks
    )
    return Layout(tuple(wanted), others, marks)


def _missing(column: Column, found: Sequence[str], file: str, line: int) -> Problem:
    listed = ", ".join(name if len(name) <= 40 else f"{name[:40]}..." for name in found[:LISTED])
    listed = listed or "none"
    if len(found) > LISTED:
        listed += f" and {len(found) - LISTED} more"
    name = column.names[0]
    alike = {_squashed(n) for n in (*column.names, column.key)}
    suggestion = next((n for n in found if n and _squashed(n) in alike), None)
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
        renaming=_option(column.key, suggestion) if suggestion else "",
    )


def _squashed(name: str) -> str:
    return "".join(c for c in name.casefold() if not c.isspace() and c not in "_-")


def _option(key: str, name: str) -> str:
    entry = f"{key}={name}"
    if "," in entry or '"' in entry:
        entry = '"' + entry.replace('"', '""') + '"'
    return shlex.quote(entry)
