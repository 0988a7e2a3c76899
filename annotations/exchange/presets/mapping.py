"""Mapping that says which columns of a file hold workers, questions and answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from annotations.exchange.header import clean_name
from annotations.exchange.problems import InputError

KEYS = ("worker", "question", "text", "answer", "check")
ROW_NUMBER = "#row"
"""Chosen as the worker column of a file without one: the row number is the worker."""


@dataclass(frozen=True, slots=True)
class Mapping:
    """The names of the columns that hold workers, questions, answers and attention checks.

    With a column for the `question` a row holds the answers to the question of that id: one, or
    where there are several `answers` one of each, to the question ID:COLUMN. Without it (a wide
    file) each of the `answers` is a question, called like its column. `text` is the column of the
    question's wording, "" where there is none. `checks` are the columns of attention checks, each
    with its right answer.
    """

    worker: str = ""
    question: str = ""
    answers: tuple[str, ...] = ()
    text: str = ""
    guessed: tuple[str, ...] = field(default=(), compare=False)
    checks: tuple[tuple[str, str], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all mapped columns, each once, without the row number."""
        worker = "" if self.worker == ROW_NUMBER else self.worker
        checks = (column for column, _ in self.checks)
        named = (worker, self.question, self.text, *self.answers, *checks)
        return tuple(dict.fromkeys(name for name in named if name))

    def as_dict(self) -> dict[str, Any]:
        """Return the column names as JSON values, which `of_dict` reads back."""
        listed: dict[str, Any] = {"answers": list(self.answers), "guessed": list(self.guessed)}
        listed["checks"] = [list(one) for one in self.checks]
        return {**asdict(self), **listed}

    @classmethod
    def of_dict(cls, values: dict[str, Any]) -> Mapping:
        """Return the mapping whose column names are in a dict made by `as_dict`."""
        listed: dict[str, Any] = {
            name: tuple(values.get(name, ())) for name in ("answers", "guessed")
        }
        listed["checks"] = tuple((column, right) for column, right in values.get("checks", ()))
        return cls(**{**values, **listed})

    def guess(self) -> str:
        """Return the guessed columns as text, such as "worker = id, question = item"."""
        answers = self.answers[0] if len(self.answers) == 1 else ""
        of = {"worker": self.worker, "question": self.question, "answer": answers}
        return ", ".join(f"{key} = {of[key]}" for key in self.guessed if of[key])

    def question_of(self, row_id: str, column: str) -> str:
        """Return the id of the question that a cell answers, from row id and column name."""
        if not self.question:
            return column
        return row_id if len(self.answers) == 1 else f"{row_id}:{column}"

    def changed(self, entries: Iterable[str], header: Sequence[str], file: str) -> Mapping:
        """Return the mapping with columns replaced by `KEY=COLUMN` entries (option --map).

        KEY is worker, question, text, answer or check; answer may come several times, and its
        COLUMN be a glob such as Q*. A check is COLUMN=RIGHT ANSWER, and may come several times. The
        worker may be `ROW_NUMBER`. An empty COLUMN takes one away. Raises
        ValueError, with a sentence for the user, for an unknown key, and `InputError` for a column
        that the file does not have.
        """
        given: dict[str, list[str]] = {}
        for entry in entries:
            key, equals, name = entry.partition("=")
            key = key.strip()
            if not equals or key not in KEYS:
                raise ValueError(
                    f"{entry!r} is no KEY=COLUMN, where KEY is one of {', '.join(KEYS)}"
                )
            given.setdefault(key, []).append(clean_name(name))
        found = replace(
            self,
            worker=given.get("worker", [self.worker])[-1],
            question=given.get("question", [self.question])[-1],
            text=given.get("text", [self.text])[-1],
            guessed=tuple(key for key in self.guessed if key not in given),
        )
        if "answer" in given:
            globs = given["answer"]
            # A name that stands there exactly is meant, whatever signs it holds.
            exact = set(globs).intersection(header)
            globs = list(dict.fromkeys(globs))
            names = [
                name
                for name in header
                if name in exact or any(fnmatchcase(name, glob) for glob in globs)
            ]
            for glob in globs:
                if glob not in exact and not any(fnmatchcase(name, glob) for name in names):
                    raise missing(glob, header, file)
            found = replace(found, answers=tuple(dict.fromkeys(names)))
        if "check" in given:
            checks = [_check_of(entry, header, file) for entry in given["check"] if entry]
            found = replace(found, checks=tuple(dict(checks).items()))
        return found.without_checks_in_answers()

    def without_checks_in_answers(self) -> Mapping:
        """Return the mapping without answer columns that are attention checks."""
        checks = {column for column, _ in self.checks}
        return replace(self, answers=tuple(name for name in self.answers if name not in checks))

    def checked(self, header: Sequence[str], file: str) -> dict[str, int]:
        """Return the position of each mapped column; `InputError` for an unusable mapping."""
        if not self.worker or not self.answers:
            what = "worker" if not self.worker else "answers"
            raise InputError.from_code(
                file, "mapped_column_unnamed", what=what, found=listed(header)
            )
        counts = Counter(header)
        for name in self.columns:
            if name not in counts:
                raise missing(name, header, file)
            if counts[name] > 1:
                raise InputError.from_code(file, "mapped_column_ambiguous", name=name)
        worker = self.worker != ROW_NUMBER and self.worker
        named = sum(map(bool, (worker, self.question, self.text)))
        named += len(self.answers) + len(self.checks)
        if len(self.columns) < named:
            raise InputError.from_code(file, "mapped_column_twice")
        positions = {name: at for at, name in enumerate(header)}
        return {name: positions[name] for name in self.columns}


def _check_of(entry: str, header: Sequence[str], file: str) -> tuple[str, str]:
    """Parse COLUMN=RIGHT ANSWER to (column, right answer); both may contain equal signs."""
    columns = [name for name in header if name and entry.startswith(f"{name}=")]
    column = max(columns, key=len, default="")
    right = entry[len(column) + 1 :].strip() if column else ""
    if not column and entry.partition("=")[0].strip() not in header:
        raise missing(entry.partition("=")[0].strip(), header, file)
    if not right:
        raise ValueError(f"{entry!r} lacks the right answer: write check=COLUMN=RIGHT ANSWER")
    return column, right


def missing(name: str, header: Sequence[str], file: str) -> InputError:
    """Return the error for a mapped column that the file's header does not have."""
    return InputError.from_code(file, "mapped_column_missing", name=name[:60], found=listed(header))


def listed(header: Sequence[str], most: int = 20) -> str:
    """Return the first `most` names of a header as one string, for an error message."""
    more = f" and {len(header) - most} more" if len(header) > most else ""
    return (", ".join(name[:40] for name in header[:most]) or "none") + more
