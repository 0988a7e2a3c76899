"""The simulator: what it promises of a crowd, and the published figures it has to meet."""

import numpy as np
import pytest

from evaluation.consensus import AQER
from evaluation.core.stats.simulation import (
    SimulatedCrowd,
    WorkerGroup,
    build_biased_groups,
    build_correlated_weak_groups,
    build_few_worker_groups,
    build_honest_groups,
    build_noisy_groups,
    compute_actual_correlation,
    simulate_crowd,
)


def agreement(groups, n_questions, dimension, repetitions=10, **switches):
    """Mean Pearson correlation of raw scores with the workers' true quality."""
    found = []
    for seed in range(1000, 1000 + repetitions):
        crowd = simulate_crowd(groups, n_questions, dimension, seed)
        aqer = AQER(n_draws=0, **switches).fit(crowd.vectors, crowd.workers, crowd.questions)
        found.append(np.corrcoef(aqer.raw_, crowd.compute_quality())[0, 1])
    return np.mean(found)


def correlation_of_answers(crowd, a, b):
    x, y = (crowd.vectors[crowd.workers == worker] for worker in (a, b))
    return np.mean([np.corrcoef(u, v)[0, 1] for u, v in zip(x, y, strict=True)])


class TestCrowd:
    def test_everybody_answers_everything_grouped_by_question(self):
        crowd = simulate_crowd(
            [WorkerGroup(2, 0.5), WorkerGroup(1, 1.0)], n_questions=4, dimension=5, seed=0
        )
        assert crowd.vectors.shape == (12, 5)
        assert crowd.workers.tolist() == [0, 1, 2] * 4
        assert crowd.questions.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
        assert crowd.group.tolist() == [0, 0, 1]

    def test_the_same_seed_gives_the_same_crowd_and_another_one_another(self):
        one, same, other = (
            simulate_crowd(build_honest_groups(6), 3, 4, seed) for seed in (7, 7, 8)
        )
        assert np.array_equal(one.vectors, same.vectors)
        assert not np.array_equal(one.vectors, other.vectors)

    def test_a_sparse_crowd_shares_the_work_evenly_and_nobody_answers_twice(self):
        crowd = simulate_crowd(
            build_honest_groups(12), n_questions=40, dimension=3, seed=1, answers_per_question=5
        )
        assert np.bincount(crowd.questions).tolist() == [5] * 40
        assert len(set(zip(crowd.workers.tolist(), crowd.questions.tolist(), strict=True))) == 200
        # 40 x 5 answers over 12 workers: 16.67 each.
        assert set(np.bincount(crowd.workers, minlength=12).tolist()) == {16, 17}

    def test_noise_and_bias_are_what_the_group_says(self):
        crowd = simulate_crowd(
            [WorkerGroup(1, 2.0, bias=0.5)], n_questions=20, dimension=5000, seed=0
        )
        error = crowd.vectors - crowd.truth[crowd.questions]
        # 100,000 numbers: the mean is known to 2 / sqrt(100,000) = 0.006, the spread to 0.0045.
        assert error.mean() == pytest.approx(0.5, abs=0.025)
        assert error.std() == pytest.approx(2.0, abs=0.02)

    def test_thirds_of_a_number_that_is_no_multiple_of_three(self):
        assert [group.size for group in build_honest_groups(20)] == [7, 7, 6]

    @pytest.mark.parametrize(
        ("share", "n_workers", "sizes"),
        [(0.5, 20, [10, 10]), (0.7, 20, [14, 6]), (0.5, 60, [30, 30]), (0.7, 12, [8, 4])],
    )
    def test_shares_of_weak_workers(self, share, n_workers, sizes):
        groups = build_correlated_weak_groups(0.7, share, n_workers)
        assert [group.size for group in groups] == sizes

    def test_a_share_of_biased_workers_in_both_halves(self):
        assert [group.size for group in build_biased_groups(0.4)] == [18, 18, 12, 12]

    @pytest.mark.parametrize(
        "arguments",
        [
            ([], 3, 3, 0),
            ([WorkerGroup(2, 1.0)], 0, 3, 0),
            ([WorkerGroup(2, 1.0)], 3, 0, 0),
            ([WorkerGroup(2, 1.0)], 3, 3, 0, 3),
            ([WorkerGroup(2, 1.0)], 3, 3, 0, 0),
        ],
    )
    def test_a_crowd_that_cannot_be_is_refused(self, arguments):
        with pytest.raises(ValueError, match=r"at least one|answers a question"):
            simulate_crowd(*arguments)

    @pytest.mark.parametrize("bad", [{"rho": 1.1}, {"rho": -0.1}, {"noise": -1.0}, {"size": -1}])
    def test_a_group_that_cannot_be_is_refused(self, bad):
        with pytest.raises(ValueError, match="must"):
            WorkerGroup(**{"size": 1, "noise": 1.0, **bad})


