"""What a grading starts from: answers in columns, whoever read them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from itertools import compress
from typing import Any, Self

from annotations.exchange import AnswerStatus
from evaluation.consensus.parameters import AqerParameters


@dataclass(frozen=True)
class _Columns:
    """Columns of one length, made from rows."""

    @classmethod
    def of(cls, rows: Iterable[Sequence[Any]]) -> Self:
        """Return the columns of some rows, which have a value for each of them in their order."""
        rows = list(rows)
        width = len(rows[0]) if rows else len(fields(cls))
        return cls(*([row[at] for row in rows] for at in range(width)))

    def kept(self, wanted: Iterable[bool]) -> Self:
        """Return the rows that are wanted, in their order."""
        wanted = list(wanted)
        if all(wanted):
            return self
        return type(self)(*(list(compress(column, wanted)) for column in vars(self).values()))


@dataclass(frozen=True)
class Answers(_Columns):
    """N answers of workers, in the order in which they were given; at most one to a question.

    Attributes
    ----------
    keys : by which the caller knows each of them again. workers, questions : ids.
    texts : as written, "" where nothing was. rejected : refused where it was collected.
    times : when it was sent, None where nobody knows; () where nobody ever took any.
    """

    keys: Sequence[Any]
    workers: Sequence[Any]
    questions: Sequence[Any]
    texts: Sequence[str]
    rejected: Sequence[bool]
    times: Sequence[datetime | None] = ()

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True)
class ModelAnswers(_Columns):
    """R answers of models, in the order in which they were asked; fields as in `Answers`.

    `samples` number the answers of one asking from 0.
    """

    keys: Sequence[Any]
    models: Sequence[Any]
    questions: Sequence[Any]
    texts: Sequence[str]
    statuses: Sequence[AnswerStatus]
    samples: Sequence[int]

    def __len__(self) -> int:
        return len(self.keys)

    def asked_once(self) -> Self:
        """Keep one answer for each model and question: the first sample of its latest asking.

        An ERROR of the latest is not made up for by an earlier answer, which another prompt or
        other parameters brought: the model has to be asked again.
        """
        latest = {
            (self.models[row], self.questions[row]): row
            for row in range(len(self))
            if not self.samples[row]
        }
        rows = set(latest.values())
        return self.kept(row in rows for row in range(len(self)))

    def with_status(self, status: AnswerStatus) -> set[Any]:
        """Return the models with an answer of this status."""
        pairs = zip(self.models, self.statuses, strict=True)
        return {model for model, of_row in pairs if of_row is status}

    def only_cut_off(self) -> set[Any]:
        """Return the models that lack replies only because these were cut off, not by errors."""
        return self.with_status(AnswerStatus.CUT_OFF) - self.with_status(AnswerStatus.ERROR)

    def with_text(self) -> Self:
        """Keep those that have a text, not refused or failed."""
        return self.kept(status is AnswerStatus.TEXT for status in self.statuses)


@dataclass(frozen=True)
class GradingInput:
    """Everything that a grading is made from.

    Attributes
    ----------
    given : the answers that were not left out, those without a text too.
    answered : those of them with a text, which are graded.
    models : one answer for each model and question; None without models.
    n_rejected : answers that were left out because they were refused where they were collected.
    n_repeated : rows that said once more what an earlier one said, and were left out.
    excluded : ids of workers who do not vote, each among the workers.
    collapsed : ids of workers whose groups of copies vote as one; () for all groups.
    anchors : rows of `answered` that an expert graded, and the grades.
    model_names : how models are called in messages, by id; the id itself without.
    wordings : texts of the questions by id, as far as they are known; only facts are read by them.
    """

    parameters: AqerParameters
    given: Answers
    answered: Answers
    models: ModelAnswers | None = None
    n_rejected: int = 0
    n_repeated: int = 0
    excluded: Sequence[Any] = ()
    collapsed: Sequence[Any] = ()
    anchors: Sequence[tuple[int, float]] = ()
    model_names: Mapping[Any, str] = field(default_factory=dict)
    wordings: Mapping[Any, str] = field(default_factory=dict)

    @property
    def workers(self) -> list[Any]:
        """All workers, those without a text too, in the order of their first answer."""
        return list(dict.fromkeys(self.given.workers))

    @property
    def questions(self) -> list[Any]:
        """All questions that somebody saw, in the order of their first answer."""
        return list(dict.fromkeys(self.given.questions))

    @property
    def n_empty(self) -> int:
        """How many answers have no text."""
        return len(self.given) - len(self.answered)

    def people_hash(self) -> str:
        """Return the hash of the same without models: by it people's grades are the same."""
        return replace(self, models=None).hash()

    def hash(self) -> str:
        """Return the SHA-256 over all ids and texts, so that anyone sees that data changed."""
        digest = hashlib.sha256()
        answers, models = self.answered, self.models or ModelAnswers.of([])
        for columns in (
            zip(answers.workers, answers.questions, answers.texts, strict=True),
            zip(models.models, models.questions, models.texts, models.statuses, strict=True),
        ):
            for row in columns:
                digest.update("\x1f".join(map(str, row)).encode() + b"\x1e")
            digest.update(b"\x1d")
        for at, grade in self.anchors:
            digest.update(f"{answers.keys[at]}\x1f{grade!r}\x1e".encode())
        # Times say whose answers vote for a group of copies.
        for time in answers.times if self.parameters.collapse_copies and any(answers.times) else ():
            digest.update(f"{time and time.astimezone(UTC).isoformat()}\x1e".encode())
        return digest.hexdigest()


def choose(
    parameters: AqerParameters, answers: Answers, models: ModelAnswers | None = None
) -> GradingInput:
    """Leave out what is not graded; `models` without a row are none.

    `answered` is empty where no answer has a text, or all of them were rejected.
    """
    given, n_rejected = answers, 0
    if not parameters.include_rejected:
        n_rejected = sum(answers.rejected)
        given = answers.kept(not rejected for rejected in answers.rejected)
    return GradingInput(
        parameters,
        given=given,
        answered=given.kept(map(bool, given.texts)),
        models=(models and models.asked_once()) or None,
        n_rejected=n_rejected,
    )
