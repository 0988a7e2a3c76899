"""What rings, once for each group, in words that the evidence carries."""

from dataclasses import replace

import numpy as np
import pytest

from evaluation.consensus import AQER
from evaluation.core.stats.simulation import (
    WorkerGroup,
    build_correlated_weak_groups,
    build_honest_groups,
    simulate_crowd,
)
from evaluation.grading.alarms.methods import KINDS, CopierGroup, build_findings, compute_run_checks
from evaluation.grading.alarms.methods.copies import PARTLY_THRESHOLD
from evaluation.grading.alarms.methods.findings import IDENTICAL, find_equal_camp, is_copier_group
from evaluation.grading.alarms.methods.survey import ModelSimilarity, RankingStatistic
from tests.evaluation.grading.alarms.methods.crowds import fitted, pasted

RINGING = {"copies", "clique", "two_camps", "leverage", "grader_disagreement"}


def surveyed(crowd, vectors=None, **switches):
    vectors = crowd.vectors if vectors is None else vectors
    return compute_run_checks(fitted(vectors, crowd.workers, crowd.questions, **switches))


def kinds(found):
    return [finding.kind for finding in found]


def test_copies_of_one_answer_are_one_finding_about_these_four():
    crowd = simulate_crowd(build_honest_groups(20), 15, 100, 1)
    found = build_findings(surveyed(crowd, pasted(crowd, [2, 6, 9, 17])))
    (copies,) = [finding for finding in found if finding.kind == "copies"]
    assert (copies.severity, copies.case) == ("alarm", "proven")
    assert copies.workers.tolist() == [2, 6, 9, 17]
    assert copies.exhibits.shape == (50, 3)
    assert set(copies.exhibits[:, :2].ravel().tolist()) <= {2, 6, 9, 17}


def test_a_group_that_is_a_camp_is_a_clique_unless_its_texts_prove_copying():
    seen = surveyed(simulate_crowd(build_correlated_weak_groups(0.8, 0.3), 12, 300, 1))
    assert [group.members.tolist() for group in seen.kinship.groups] == [[0, 1, 2, 3, 4, 5]]
    by_default = build_findings(seen)
    assert kinds(by_default)[0] == "clique"
    assert "copies" not in kinds(by_default)
    proven = build_findings(seen, [True])
    assert (proven[0].kind, proven[0].case) == ("copies", "proven")
    assert "clique" not in kinds(proven)


def test_a_group_that_is_no_camp_is_called_copies():
    crowd = simulate_crowd([WorkerGroup(16, 1.0), WorkerGroup(4, 1.0, rho=0.9)], 15, 300, 2)
    seen = surveyed(crowd)
    if not seen.camps.is_raised:
        assert kinds(build_findings(seen))[0] == "copies"
    else:
        assert kinds(build_findings(seen))[0] == "clique"


def test_each_camp_is_a_finding_with_answers_of_both_beside_each_other():
    seen = surveyed(simulate_crowd(build_correlated_weak_groups(0.7, 0.5, weak=1.5), 12, 300, 1))
    found = [f for f in build_findings(seen) if f.kind == "two_camps" and f.case == "crowd"]
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
        found = build_findings(
            surveyed(simulate_crowd(build_honest_groups(n_workers), 20, 100, seed))
        )
        assert RINGING.isdisjoint(kinds(found))


def test_a_run_that_does_not_settle_and_one_with_two_workers_say_so():
    crowd = simulate_crowd(build_honest_groups(8), 8, 20, 0)
    (found,) = [
        f for f in build_findings(surveyed(crowd, max_iterations=1)) if f.kind == "no_convergence"
    ]
    assert found.statistic > found.threshold == 1e-6
    two = build_findings(surveyed(simulate_crowd(build_honest_groups(2), 8, 20, 0)))
    assert [(f.kind, f.severity, f.statistic) for f in two] == [("too_few", "notice", 2.0)]


def test_workers_with_few_answers_are_an_information():
    crowd = simulate_crowd(build_honest_groups(6), 8, 20, 0)
    kept = (crowd.workers != 4) | (crowd.questions < 3)
    aqer = fitted(crowd.vectors[kept], crowd.workers[kept], crowd.questions[kept])
    (found,) = [f for f in build_findings(compute_run_checks(aqer)) if f.kind == "too_few"]
    assert (found.severity, found.workers.tolist()) == ("info", [4])


