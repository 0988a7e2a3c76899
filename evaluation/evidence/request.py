"""What a study of the evidence is asked, and what it gives back to the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.flow.vectors import Progress

# The first repetition's seed, at --seed 0.
FIRST_SEED = 1000


@dataclass(frozen=True)
class Request:
    """The arguments of ``manage.py reproduce``; a study looks at those that mean something to it.

    Attributes
    ----------
    data : folder of public data sets. output : folder for the tables.
    embedder : SPEC for the rows that do not name their own. judge : a language model, or None.
    nli : a model for the entailment initialisation, or None.
    repetitions : simulated crowds. seed : added to the seeds of all of them.
    core : only the rows that are quick to compute.
    """

    data: Path
    output: Path
    embedder: str = "minilm"
    judge: str | None = None
    nli: str | None = None
    repetitions: int = 25
    seed: int = 0
    core: bool = False

    @property
    def seeds(self) -> range:
        """The seed of each repetition: 1000 + r + `seed`."""
        return range(FIRST_SEED + self.seed, FIRST_SEED + self.seed + self.repetitions)


@dataclass(frozen=True)
class StudyTable:
    """A study's table as the terminal shows it."""

    header: Sequence[str]
    rows: Sequence[Sequence[object]]


# Writes its tables into a folder. Raises `InputError` and `BackendError`.
Study = Callable[[Request, Progress | None], StudyTable]
