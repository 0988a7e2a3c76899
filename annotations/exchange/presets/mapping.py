"""Mapping of a file's columns to their roles: worker, question, answer, time and so on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from annotations.exchange.header import clean_column_name
from annotations.exchange.problems import InputError


class Role(StrEnum):
    """Role of a column in an import of answers; the values are the keys of the option --map."""

    WORKER = "worker"
    QUESTION = "question"
    TEXT = "text"
    ANSWER = "answer"
    CHECK = "check"
    TIME = "time"
    EXTRA = "extra"
    IGNORE = "ignore"


ROW_NUMBER = "#row"
"""Chosen as the worker column of a file without one: the row number is the worker."""


@dataclass(frozen=True, slots=True)
class Mapping:
    """The names of the columns that have a role in an import of answers.

    With a column for the `question` a row holds the answers to the question of that id: one, or
    where there are several `answers` one of each, to the question ID:COLUMN. Without it (a wide
    file) each of the `answers` is a question, called like its column. `text` is the column of the
    question's wording, "" where there is none. `checks` are the columns of attention checks, each
    with its right answer. `times` are the columns of times and durations, None for those that the
    preset knows by name. `ignored` columns are not stored. All others are stored as extra
    information, personal ones only if they are among `extra`.
    """

    worker: str = ""
    question: str = ""
    answers: tuple[str, ...] = ()
    text: str = ""
    # Mappings of the same columns are equal, whether these were guessed or chosen.
    guessed: tuple[str, ...] = field(default=(), compare=False)
    checks: tuple[tuple[str, str], ...] = ()
    times: tuple[str, ...] | None = None
    extra: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all mapped columns, each once, without the row number."""
        worker = "" if self.worker == ROW_NUMBER else self.worker
        checks = (column for column, _ in self.checks)
        named = (worker, self.question, self.text, *self.answers, *checks)
        return tuple(dict.fromkeys(name for name in named if name))

    def as_dict(self) -> dict[str, Any]:
        """Return the column names as JSON values, which `from_dict` reads back."""
        listed: dict[str, Any] = {"answers": list(self.answers), "guessed": list(self.guessed)}
        listed["checks"] = [list(check) for check in self.checks]
        listed |= {"extra": list(self.extra), "ignored": list(self.ignored)}
        listed["times"] = None if self.times is None else list(self.times)
        return {**asdict(self), **listed}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Mapping:
        """Return the mapping with the column names in a dict made by `as_dict`."""
        names = ("answers", "guessed", "extra", "ignored")
        listed: dict[str, Any] = {name: tuple(values.get(name, ())) for name in names}
        listed["checks"] = tuple((column, right) for column, right in values.get("checks", ()))
        times = values.get("times")
        listed["times"] = None if times is None else tuple(times)
        return cls(**{**values, **listed})

    def describe_guessed_columns(self) -> str:
        """Return the guessed columns as text, such as "worker = id, answer = reply"; or ""."""
        answers = self.answers[0] if len(self.answers) == 1 else ""
        of = {"worker": self.worker, "question": self.question, "answer": answers}
        return ", ".join(f"{key} = {of[key]}" for key in self.guessed if of[key])

    def build_question_id(self, row_id: str, column: str) -> str:
        """Return the id of the question that a cell answers, from row id and column name."""
        if not self.question:
            return column
        return row_id if len(self.answers) == 1 else f"{row_id}:{column}"

    def replace_roles(self, entries: Iterable[str], header: Sequence[str], file: str) -> Mapping:
        """Return the mapping with roles replaced by `KEY=COLUMN` entries (option --map).

        KEY is a `Role`. All but worker, question and text may come several times, and their COLUMN
        be a glob such as Q*; a check is COLUMN=RIGHT ANSWER. The worker may be `ROW_NUMBER`. An
        empty COLUMN takes a role away. A column that gets a role loses the one that was proposed.
        Raises ValueError, with a sentence for the user, for an unknown key, and `InputError` for a
        column that the file does not have. Of two roles for one column the later in `Role` counts.
        """
        given: dict[str, list[str]] = {}
        for entry in entries:
            key, equals, name = entry.partition("=")
            key = key.strip()
            if not equals or key not in tuple(Role):
                raise ValueError(
                    f"{entry!r} is no KEY=COLUMN, where KEY is one of {', '.join(Role)}"
                )
            given.setdefault(key, []).append(clean_column_name(name))
        found = replace(
            self,
            worker=given.get("worker", [self.worker])[-1],
            question=given.get("question", [self.question])[-1],
            text=given.get("text", [self.text])[-1],
            guessed=tuple(key for key in self.guessed if key not in given),
        )
        if Role.ANSWER in given:
            found = replace(found, answers=match_columns(given[Role.ANSWER], header, file))
        if Role.CHECK in given:
            checks = [
                _parse_attention_check(entry, header, file) for entry in given[Role.CHECK] if entry
            ]
            found = replace(found, checks=tuple(dict(checks).items()))
        others = {
            key: match_columns([name for name in given[key] if name], header, file)
            for key in (Role.TIME, Role.EXTRA, Role.IGNORE)
            if key in given
        }
        if Role.TIME in others:
            found = replace(found.drop_columns(others[Role.TIME]), times=others[Role.TIME])
        if Role.EXTRA in others:
            found = replace(found.drop_columns(others[Role.EXTRA]), extra=others[Role.EXTRA])
        if Role.IGNORE in others:
            found = replace(found.drop_columns(others[Role.IGNORE]), ignored=others[Role.IGNORE])
        return found.drop_checks_from_answers()

    def drop_columns(self, columns: Iterable[str]) -> Mapping:
        """Return a copy of the mapping in which these columns have no role."""
        taken = frozenset(columns)

        def keep_others(names: Iterable[str]) -> tuple[str, ...]:
            """Return the names that are not among the removed columns."""
            return tuple(name for name in names if name not in taken)

        return replace(
            self,
            worker="" if self.worker in taken else self.worker,
            question="" if self.question in taken else self.question,
            text="" if self.text in taken else self.text,
            answers=keep_others(self.answers),
            checks=tuple((name, right) for name, right in self.checks if name not in taken),
            times=None if self.times is None else keep_others(self.times),
            extra=keep_others(self.extra),
            ignored=keep_others(self.ignored),
        )

    def drop_checks_from_answers(self) -> Mapping:
        """Return a copy of the mapping whose answer columns omit its attention checks."""
        checks = {column for column, _ in self.checks}
        return replace(self, answers=tuple(name for name in self.answers if name not in checks))

    def find_positions(self, header: Sequence[str], file: str) -> dict[str, int]:
        """Return the position of each mapped column; `InputError` for an unusable mapping."""
        if not self.worker or not self.answers:
            what = "worker" if not self.worker else "answers"
            raise InputError.from_code(
                file, "mapped_column_unnamed", what=what, found=format_names(header)
            )
        counts = Counter(header)
        for name in self.columns:
            if name not in counts:
                raise build_missing_column_error(name, header, file)
            if counts[name] > 1:
                raise InputError.from_code(file, "mapped_column_ambiguous", name=name)
        worker = self.worker != ROW_NUMBER and self.worker
        named = sum(map(bool, (worker, self.question, self.text)))
        named += len(self.answers) + len(self.checks)
        # `columns` has each name once: fewer names than roles mean a column with two roles.
        if len(self.columns) < named:
            raise InputError.from_code(file, "mapped_column_twice")
        positions = {name: at for at, name in enumerate(header)}
        return {name: positions[name] for name in self.columns}