class TestQuality:
    def crowd(self):
        """Two questions, truths (1, 0) and (0, 1); worker 0 is right, 1 swaps, 2 answered one."""
        return SimulatedCrowd(
            vectors=np.array([[2.0, 0], [0, 1], [0, 3], [1, 0], [1, 1]]),
            workers=np.array([0, 1, 0, 1, 2]),
            questions=np.array([0, 0, 1, 1, 1]),
            truth=np.array([[1.0, 0], [0, 5]]),
            group=np.array([0, 0, 0, 0]),
        )

    def test_quality_is_the_mean_cosine_to_the_truth_of_the_same_question(self):
        # cos((1, 1), (0, 1)) = 1 / sqrt 2; worker 3 answered nothing.
        expected = [1, 0, 0.5**0.5, np.nan]
        assert self.crowd().compute_quality() == pytest.approx(expected, nan_ok=True)

    def test_the_scripts_quality_cannot_tell_who_swapped_the_answers(self):
        # Each answer against both truths: (1 + 0) / 2 for workers 0 and 1.
        expected = [0.5, 0.5, 0.5**0.5, np.nan]
        assert self.crowd().compute_script_quality() == pytest.approx(expected, nan_ok=True)

    def test_the_scripts_quality_is_the_mean_of_its_full_matrix(self):
        crowd = simulate_crowd(build_honest_groups(3), n_questions=4, dimension=6, seed=2)
        for worker in range(3):
            answers = crowd.vectors[crowd.workers == worker]
            cosines = [
                x @ y / np.linalg.norm(x) / np.linalg.norm(y) for x in answers for y in crowd.truth
            ]
            assert crowd.compute_script_quality()[worker] == pytest.approx(np.mean(cosines))


class TestCorrelation:
    @pytest.mark.parametrize(("rho", "noise"), [(0.0, 3.0), (0.3, 3.0), (0.7, 3.0), (0.5, 1.0)])
    def test_answers_that_rest_on_one_correlate_higher_than_rho_says(self, rho, noise):
        crowd = simulate_crowd(
            [WorkerGroup(4, noise, rho=rho)], n_questions=20, dimension=4000, seed=3
        )
        # Two answers correlate with what they share by c each, so by c^2 with each other.
        expected = compute_actual_correlation(rho, noise) ** 2
        assert correlation_of_answers(crowd, 0, 3) == pytest.approx(expected, abs=0.02)

    def test_a_rho_of_seven_tenths_is_really_ninety_five_hundredths(self):
        # s = sqrt(1 + 9); 0.7 s / sqrt(0.49 x 10 + 0.51) = 2.2136 / 2.3259 = 0.9517
        assert compute_actual_correlation(0.7, 3.0) == pytest.approx(0.9517, abs=1e-4)

    def test_full_correlation_is_one_answer(self):
        crowd = simulate_crowd([WorkerGroup(2, 1.0, rho=1.0)], n_questions=2, dimension=9, seed=0)
        assert crowd.vectors[0] == pytest.approx(crowd.vectors[1])


class TestPublishedFigures:
    """Figures of the authors' simulator with the right truth, measured elsewhere (30 crowds)."""

    @pytest.mark.parametrize(("rho", "expected"), [(0.0, 1.0), (0.6, 1.0), (0.7, -1.0), (0.9, -1)])
    def test_half_of_the_crowd_erring_together_turns_the_ranking_around(self, rho, expected):
        groups = build_correlated_weak_groups(rho)
        assert agreement(groups, 10, 300, 3) == pytest.approx(expected, abs=0.01)

    @pytest.mark.parametrize(
        ("n_workers", "leave_one_out", "expected"),
        [(3, False, -0.83), (3, True, 0.91), (12, False, 0.993)],
    )
    def test_three_workers_are_too_few_without_leaving_one_out(
        self, n_workers, leave_one_out, expected
    ):
        found = agreement(build_few_worker_groups(n_workers), 10, 300, leave_one_out=leave_one_out)
        assert found == pytest.approx(expected, abs=0.02)

    @pytest.mark.parametrize(("share", "expected"), [(0.4, 0.896), (0.5, 0.805), (0.7, 0.717)])
    def test_a_bias_that_many_share_costs_agreement(self, share, expected):
        assert agreement(build_biased_groups(share), 10, 300) == pytest.approx(expected, abs=0.02)

    @pytest.mark.parametrize(
        ("level", "leave_one_out", "expected", "within"),
        [
            (3.0, False, 0.76, 0.05),
            (4.0, False, 0.41, 0.1),
            (5.0, False, 0.20, 0.12),
            (3.0, True, 0.95, 0.02),
        ],
    )
    def test_noise_hides_the_differences(self, level, leave_one_out, expected, within):
        # The spread between crowds is .06, .15, .19 and .01; the bound is 3.5 errors of the mean
        # of 25 or less.
        found = agreement(build_noisy_groups(level), 20, 512, 25, leave_one_out=leave_one_out)
        assert found == pytest.approx(expected, abs=within)
