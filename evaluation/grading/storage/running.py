"""A run from its answers to its results: rows to the columns of a grading, and results to rows.

`grade_run` tells how a run goes; `evaluation.grading.run` what a grading is. Each step may run
twice: embedding keeps what it made by the content of the text, and saving replaces what an earlier
attempt left.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from annotations.query_plans import refresh_statistics
from evaluation.consensus.inputs import GradingInput, choose
from evaluation.consensus.methods.electorate import RemedyError
from evaluation.consensus.signatures import combined_hash, versions
from evaluation.consensus.vectors import Progress
from evaluation.grading.run.grading import Grading, grade_answers
from evaluation.grading.run.maps import map_answers
from evaluation.grading.storage.save import save
from evaluation.models import DrawPart, LanguageModel, Run
from evaluation.steps.answers import answers_of, model_answers_of, parameters_of, wordings_of
from evaluation.steps.cache import embed_texts
from evaluation.steps.checkpoints import RunInputError, Turn
from evaluation.steps.outside import as_run_input_error, keys_of_workers, mean_judgements

# Draws are put aside this often: what a worker that dies may lose. A short run never is.
SECONDS_BETWEEN_PARTS = 30.0
# Bytes of one column of one row, well below what the databases take.
LARGEST = 32_000_000


@dataclass
class DrawParts:
    """The draws of a run, kept by `evaluation.consensus.methods.resampling.resample`."""

    turn: Turn
    run_id: int
    input_hash: str
    _saved: int = field(default=0, init=False)
    _saved_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._saved_at = self.turn.clock()

    @classmethod
    def of(cls, given: GradingInput, turn: Turn) -> DrawParts:
        """Return the parts of a run; other answers or another version make them useless."""
        key = combined_hash([given.hash(), versions()["crowdgrade"]])
        return cls(turn, turn.run_id, key)

    def earlier(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return raw scores and votes, both (M, k), of the first k draws; None for none."""
        parts = []
        for part in DrawPart.objects.filter(run=self.run_id, input_hash=self.input_hash):
            if part.first != self._saved:
                break  # a part before it is missing
            parts.append([_matrix(part, part.raw), _matrix(part, part.votes)])
            self._saved += part.n_draws
        if not parts:
            return None
        raw, votes = (np.hstack(columns) for columns in zip(*parts, strict=True))
        return raw, votes

    def keep(self, raw: NDArray[np.float64], votes: NDArray[np.float64]) -> None:
        """Put new draws aside now and then, and end the turn when its time is up."""
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


def _matrix(part: DrawPart, column: bytes | memoryview) -> NDArray[np.float64]:
    return np.frombuffer(column, dtype="<f8").reshape(part.n_workers, part.n_draws)


FACTS = "facts"


def grade_run(turn: Turn) -> None:
    """Grade a claimed run from its answers to its results, or as far as the turn goes."""
    given = load(turn.run_id)
    embed = partial(embed_texts, given.parameters, turn)
    try:
        grading = grade_answers(given, embed, turn.report, DrawParts.of(given, turn))
    except RemedyError as error:
        raise as_run_input_error(error) from error
    maps = map_answers(grading, turn.report)
    find_facts(grading, turn.report)
    save(turn, grading, maps)
    refresh_statistics()


def find_facts(grading: Grading, progress: Progress) -> None:
    """Read what the crowd agrees on, fact by fact, before rows are locked; nothing if not asked."""
    if grading.given.parameters.facts:
        progress(FACTS, 0, 1)
        assert grading.facts is not None
        progress(FACTS, 1, 1)


def load(run_id: int) -> GradingInput:
    """Read what a run is computed from; all ids and keys are primary keys.

    Raises `RunInputError` where there is nothing to grade.
    """
    run = Run.objects.select_related("version").get(pk=run_id)
    parameters = parameters_of(run.parameters)
    found = choose(parameters, answers_of(run.version_id), model_answers_of(run.version_id))
    if not len(found.answered):
        if found.n_rejected:
            raise RunInputError("run.all_answers_rejected", rejected=found.n_rejected)
        raise RunInputError("run.no_answer_to_grade")
    grades = mean_judgements(run.version) if parameters.anchors else {}
    models = LanguageModel.objects.in_bulk(set(found.models.models) if found.models else ())
    return replace(
        found,
        excluded=keys_of_workers(run.version, parameters.exclude_workers, found.workers),
        collapsed=keys_of_workers(run.version, parameters.collapse_workers, found.workers),
        anchors=[
            (row, grades[key]) for row, key in enumerate(found.answered.keys) if key in grades
        ],
        model_names={key: str(model) for key, model in models.items()},
        wordings=wordings_of(run.version_id) if parameters.facts else {},
    )
