"""Arguments of an evidence study and its result for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.consensus.vectors import Progress

# The first repetition's seed, at --seed 0.
FIRST_SEED = 1000


@dataclass(frozen=True)
class Request:
    """Arguments of ``manage.py reproduce``; each study uses those it needs.

    Attributes
    ----------
    data : folder of public data sets; a study of a file does not look at it.
    output : folder for the tables.
    embedder : SPEC for the rows that do not name their own. judge : a language model, or None.
    nli : a model for the entailment initialisation, or None.
    repetitions : simulated crowds. seed : added to the seeds of all of them.
    core : only the rows that are quick to compute.
    file : graded answers of one's own, for the study of them. labels : what their labels are worth.
    columns : what their columns are called, by our words.
    models, judgements : models' answers, and experts' grades of them, beside workers' answers in
        `file`, for the study of graded models.
    """

    data: Path
    output: Path
    embedder: str = "minilm"
    judge: str | None = None
    nli: str | None = None
    repetitions: int = 25
    seed: int = 0
    core: bool = False
    file: Path | None = None
    labels: Mapping[str, float] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    models: Path | None = None
    judgements: Path | None = None

    @property
    def seeds(self) -> range:
        """Seeds of the repetitions: 1000 + number of the repetition + `seed`."""
        return range(FIRST_SEED + self.seed, FIRST_SEED + self.seed + self.repetitions)


@dataclass(frozen=True)
class StudyTable:
    """Table of a study's result for the terminal, with its conclusion ("" for none)."""

    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    said: str = ""


# Writes its tables into a folder. Raises `InputError` and `BackendError`.
Study = Callable[[Request, Progress | None], StudyTable]
