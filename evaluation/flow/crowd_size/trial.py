"""A crowd tried in parts: answers and experts' grades in, what parts of it would have given out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from typing import Any

import numpy as np

from evaluation.flow.crowd_size.parameters import CrowdSizeParameters
from evaluation.flow.inputs import GradingInput
from evaluation.flow.vectors import Embedded, EmbedTexts, Progress, embed, vectors_of
from evaluation.methods.crowd_size import FEWEST_VOTERS, CrowdSize, Tried
from evaluation.options import signed
from evaluation.options.parameters import SHORT
from evaluation.words.message import Message


class TooFewWorkersError(ValueError):
    """Fewer than 3 workers answered: there are no parts to try."""


@dataclass(frozen=True)
class Trial:
    """What came of it, and out of what."""

    given: GradingInput
    parameters: CrowdSizeParameters
    embedded: Embedded
    tried: CrowdSize

    @property
    def n_workers(self) -> int:
        """How many workers have an answer with a text."""
        return len(set(self.given.answered.workers))

    @property
    def n_questions(self) -> int:
        """How many questions have one."""
        return len(set(self.given.answered.questions))

    @property
    def warnings(self) -> list[Message]:
        """What somebody should know before relying on it."""
        return self.embedded.warnings

    def signature(self, input_hash: str) -> str:
        """Return the line that says how the numbers were made."""
        info = self.embedded.info
        parts = {
            **signed(self.parameters),
            "embedder": info.model,
            "revision": info.revision,
            "precision": info.precision,
            "inputs": input_hash[:SHORT],
            "version": metadata.version("crowdgrade"),
        }
        return "|".join(["crowd-size", *(f"{name}:{value}" for name, value in parts.items())])


def try_crowd(
    parameters: CrowdSizeParameters,
    given: GradingInput,
    grades: Mapping[Any, float],
    embed_texts: EmbedTexts | None = None,
    progress: Progress | None = None,
    kept: MutableMapping[str, Tried] | None = None,
) -> Trial:
    """Try a crowd in parts.

    Parameters
    ----------
    given : chosen with `parameters.grading()`; its models are not looked at.
    grades : experts' mean grade of answers, by their keys; empty for none.
    embed_texts : gives the vectors; without it the embedder that the parameters name.
    progress : is told what is done, how far, of how much. kept : as in `CrowdSize.fit`.

    Raises
    ------
    TooFewWorkersError
        There are no parts of the crowd to try.
    BackendError
        The answers cannot be embedded.
    """
    answers = given.answered
    if len(set(answers.workers)) < FEWEST_VOTERS:
        raise TooFewWorkersError
    grading = parameters.grading()
    embedded = vectors_of(given, embed_texts or partial(embed, grading, progress=progress))
    tried = CrowdSize(
        parameters.repetitions,
        parameters.bootstrap,
        parameters.seed,
        similarity=parameters.similarity,
        leave_one_out=parameters.leave_one_out,
        difficulty=parameters.difficulty,
        discrimination=parameters.discrimination,
    )
    tried.fit(
        embedded.answers,
        answers.workers,
        answers.questions,
        np.array([grades.get(key, np.nan) for key in answers.keys]),
        progress and (lambda done, total: progress("trying", done, total)),
        kept,
    )
    return Trial(given, parameters, embedded, tried)


def trial_hash(given: GradingInput, grades: Mapping[Any, float]) -> str:
    """Return the SHA-256 of the answers and their grades, so that anyone sees that they changed."""
    digest = hashlib.sha256(given.hash().encode())
    for key, grade in grades.items():
        digest.update(f"{key}\x1f{grade!r}\x1e".encode())
    return digest.hexdigest()
