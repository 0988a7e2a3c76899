"""The cosine above which a free text is right: its errors on labelled pairs, and its tuning.

One half of the questions tunes the threshold, the other half measures it. For MiniLM the errors are
recorded: the labelled pairs are first attempts of Beetle's students (SemEval 2013, task 7), right
ones and contradictory ones. The accepted answer of a question is the right answer with the greatest
sum of cosines to the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import numpy as np

from evaluation.core.backends import get_embedder
from evaluation.core.messages.message import Message
from evaluation.core.stats.cells import Floats
from evaluation.core.stats.statistics.descriptive import (
    ThresholdErrors,
    measure_threshold,
    tune_threshold,
)
from evaluation.multiqa.options import MultiqaParameters
from evaluation.runs.flow.metrics import OVERALL, MetricRow, compute_cosines_among

BEETLE = "Beetle"
ALL_SYSTEMS = ""
RIGHT_MISSED, WRONG_TAKEN, AREA = "right_missed", "wrong_taken_for_right", "threshold_auc"


@dataclass(frozen=True)
class LabelledPair:
    """A reply with the accepted answers of its question, labelled as right or wrong.

    `group` is the question: all pairs of a group are in one half.
    """

    group: str
    accepted: tuple[str, ...]
    reply: str
    right: bool


# By embedder (float32): the default threshold on all pairs, and the tuned one on the pairs of the
# questions that did not tune it.
RECORDED: Mapping[str, tuple[ThresholdErrors, ThresholdErrors]] = {
    "minilm": (
        ThresholdErrors(0.60, 0.2738, 0.3647, 0.7612, 1636, 894, BEETLE),
        ThresholdErrors(0.6437, 0.2974, 0.3115, 0.7822, 733, 520, BEETLE),
    )
}


def find_recorded_errors(parameters: MultiqaParameters) -> ThresholdErrors | None:
    """Return the recorded errors of the embedder at the threshold in use; None without any."""
    # The recorded errors are those of float32; another precision moves cosines near the threshold.
    if parameters.precision != "float32":
        return None
    recorded = RECORDED.get(parameters.embedder, ())
    return next((each for each in recorded if each.threshold == parameters.cosine), None)


def find_tuned_cosine(parameters: MultiqaParameters) -> float | None:
    """Return the recorded tuned threshold of the embedder; None without one."""
    recorded = RECORDED.get(parameters.embedder)
    return None if recorded is None else recorded[1].threshold


def use_recorded_cosine(parameters: MultiqaParameters) -> MultiqaParameters:
    """Return the parameters with the tuned threshold where it is wanted and recorded."""
    tuned = find_tuned_cosine(parameters) if parameters.tune_cosine else None
    return parameters if tuned is None else replace(parameters, cosine=tuned)


def measure_pairs(
    pairs: Sequence[LabelledPair], parameters: MultiqaParameters, source: str
) -> ThresholdErrors:
    """Return the errors of the threshold on labelled pairs, tuned first if the options say so.

    Without tuning all pairs measure the threshold `cosine`. Raises `BackendError`; `ValueError` if
    right or wrong pairs are missing, in either half when tuned.
    """
    similarity = _compute_similarities(pairs, parameters)
    is_right = np.array([pair.right for pair in pairs], dtype=np.bool_)
    if not parameters.tune_cosine:
        return measure_threshold(similarity, is_right, parameters.cosine, source)
    groups = [pair.group for pair in pairs]
    return tune_threshold(similarity, is_right, groups, source, parameters.seed)


def _compute_similarities(pairs: Sequence[LabelledPair], parameters: MultiqaParameters) -> Floats:
    """Return each reply's greatest cosine to an accepted answer."""
    precision = cast(Literal["float32", "bfloat16", "auto"], parameters.precision)
    embedder = get_embedder(parameters.embedder, precision)
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.reply, *pair.accepted)))
    embedder.fit(texts)
    vectors = embedder.embed(texts)
    rows = {text: row for row, text in enumerate(texts)}
    return np.array(
        [
            compute_cosines_among(vectors, [rows[text] for text in (pair.reply, *pair.accepted)])[
                0, 1:
            ].max()
            for pair in pairs
        ]
    )


def build_error_rows(errors: ThresholdErrors) -> list[MetricRow]:
    """Return the rows of metrics.csv with both errors of the threshold and the AUC."""
    return [
        MetricRow(ALL_SYSTEMS, OVERALL, metric, value, None, None, n, "of_the_file")
        for metric, value, n in (
            (RIGHT_MISSED, errors.missed, errors.n_right),
            (WRONG_TAKEN, errors.taken, errors.n_wrong),
            (AREA, errors.auc, errors.n_right + errors.n_wrong),
        )
    ]


def build_error_message(errors: ThresholdErrors) -> Message:
    """Return the message that states both errors of the threshold."""
    values = {key: value for key, value in errors.as_dict().items() if key != "auc"}
    return Message("multiqa.cosine_errors", {**values, "area": errors.auc})
