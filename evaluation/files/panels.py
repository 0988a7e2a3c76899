"""Panels out of files: what ``manage.py evaluate panels`` does around the flow.

Read the answers of people and of models, make the panels, and write all files together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from annotations.exchange import (
    AnswerFile,
    ColumnNames,
    InputError,
    ModelAnswerFile,
    OutputFolder,
    read_model_answers,
)
from annotations.exchange.reading.duplicates import Duplicates
from evaluation.backends import parse_spec
from evaluation.files.grading import (
    answers_of,
    model_answers_of,
    read_people,
    refuse_nothing,
    vectors_from,
)
from evaluation.files.metrics import refuse_to_replace
from evaluation.flow.inputs import choose
from evaluation.flow.panels.finding import NoModelsError, Panels, QuestionRow, find_panels
from evaluation.flow.panels.parameters import PanelsParameters
from evaluation.flow.panels.summary import Distance, PanelAbout, PanelsSummary, Standing
from evaluation.flow.signatures import combined_hash
from evaluation.flow.vectors import Progress
from evaluation.options import TERMINAL

PANELS, DISTANCES, MODELS = "panels.csv", "panel_distances.csv", "panel_models.csv"
QUESTIONS, SUMMARY = "panel_questions.csv", "summary.json"
FILES = (PANELS, DISTANCES, MODELS, QUESTIONS, SUMMARY)
OF_QUESTION = tuple(field.name for field in fields(QuestionRow))[:9]
BEST = ("best_of_people", "best_of_models", "best_of_both")


@dataclass(frozen=True)
class PanelsRequest:
    """What to compare, how, and where the files go."""

    answers: Path
    models: Path
    columns: ColumnNames
    parameters: PanelsParameters
    output: Path
    duplicates: Duplicates = Duplicates.REFUSE
    keep_thinking: bool = False


@dataclass(frozen=True)
class FilePanels:
    """What came of it. `input_hashes` : SHA-256 of each input file."""

    panels: Panels
    found: PanelsSummary
    answers: AnswerFile
    models: ModelAnswerFile
    input_hashes: dict[str, str]

    @property
    def warnings(self) -> list[str]:
        """What the user should know before relying on it, a sentence each."""
        return TERMINAL.all_said(
            [*self.answers.warnings, *self.models.warnings, *self.panels.warnings]
        )

    def write(self, folder: OutputFolder) -> None:
        """Write every file."""
        found = self.found
        folder.write_csv(PANELS, _names(PanelAbout), map(astuple, found.panels))
        folder.write_csv(DISTANCES, _names(Distance), map(astuple, found.distances))
        folder.write_csv(MODELS, _names(Standing), map(astuple, found.standings))
        folder.write_csv(QUESTIONS, (*OF_QUESTION, *BEST), self._question_cells())
        folder.write_json(SUMMARY, self._summary())

    def _question_cells(self) -> Iterator[tuple[object, ...]]:
        """Yield a row a question, those first on which people and models differ most."""
        given = self.panels.given
        people = dict(zip(given.answered.keys, given.answered.texts, strict=True))
        spoken = given.models
        models = dict(zip(spoken.keys, spoken.texts, strict=True)) if spoken else {}
        for row in self.panels.question_rows():
            both = models if row.nearest_both_is_model else people
            yield (
                *(getattr(row, name) for name in OF_QUESTION),
                *(people.get(row.nearest_people), models.get(row.nearest_models)),
                both.get(row.nearest_both),
            )

    def _summary(self) -> dict[str, Any]:
        found, input_hash = self.found, combined_hash(self.input_hashes.values())
        plain = found.as_dict()
        return {
            "signature": self.panels.signature(input_hash),
            "parameters": self.panels.parameters.as_dict(),
            "counts": dict(found.shown_counts()),
            "flagged_workers": [str(worker) for worker in self.panels.flagged],
            "said": TERMINAL.all_said(found.messages),
            "alikeness": plain["alikeness"],
            "warnings": self.warnings,
            "embedding": plain["embedding"],
            "versions": plain["versions"],
            "input_hash": input_hash,
            "input_hashes": self.input_hashes,
        }


def panels_of_files(request: PanelsRequest, progress: Progress | None = None) -> FilePanels:
    """Make the panels of two files; nothing is written.

    Raises
    ------
    InputError
        A file, or what it holds, cannot be used.
    BackendError
        The answers cannot be embedded.
    """
    target = parse_spec(request.parameters.embedder)
    vectors = Path(target.target) if target.kind == "precomputed" else None
    refuse_to_replace(request.output, FILES, (request.answers, request.models, vectors))
    answers = read_people(request.answers, request.columns, request.duplicates)
    models = read_model_answers(request.models, request.columns, request.keep_thinking)
    given = choose(request.parameters.grading(), answers_of(answers), model_answers_of(models))
    refuse_nothing(answers, given)
    embed_texts, of_vectors = vectors_from(given, answers, models)
    try:
        panels = find_panels(request.parameters, given, embed_texts, progress)
    except NoModelsError:
        raise InputError.single(
            models.name,
            "no model has answered with a text",
            "Give answers of models: a panel of models needs at least one.",
        ) from None
    hashes = {**answers.hashes, "models": models.sha256, **of_vectors}
    return FilePanels(panels, panels.summary(), answers, models, hashes)


def _names(row: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(row))
