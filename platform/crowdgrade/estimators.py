"""Estimators with crowd-kit's interface: `fit`, `fit_predict`, `fit_predict_scores`.

They take a DataFrame of pandas with the columns task, worker, output and embedding, as crowd-kit's
RASA and HRRASA do, so that one replaces the other in a line of a program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from crowdgrade.frames.errors import InputError, InputProblem
from crowdgrade.frames.inputs import convert_to_frame
from evaluation import consensus
from evaluation.core.stats.grams import convert_to_dense

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class AQER:
    """AQER for crowd-kit's DataFrames: workers' grades, and each task's most typical output.

    Parameters
    ----------
    embedder : SPEC of the embedder for a DataFrame without embeddings, as in `crowdgrade.grade`.
    leave_one_out, difficulty, discrimination, max_iterations, tolerance, n_draws, seed : parameters
        of `evaluation.consensus.AQER`.

    Attributes
    ----------
    skills_ : voting weight of each worker, a Series indexed by worker.
    grades_ : grade of each worker, 0 to 1, a Series indexed by worker; NaN where undefined.
    aggregated_embeddings_ : exemplary answer of each task, a Series indexed by task.
    scores_ : output, score and embedding of each answer, indexed by task. As in crowd-kit the
        score is a distance, 1 minus the cosine to the exemplary answer: lower is better.
    embeddings_and_outputs_ : output nearest to each task's exemplary answer, with its embedding,
        indexed by task.
    estimator_ : the fitted `evaluation.consensus.AQER`, with intervals and ranks.

    Examples
    --------
    >>> import pandas as pd
    >>> from crowdgrade.estimators import AQER
    >>> rows = [["t1", "p1", "a", [1.0, 0.0]], ["t1", "p2", "a", [1.0, 0.1]],
    ...         ["t1", "p3", "b", [0.0, 1.0]]]
    >>> data = pd.DataFrame(rows, columns=["task", "worker", "output", "embedding"])
    >>> AQER().fit_predict(data)["output"].to_dict()
    {'t1': 'a'}
    """

    embedder: str = "minilm"
    leave_one_out: bool = False
    difficulty: bool = False
    discrimination: bool = False
    max_iterations: int = 100
    tolerance: float = 1e-6
    n_draws: int = 0
    seed: int = 0
    estimator_: consensus.AQER = field(init=False, repr=False)
    skills_: pd.Series = field(init=False, repr=False)
    grades_: pd.Series = field(init=False, repr=False)
    aggregated_embeddings_: pd.Series = field(init=False, repr=False)
    scores_: pd.DataFrame = field(init=False, repr=False)
    embeddings_and_outputs_: pd.DataFrame = field(init=False, repr=False)

    def fit(self, data: pd.DataFrame) -> AQER:
        """Return the estimator, fitted to answers with columns task, worker and output.

        Raises
        ------
        InputError
            A column or a cell is missing, or embeddings differ in length.
        ValueError
            A worker answered a task twice, or a vector is not finite.
        """
        data = _check_columns(data, ["task", "worker", "output"])
        vectors = self._read_vectors(data)
        workers, tasks = data["worker"].tolist(), data["task"].tolist()
        names: Sequence[str] = ("leave_one_out", "difficulty", "discrimination", "tolerance")
        names = (*names, "max_iterations", "n_draws", "seed")
        estimator = consensus.AQER(**{name: getattr(self, name) for name in names})
        # By number and not by label, so that labels of any type keep their type.
        worker_codes, worker_labels = pd.factorize(pd.Series(workers))
        task_codes, task_labels = pd.factorize(pd.Series(tasks))
        estimator.fit(vectors, worker_codes, task_codes)
        self.estimator_ = estimator
        by_worker = pd.Index(worker_labels, name="worker")
        self.skills_ = pd.Series(estimator.weights_, by_worker, name="skill")
        self.grades_ = pd.Series(estimator.grades_, by_worker, name="grade")
        by_task = pd.Index(task_labels, name="task")
        exemplars = list(convert_to_dense(estimator.compute_exemplars()))
        self.aggregated_embeddings_ = pd.Series(exemplars, by_task).sort_index()
        columns = {"task": tasks, "output": data["output"].tolist()}
        scores = pd.DataFrame({**columns, "score": 1.0 - np.asarray(estimator.final_scores_)})
        scores["embedding"] = list(vectors)
        nearest = scores.iloc[estimator.nearest_]
        self.scores_ = scores.set_index("task")
        self.embeddings_and_outputs_ = nearest.set_index("task").sort_index()[
            ["output", "embedding"]
        ]
        return self

    def fit_predict(self, data: pd.DataFrame) -> pd.DataFrame:
        """Fit, and return `embeddings_and_outputs_`; raise as `fit` does."""
        return self.fit(data).embeddings_and_outputs_

    def fit_predict_scores(self, data: pd.DataFrame) -> pd.DataFrame:
        """Fit, and return `scores_`; raise as `fit` does."""
        return self.fit(data).scores_

    def _read_vectors(self, data: pd.DataFrame) -> NDArray[np.floating[Any]]:
        """Return the answers' embeddings (N, d); compute them if there is no column."""
        if "embedding" not in data.columns:
            from evaluation.core.backends import get_embedder

            texts = [str(text) for text in data["output"]]
            embedder = get_embedder(self.embedder)
            embedder.fit(texts)
            return convert_to_dense(embedder.embed(texts))
        rows = [np.asarray(vector, dtype=np.float64) for vector in data["embedding"]]
        shape = rows[0].shape
        problems = [
            InputProblem(
                "data",
                row,
                "embedding",
                f"the embedding has the shape {vector.shape}, that of row 0 has {shape}",
                "Embed all outputs by one model.",
                "embedding_shape",
                {"shape": vector.shape, "first": shape},
            )
            for row, vector in enumerate(rows)
            if vector.shape != shape or vector.ndim != 1
        ]
        if problems:
            raise InputError(problems)
        return np.stack(rows)


def _check_columns(data: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return the DataFrame; raise `InputError` for missing columns, cells or rows."""
    if not isinstance(data, pd.DataFrame):
        reason = f"the type {type(data).__name__} is not accepted"
        remedy = "Pass a DataFrame of pandas."
        raise InputError([InputProblem("data", None, None, reason, remedy, "type_unknown")])
    convert_to_frame("data", data)  # refuses columns that occur twice
    found = ", ".join(map(str, data.columns)) or "none"
    problems = [
        InputProblem(
            "data",
            None,
            None,
            f"there is no column {name}; found: {found}",
            "Add it.",
            "column_missing",
            {"name": name, "found": found},
        )
        for name in names
        if name not in data.columns
    ]
    if not problems and not len(data):
        problems = [InputProblem("data", None, None, "there is no row", "", "no_rows")]
    if not problems:
        problems = [
            InputProblem("data", row, name, f"the {name} is missing", "", "id_missing")
            for name in names
            for row in np.flatnonzero(data[name].isna().to_numpy()).tolist()
        ]
    if problems:
        raise InputError(problems)
    return data