def test_alarms_come_before_notices_and_kinds_are_known():
    crowd = simulate_crowd(build_correlated_weak_groups(0.7, 0.7), 12, 300, 1)
    found = build_findings(surveyed(crowd, max_iterations=2))
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
    for finding in build_findings(compute_run_checks(aqer)):
        assert finding.statistic is None or np.isfinite(finding.statistic)


def told(finding):
    """Everything that a finding says, arrays as lists."""
    return {
        "kind": finding.kind,
        "severity": finding.severity,
        "case": finding.case,
        "statistic": finding.statistic,
        "threshold": finding.threshold,
        "workers": finding.workers.tolist(),
        "questions": finding.questions.tolist(),
        "figures": dict(finding.figures),
    }


def saying(kind, severity, case, statistic, threshold, workers=(), questions=(), **figures):
    return {
        "kind": kind,
        "severity": severity,
        "case": case,
        "statistic": statistic,
        "threshold": threshold,
        "workers": list(workers),
        "questions": list(questions),
        "figures": figures,
    }


def codes(*values):
    return np.array(values, dtype=np.int64)


GROUP = CopierGroup(codes(1, 4), 0.7, 0.9, 12, codes(1, 4, 0).reshape(1, 3))
PART = CopierGroup(codes(5, 6), 0.4, 0.6, 8, codes(5, 6, 2).reshape(1, 3))


@pytest.fixture(scope="module")
def silent():
    """An honest crowd of twelve, in which nothing rings."""
    seen = surveyed(simulate_crowd(build_honest_groups(12), 15, 100, 0))
    assert build_findings(seen) == []
    return seen


def with_camps(seen, *members, **changes):
    camps = replace(
        seen.camps,
        statistic=9.0,
        members=tuple(codes(*camp) for camp in members),
        surplus=(0.3, 0.2),
    )
    return replace(seen, camps=camps, **changes)


def test_every_finding_has_the_numbers_workers_and_figures_of_what_was_looked_at(silent):
    likeness = ModelSimilarity("gpt", np.array([np.nan] * 3 + [4.5, 6.5]), np.zeros(5), codes(3, 4))
    nobody = replace(likeness, workers=codes())
    seen = replace(
        silent,
        kinship=replace(silent.kinship, groups=(GROUP,), partly=(PART,)),
        questions=replace(
            silent.questions, statistic=0.5, listed=codes(7, 3, 5, 1), camps=(), n_tested=8
        ),
        leverage=RankingStatistic(0.1, 0.5, worker=3),
        disagreement=RankingStatistic(-0.2, 0.3),
        models=(likeness, nobody),
        concentration=RankingStatistic(0.2, 0.3),
        heaviest=codes(4, 2),
        stability=RankingStatistic(0.6, 0.8),
        converged=False,
        last_step=0.5,
        tolerance=1e-6,
        n_iterations=7,
        unsupported=codes(8, 9, 10),
    )
    assert seen.questions.is_raised
    found = build_findings(seen)
    assert [told(finding) for finding in found] == [
        saying("copies", "alarm", "alike", 0.7, 0.5, [1, 4], mean_cosine=0.9, n_shared=12,
               camp=None, camps_ring=False),
        saying("two_camps", "alarm", "questions", 0.5, seen.questions.threshold, [],
               [7, 3, 5, 1], n_tested=8),
        saying("leverage", "alarm", "worker", 0.1, 0.5, [3]),
        saying("grader_disagreement", "alarm", "crowd", -0.2, 0.3),
        saying("copies", "notice", "partly", 0.4, PARTLY_THRESHOLD, [5, 6], n_shared=8),
        saying("model_like", "notice", "model", 6.5, likeness.threshold, [3, 4], model="gpt"),
        saying("concentrated_weight", "notice", "crowd", 0.2, 0.3, [4, 2], n_workers=12),
        saying("unstable_ranking", "notice", "crowd", 0.6, 0.8),
        saying("no_convergence", "notice", "crowd", 0.5, 1e-6, n_iterations=7),
        saying("too_few", "info", "workers", 3.0, 0.0, [8, 9, 10]),
    ]  # fmt: skip
    assert found[0].exhibits.tolist() == [[1, 4, 0]]
    assert found[4].exhibits.tolist() == [[5, 6, 2]]
    # Nothing of leverage on nobody in particular.
    (whole,) = build_findings(replace(silent, leverage=RankingStatistic(0.1, 0.5)))
    assert told(whole) == saying("leverage", "alarm", "worker", 0.1, 0.5)


