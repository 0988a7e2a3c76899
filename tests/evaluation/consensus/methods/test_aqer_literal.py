"""The Gram form agrees with the method written out vector by vector."""

import numpy as np
import pytest
from scipy import sparse

from evaluation.consensus import AQER
from tests.evaluation.consensus.methods import literal
from tests.evaluation.core.stats.worlds import as_answers, crowd

SIMILARITY = {"cosine": literal.cosine, "euclidean": literal.negative_distance}
VOTE = {"mean": literal.mean_vote, "majority": literal.majority_vote}
# Answers have 2 dimensions in the first crowd: fewer than workers, so the direct form is used.
CROWDS = {
    "more answers than dimensions": {"seed": 0, "dimension": 2, "answered": 0.8},
    "sparse crowd": {"seed": 1, "dimension": 5, "answered": 0.4},
    "complete": {"seed": 2, "dimension": 9, "answered": 1.0},
}


def null(value):
    return np.nan if value is None else value


@pytest.mark.parametrize("discrimination", [False, True], ids=["", "discrimination"])
@pytest.mark.parametrize("difficulty", [False, True], ids=["", "difficulty"])
@pytest.mark.parametrize("leave_one_out", [False, True], ids=["", "leave_one_out"])
@pytest.mark.parametrize("aggregation", VOTE)
@pytest.mark.parametrize("similarity", SIMILARITY)
@pytest.mark.parametrize("name", CROWDS)
def test_gram_form_agrees_with_the_literal_loop(
    name, similarity, aggregation, leave_one_out, difficulty, discrimination
):
    x, workers, questions = crowd(
        **CROWDS[name], workers=6, questions=5, binary=aggregation == "majority"
    )
    switches = {
        "leave_one_out": leave_one_out,
        "difficulty": difficulty,
        "discrimination": discrimination,
        "max_iterations": 25,
    }
    expected = literal.literal_aqer(
        as_answers(x, workers, questions),
        similarity=SIMILARITY[similarity],
        vote=VOTE[aggregation],
        **switches,
    )
    model = AQER(similarity=similarity, aggregation=aggregation, n_draws=0, **switches)
    for vectors in (x, sparse.csr_array(x)):
        found = model.fit(vectors, workers, questions)
        names = found.workers_.tolist()
        keys = list(zip(workers.tolist(), questions.tolist(), strict=True))
        for got, part, order in (
            (found.raw_, "raw", names),
            (found.grades_, "grades", names),
            (found.weights_, "weights", names),
            (found.scores_, "scores", keys),
            (found.leave_one_out_scores_, "left_out", keys),
        ):
            wanted = [null(expected[part][key]) for key in order]
            assert got == pytest.approx(wanted, abs=1e-9, nan_ok=True), part
        assert found.trace_ == pytest.approx(expected["trace"], abs=1e-9)
