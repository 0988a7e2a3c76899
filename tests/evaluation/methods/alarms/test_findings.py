"""What rings, once for each group, in words that the evidence carries."""

import numpy as np
import pytest

from evaluation.methods import AQER
from evaluation.methods.alarms import KINDS, findings, survey
from evaluation.methods.simulation import WorkerGroup, correlated_weak, honest, simulate
from tests.evaluation.methods.alarms.crowds import fitted, pasted

RINGING = {"copies", "clique", "two_camps", "leverage", "grader_disagreement"}


def surveyed(crowd, vectors=None, **switches):
    vectors = crowd.vectors if vectors is None else vectors
    return survey(fitted(vectors, crowd.workers, crowd.questions, **switches))


def kinds(found):
    return [finding.kind for finding in found]


def test_copies_of_one_answer_are_one_finding_about_these_four():
    crowd = simulate(honest(20), 15, 100, 1)
    found = findings(surveyed(crowd, pasted(crowd, [2, 6, 9, 17])))
    (copies,) = [finding for finding in found if finding.kind == "copies"]
    assert (copies.severity, copies.case) == ("alarm", "proven")
    assert copies.workers.tolist() == [2, 6, 9, 17]
    assert copies.exhibits.shape == (50, 3)
    assert set(copies.exhibits[:, :2].ravel().tolist()) <= {2, 6, 9, 17}


def test_a_group_that_is_a_camp_is_a_clique_unless_its_texts_prove_copying():
    seen = surveyed(simulate(correlated_weak(0.8, 0.3), 12, 300, 1))
    assert [group.members.tolist() for group in seen.kinship.groups] == [[0, 1, 2, 3, 4, 5]]
    by_default = findings(seen)
    assert kinds(by_default)[0] == "clique"
    assert "copies" not in kinds(by_default)
    proven = findings(seen, [True])
    assert (proven[0].kind, proven[0].case) == ("copies", "proven")
    assert "clique" not in kinds(proven)


def test_a_group_that_is_no_camp_is_called_copies():
    crowd = simulate([WorkerGroup(16, 1.0), WorkerGroup(4, 1.0, rho=0.9)], 15, 300, 2)
    seen = surveyed(crowd)
    if not seen.camps.rings:
        assert kinds(findings(seen))[0] == "copies"
    else:
        assert kinds(findings(seen))[0] == "clique"


def test_each_camp_is_a_finding_with_answers_of_both_beside_each_other():
    seen = surveyed(simulate(correlated_weak(0.7, 0.5, weak=1.5), 12, 300, 1))
    found = [f for f in findings(seen) if f.kind == "two_camps" and f.case == "crowd"]
    members = [set(finding.workers.tolist()) for finding in found]
    assert sorted(map(sorted, members)) == [list(range(10)), list(range(10, 20))]
    for left, right, _ in found[0].exhibits:
        assert int(left) in members[0]
        assert int(right) in members[1]
    assert len(found[0].exhibits) == 5
    assert found[0].figures["start_agreement"] == seen.starts.statistic


@pytest.mark.parametrize("n_workers", [12, 25, 60])
def test_honest_crowds_are_silent(n_workers):
    for seed in range(4):
        found = findings(surveyed(simulate(honest(n_workers), 20, 100, seed)))
        assert RINGING.isdisjoint(kinds(found))


def test_a_run_that_does_not_settle_and_one_with_two_workers_say_so():
    crowd = simulate(honest(8), 8, 20, 0)
    (found,) = [
        f for f in findings(surveyed(crowd, max_iterations=1)) if f.kind == "no_convergence"
    ]
    assert found.statistic > found.threshold == 1e-6
    two = findings(surveyed(simulate(honest(2), 8, 20, 0)))
    assert [(f.kind, f.severity, f.statistic) for f in two] == [("too_few", "notice", 2.0)]


def test_workers_with_few_answers_are_an_information():
    crowd = simulate(honest(6), 8, 20, 0)
    kept = (crowd.workers != 4) | (crowd.questions < 3)
    aqer = fitted(crowd.vectors[kept], crowd.workers[kept], crowd.questions[kept])
    (found,) = [f for f in findings(survey(aqer)) if f.kind == "too_few"]
    assert (found.severity, found.workers.tolist()) == ("info", [4])


def test_alarms_come_before_notices_and_kinds_are_known():
    crowd = simulate(correlated_weak(0.7, 0.7), 12, 300, 1)
    found = findings(surveyed(crowd, max_iterations=2))
    severities = [finding.severity for finding in found]
    assert severities == sorted(severities, key=["alarm", "notice", "info"].index)
    assert {"two_camps", "no_convergence"} <= set(kinds(found)) <= set(KINDS)


@pytest.mark.parametrize(
    ("workers", "questions"), [(1, 1), (1, 9), (2, 9), (3, 1), (3, 9), (8, 1), (30, 2)]
)
@pytest.mark.parametrize("made", [np.zeros, np.ones, np.random.default_rng(0).standard_normal])
@pytest.mark.parametrize("switches", [{}, {"similarity": "euclidean"}, {"difficulty": True}])
def test_nothing_about_a_small_or_uniform_crowd_makes_it_fail(workers, questions, made, switches):
    who, asked = np.repeat(np.arange(workers), questions), np.tile(np.arange(questions), workers)
    vectors = made((workers * questions, 3))
    aqer = AQER(n_draws=4, **switches).fit(vectors, who, asked)
    for finding in findings(survey(aqer)):
        assert finding.statistic is None or np.isfinite(finding.statistic)
