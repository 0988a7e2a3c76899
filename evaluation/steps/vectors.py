"""The vectors of a run: kept ones out of the database, lexical ones learned from the run itself."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.flow.embed import Embedded, embed, truncation_warning
from evaluation.flow.parameters import AqerParameters
from evaluation.steps.cache import cached_vectors, is_kept
from evaluation.steps.checkpoints import Turn
from evaluation.texts.languages import language_warning


def embed_texts(
    parameters: AqerParameters, turn: Turn, answers: Sequence[str], of_models: Sequence[str] | None
) -> Embedded:
    """Return the vectors of workers' and models' answers, none of which is empty.

    Raises `BackendError`, and ends the turn between two parts when its time is up.
    """
    found = _embedded(parameters, turn, answers, of_models)
    turn.report("grading", 0, 1)  # which comes next, and tells how far it is only by its draws
    return found


def _embedded(
    parameters: AqerParameters, turn: Turn, answers: Sequence[str], of_models: Sequence[str] | None
) -> Embedded:
    if not is_kept(parameters.embedder):
        return embed(parameters, answers, of_models, turn.report)
    texts = [*answers, *(of_models or ())]
    vectors, info, cut = cached_vectors(parameters.embedder, parameters.precision, texts, turn)
    n = len(answers)
    found = [truncation_warning(cut, info), language_warning(texts, info)]
    return Embedded(
        vectors[:n],
        None if of_models is None else vectors[n:],
        info,
        [warning for warning in found if warning],
    )
