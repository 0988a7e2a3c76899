"""Compute a grading run: read its answers, grade them, save the results.

`grade_run` calls the steps; `evaluation.grading.run` computes. Each step may run twice: embedding
stores vectors by the content of the text, and saving replaces what an earlier attempt wrote.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from annotations.query_plans import refresh_statistics
from evaluation.consensus.inputs import GradingInput, select_graded_answers
from evaluation.consensus.methods.electorate import RemedyError
from evaluation.consensus.signatures import collect_versions, combine_hashes
from evaluation.consensus.vectors import Progress
from evaluation.grading.run.grading import Grading, grade_answers
from evaluation.grading.run.maps import map_answers
from evaluation.grading.storage.save import save_results
from evaluation.models import DrawPart, LanguageModel, Run
from evaluation.runs.steps.answers import (
    read_answers,
    read_model_answers,
    read_parameters,
    read_question_groups,
    read_wordings,
)
from evaluation.runs.steps.cache import embed_texts
from evaluation.runs.steps.checkpoints import RunInputError, Turn
from evaluation.runs.steps.remedy_inputs import (
    compute_mean_judgements,
    convert_to_run_input_error,
    find_worker_keys,
)

# Draws are put aside this often: what a worker that dies may lose. A short run never is.
SECONDS_BETWEEN_PARTS = 30.0
# Bytes of one column of one row, well below what the databases take.
LARGEST = 32_000_000


@dataclass
class DrawParts:
    """Stored bootstrap draws of a run, so that an interrupted run continues with them."""

    turn: Turn
    run_id: int
    input_hash: str
    _saved: int = field(default=0, init=False)
    _saved_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._saved_at = self.turn.clock()

    @classmethod
    def from_input(cls, given: GradingInput, turn: Turn) -> DrawParts:
        """Return the stored draws of a run; draws of other answers or versions are ignored."""
        key = combine_hashes([given.hash(), collect_versions()["crowdgrade"]])
        return cls(turn, turn.run_id, key)

    def earlier(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return raw scores and votes of the stored draws, one column per draw; None without.

        Both are (M, k) for the first k draws.
        """
        parts = []
        for part in DrawPart.objects.filter(run=self.run_id, input_hash=self.input_hash):
            if part.first != self._saved:
                break  # a part before it is missing
            parts.append([_read_matrix(part, part.raw), _read_matrix(part, part.votes)])
            self._saved += part.n_draws
        if not parts:
            return None
        raw, votes = (np.hstack(columns) for columns in zip(*parts, strict=True))
        return raw, votes

    def keep(self, raw: NDArray[np.float64], votes: NDArray[np.float64]) -> None:
        """Store new bootstrap draws every 30 seconds; end the task when its time is up."""
        over = self.turn.is_over()
        if not over and self.turn.clock() - self._saved_at < SECONDS_BETWEEN_PARTS:
            return
        stop = raw.shape[1]
        step = max(1, LARGEST // (8 * len(raw)))
        bounds = [*range(self._saved, stop, step), stop]
        with self.turn.fenced():
            # Of other answers, or of a turn that lost its claim just now.
            DrawPart.objects.filter(run=self.run_id).exclude(
                input_hash=self.input_hash, first__lt=self._saved
            ).delete()
            for first, last in pairwise(bounds):
                DrawPart.objects.create(
                    run_id=self.run_id,
                    input_hash=self.input_hash,
                    first=first,
                    n_draws=last - first,
                    n_workers=len(raw),
                    raw=raw[:, first:last].astype("<f8").tobytes(),
                    votes=votes[:, first:last].astype("<f8").tobytes(),
                )
        self._saved, self._saved_at = stop, self.turn.clock()
        self.turn.between_parts()


def _read_matrix(part: DrawPart, column: bytes | memoryview) -> NDArray[np.float64]:
    """Return a stored column as a matrix, one row per worker, one column per draw.

    Shape (M, n_draws).
    """
    return np.frombuffer(column, dtype="<f8").reshape(part.n_workers, part.n_draws)


FACTS = "facts"


def grade_run(turn: Turn) -> None:
    """Grade a run of the database, from its answers to stored results, in this task's time."""
    inputs = load_inputs(turn.run_id)
    embed_in_turn = partial(embed_texts, inputs.parameters, turn)
    try:
        grading = grade_answers(
            inputs, embed_in_turn, turn.report, DrawParts.from_input(inputs, turn)
        )
    except RemedyError as error:
        raise convert_to_run_input_error(error) from error
    maps = map_answers(grading, turn.report)
    compute_facts(grading, turn.report)
    save_results(turn, grading, maps)
    refresh_statistics()


def compute_facts(grading: Grading, progress: Progress) -> None:
    """Compute the facts if asked for, before results are saved, so that no row stays locked."""
    if grading.given.parameters.facts:
        progress(FACTS, 0, 1)
        assert grading.facts is not None
        progress(FACTS, 1, 1)


def load_inputs(run_id: int) -> GradingInput:
    """Return the inputs of a run from the database; all ids are primary keys.

    Raises `RunInputError` if no answer can be graded.
    """
    run = Run.objects.select_related("version").get(pk=run_id)
    parameters = read_parameters(run.parameters)
    inputs = select_graded_answers(
        parameters, read_answers(run.version_id), read_model_answers(run.version_id)
    )
    if not len(inputs.answered):
        if inputs.n_rejected:
            raise RunInputError("run.all_answers_rejected", rejected=inputs.n_rejected)
        raise RunInputError("run.no_answer_to_grade")
    grades = compute_mean_judgements(run.version) if parameters.anchors else {}
    models = LanguageModel.objects.in_bulk(set(inputs.models.models) if inputs.models else ())
    return replace(
        inputs,
        excluded=find_worker_keys(run.version, parameters.exclude_workers, inputs.workers),
        collapsed=find_worker_keys(run.version, parameters.collapse_workers, inputs.workers),
        anchors=[
            (row, grades[key]) for row, key in enumerate(inputs.answered.keys) if key in grades
        ],
        model_names={key: str(model) for key, model in models.items()},
        wordings=read_wordings(run.version_id) if parameters.facts else {},
        question_groups=read_question_groups(run.version_id, inputs.answered.questions),
    )