def test_a_crowd_of_two_says_how_many_and_how_many_are_needed(silent):
    (few,) = build_findings(replace(silent, converged=None, n_workers=2, unsupported=codes(0, 1)))
    assert told(few) == saying("too_few", "notice", "crowd", 2.0, 3.0)


def test_each_camp_says_how_many_the_other_has_and_where_its_start_leads(silent):
    starts = RankingStatistic(0.2, 0.5)
    seen = with_camps(silent, range(7), range(7, 12), starts=starts)
    one, other = build_findings(seen)
    common = {"start_agreement": 0.2, "open": True, "sampled": None}
    threshold = seen.camps.threshold
    assert told(one) == saying(
        "two_camps", "alarm", "crowd", 9.0, threshold, range(7), camp=0, other=5, surplus=0.3,
        **common,
    )  # fmt: skip
    assert told(other) == saying(
        "two_camps", "alarm", "crowd", 9.0, threshold, range(7, 12), camp=1, other=7, surplus=0.2,
        **common,
    )  # fmt: skip
    settled = with_camps(silent, range(7), range(7, 12), starts=RankingStatistic(0.9, 0.5))
    assert [finding.figures["open"] for finding in build_findings(settled)] == [False, False]
    unknown = with_camps(silent, range(7), range(7, 12))
    assert [finding.figures["start_agreement"] for finding in build_findings(unknown)] == [
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("members", "camp"),
    [
        (range(5), 0),  # five of five, five of five
        (range(4), 0),  # all four, and four of five
        (range(3), None),  # all three, but three of five
        ([0, 1, 2, 3, 9], 0),  # four of five and four of five
        ([0, 1, 2, 3, 8, 9], None),  # four of six
        (range(5, 12), 1),
        ([0, 11], None),
    ],
)
def test_a_group_is_a_camp_if_it_shares_four_fifths_of_both(silent, members, camp):
    seen = with_camps(silent, range(5), range(5, 12))
    group = replace(GROUP, members=codes(*members))
    assert find_equal_camp(group, seen.camps) == camp
    assert find_equal_camp(group, silent.camps) is None
    assert is_copier_group(seen, group, by_texts=False) is (camp is None)
    assert is_copier_group(seen, group, by_texts=True)
    assert is_copier_group(seen, replace(group, mean_cosine=IDENTICAL), by_texts=False)
    assert is_copier_group(silent, group, by_texts=False)


@pytest.mark.parametrize(
    ("cosine", "proven", "kind", "case"),
    [
        (0.9, False, "clique", "clique"),
        (0.9, True, "copies", "proven"),
        (IDENTICAL, False, "copies", "proven"),
    ],
)
def test_a_group_that_is_a_camp_is_copies_by_its_texts_or_identical_answers(
    silent, cosine, proven, kind, case
):
    group = replace(GROUP, members=codes(*range(5)), mean_cosine=cosine)
    seen = with_camps(
        silent, range(5), range(5, 12), kinship=replace(silent.kinship, groups=(group,))
    )
    first = build_findings(seen, [proven])[0]
    assert (first.kind, first.case) == (kind, case)
    assert (first.figures["camp"], first.figures["camps_ring"]) == (0, True)


def test_groups_and_what_their_texts_prove_belong_together(silent):
    seen = replace(silent, kinship=replace(silent.kinship, groups=(GROUP, PART)))
    with pytest.raises(ValueError, match="zip"):
        build_findings(seen, [True])
    # A likeness that has another reason is not told.
    assert [f.workers.tolist() for f in build_findings(seen, [None, True])] == [[5, 6]]
