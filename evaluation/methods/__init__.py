"""The numbers: pure functions and estimators on arrays, without Django, files or models.

`AQER` grades workers and makes exemplary answers; `planner` says how many workers a question
needs; `simulation` makes crowds whose truth is known; `statistics` are those of two
columns; `inference` gives intervals and compares models; `alarms` say when grades cannot be
trusted, `remedies` what to do then. Arrays in, arrays out; NaN stands for an undefined number
inside arrays, None in result objects, with a reason beside it.
"""

from evaluation.methods.aqer.estimator import AQER
from evaluation.methods.aqer.model_scores import ModelScores
from evaluation.methods.aqer.scale import Ceiling
from evaluation.methods.grams import NonFiniteError

__all__ = ["AQER", "Ceiling", "ModelScores", "NonFiniteError"]
