"""AQER: grade workers by their answers, without ground truth (Yahav et al. 2025).

`AQER` is the estimator. `inputs` holds the columns that it grades and the vectors of their texts,
`parameters` its options, `signatures` the line that names how a number was computed. Nothing here
imports Django, torch or pandas.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.consensus.methods.estimator import AQER
    from evaluation.consensus.methods.model_scores import ModelScores
    from evaluation.consensus.methods.scale import Ceiling

__all__ = ["AQER", "Ceiling", "ModelScores"]

_PLACES = {
    "AQER": "evaluation.consensus.methods.estimator",
    "Ceiling": "evaluation.consensus.methods.scale",
    "ModelScores": "evaluation.consensus.methods.model_scores",
}


def __getattr__(name: str) -> Any:
    """Import a public name of the package on its first use and return it.

    Every module of this package loads this one, and most need no estimator.
    """
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = result = getattr(import_module(_PLACES[name]), name)
    return result