def match_columns(globs: Sequence[str], header: Sequence[str], file: str) -> tuple[str, ...]:
    """Return the columns that names or globs such as Q* select; `InputError` if one selects none.

    A text that equals a column name always selects that column, also if it contains * or [.
    """
    exact = set(globs).intersection(header)
    wanted = dict.fromkeys(globs)
    names = [
        name for name in header if name in exact or any(fnmatchcase(name, glob) for glob in wanted)
    ]
    for glob in wanted:
        if glob not in exact and not any(fnmatchcase(name, glob) for name in names):
            raise build_missing_column_error(glob, header, file)
    return tuple(dict.fromkeys(names))


def _parse_attention_check(entry: str, header: Sequence[str], file: str) -> tuple[str, str]:
    """Parse COLUMN=RIGHT ANSWER to (column, right answer); both may contain equal signs."""
    columns = [name for name in header if name and entry.startswith(f"{name}=")]
    # The longest: a column may be named like another one, followed by an equal sign and more.
    column = max(columns, key=len, default="")
    right = entry[len(column) + 1 :].strip() if column else ""
    if not column and entry.partition("=")[0].strip() not in header:
        raise build_missing_column_error(entry.partition("=")[0].strip(), header, file)
    if not right:
        raise ValueError(f"{entry!r} lacks the right answer: write check=COLUMN=RIGHT ANSWER")
    return column, right


def build_missing_column_error(name: str, header: Sequence[str], file: str) -> InputError:
    """Return the error for a mapped column that the file's header does not have."""
    return InputError.from_code(
        file, "mapped_column_missing", name=name[:60], found=format_names(header)
    )


def format_names(header: Sequence[str], most: int = 20) -> str:
    """Return the first `most` column names as one text, for an error message."""
    more = f" and {len(header) - most} more" if len(header) > most else ""
    return (", ".join(name[:40] for name in header[:most]) or "none") + more
