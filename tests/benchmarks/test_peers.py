import numpy as np
import pytest

from evaluation.consensus import AQER
from tests.benchmarks.crowds import crowd
from tests.benchmarks.grading import difference
from tests.benchmarks.peers import (
    PerPair,
    Stopping,
    TextRasa,
    cosine_by_numpy,
    cosine_by_sklearn,
    numpy_loop,
)

CROWDS = {
    "everybody answers everything": crowd(6, 5, 8),
    "sparse": crowd(30, 40, 8, answers=5),
}


def graded(made):
    return AQER(n_draws=0).fit(made.vectors, made.workers, made.questions)


def looped(made, stopping):
    return numpy_loop(made.vectors.astype(float), made.workers, made.questions, stopping)


@pytest.fixture(params=CROWDS, name="made")
def made_crowd(request):
    return CROWDS[request.param]


@pytest.mark.parametrize("cosine", [cosine_by_sklearn, cosine_by_numpy])
@pytest.mark.long
def test_one_pair_at_a_time_gives_the_grades_of_aqer(made, cosine):
    assert difference(graded(made), PerPair(made, cosine, Stopping()).run()) < 1e-6


def test_the_numpy_loop_gives_the_grades_of_aqer(made):
    assert difference(graded(made), looped(made, Stopping())) < 1e-6


def test_a_peer_that_stops_elsewhere_is_not_the_same(made):
    assert difference(graded(made), looped(made, Stopping(max_iterations=1))) == float("inf")


def test_peers_count_answerers_equally_where_none_has_weight():
    # Worker 3 contradicts worker 0 twice, so its weight becomes 0, and alone answers question 2.
    made = crowd(4, 3, 8)
    kept = np.flatnonzero((made.questions < 2) | (made.workers == 3))
    part = type(made)(made.vectors[kept], made.workers[kept], made.questions[kept], 4, 3)
    part.vectors[[3, 7]] = -part.vectors[[0, 4]]
    aqer = graded(part)
    assert aqer.weights_[3] == 0
    assert difference(aqer, PerPair(part, cosine_by_numpy, Stopping()).run()) < 1e-6
    assert difference(aqer, looped(part, Stopping())) < 1e-6


@pytest.mark.filterwarnings("ignore")
def test_text_rasa_gives_reliabilities_in_the_order_of_workers_and_its_rounds():
    pytest.importorskip("crowdkit", reason="crowd-kit is not installed: make benchmark does it")
    reliabilities, rounds = TextRasa(crowd(6, 30, 32)).reliabilities()
    assert rounds >= 2
    # Noise grows with the worker's number.
    assert list(np.argsort(-reliabilities)) == [0, 1, 2, 3, 4, 5]
