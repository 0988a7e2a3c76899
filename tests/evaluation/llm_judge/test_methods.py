import numpy as np
import pytest
from scipy import stats

from evaluation.core.stats.inference.prediction_powered import estimate_powered_mean
from evaluation.llm_judge.methods import JudgeAnalysis, PairVerdicts

NAN = float("nan")
NOTHING = PairVerdicts(*(np.zeros(0, dtype=np.int64),) * 2, *(np.zeros(0),) * 2)


def analysis(scores, *, grades=None, aqer=None, compared=NOTHING, people=None, authors=None):
    scores = np.atleast_2d(np.array(scores, dtype=float))
    n = len(scores)
    return JudgeAnalysis(
        scores,
        np.arange(n) // 2,
        np.arange(n) % 2 if authors is None else np.array(authors),
        np.ones(n, dtype=bool) if people is None else np.array(people),
        np.full(n, NAN) if grades is None else np.array(grades, dtype=float),
        np.full(n, NAN) if aqer is None else np.array(aqer, dtype=float),
        compared,
        n_draws=200,
    )


def test_repetition_by_hand():
    # Two askings: 4-4, 3-5, 1-2, and one without its second score.
    found = analysis([[4, 4], [3, 5], [1, 2], [5, NAN]]).compare_repetitions()
    assert found["same"].value == pytest.approx(1 / 3)
    assert found["difference"].value == pytest.approx((0 + 2 + 1) / 3)
    # In halves 8-8, 6-10, 2-4: squared differences 0 + 16 + 4 = 20. Expected: all nine pairs of
    # 8, 6, 2 with 8, 10, 4: 0 4 16, 4 16 4, 36 64 4 = 148, / 3 = 49.333. 1 - 20 / 49.333.
    assert found["kappa"].value == pytest.approx(1 - 20 / (148 / 3))
    assert (found["same"].n, found["same"].n_clusters) == (3, 2)
    assert found["same"].low <= 1 / 3 <= found["same"].high


def test_scores_half_a_point_apart_are_not_the_same_for_kappa():
    # In halves 8-9 and 2-2: squared differences 1 + 0. Expected: 8 and 2 with 9 and 2, (1 + 36 +
    # 49 + 0) / 2 = 43. 1 - 1 / 43.
    found = analysis([[4, 4.5], [1, 1]]).compare_repetitions()
    assert found["kappa"].value == pytest.approx(1 - 1 / 43)


def test_three_askings_make_three_pairs_of_each_answer():
    # 1-1, 1-2, 1-2 of the first; 4-4 of the second, whose third asking gave nothing.
    found = analysis([[1, 1, 2], [4, 4, NAN]]).compare_repetitions()
    assert (found["same"].value, found["same"].n) == (0.5, 4)


def test_asked_once_says_nothing_of_repetition():
    assert analysis([[1], [2]]).compare_repetitions()["kappa"].reason == "asked_once"


def test_order_by_hand():
    # Verdicts on the left answer: 1 and 1 (same), 1 and 0 (always the first shown), 0 and 1
    # (always the second), a tie and a tie (same), and one without a verdict in the swapped order.
    compared = PairVerdicts(
        np.array([0, 2, 4, 6, 8]),
        np.array([1, 3, 5, 7, 9]),
        np.array([1, 1, 0, 0.5, 1]),
        np.array([1, 0, 1, 0.5, NAN]),
    )
    found = analysis(
        [[5], [1], [4], [2], [3], [3], [1], [2], [2], [1]],
        grades=[1, 5, 4, 2, 0, 0, 0, 0, 0, 0],
        compared=compared,
    ).compare_orders()
    assert (found["same"].value, found["same"].n) == (0.5, 4)
    # For the first shown: yes no, yes yes, no no, (ties) and yes: 4 of 7.
    assert (found["first"].value, found["first"].n) == (pytest.approx(4 / 7), 7)
    # Only the first pair has a verdict in both orders that is no tie: its scores say the same
    # (5 > 1), its grades the opposite (1 < 5).
    assert (found["as_scored"].value, found["as_scored"].n) == (1.0, 1)
    assert found["as_graded"].value == 0.0


@pytest.fixture
def twenty():
    rng = np.random.default_rng(4)
    questions = 20
    quality = np.linspace(0, 1.5, 6)
    grades = (3 + quality[None, :] + rng.normal(size=(questions, 6))).ravel()
    score = grades + 0.7 + rng.normal(0, 0.6, grades.shape)
    aqer = 0.1 * grades + rng.normal(0, 0.2, grades.shape)
    n = len(grades)
    judged = np.where(np.arange(n) % 3 == 0, grades, NAN)
    return score, judged, aqer, np.repeat(np.arange(questions), 6), np.tile(np.arange(6), questions)


def of(twenty, people=None):
    score, judged, aqer, questions, authors = twenty
    people = np.ones(len(score), dtype=bool) if people is None else people
    return JudgeAnalysis(
        score[:, None], questions, authors, people, judged, aqer, NOTHING, n_draws=200
    )


def test_agreement_with_experts_is_that_of_scipy(twenty):
    score, judged, _, _, authors = twenty
    found = of(twenty).compare_with_experts()
    both = ~np.isnan(judged)
    r = stats.pearsonr(score[both], judged[both]).statistic
    rho = stats.spearmanr(score[both], judged[both]).statistic
    assert found["pearson"].value == pytest.approx(r)
    assert found["spearman"].value == pytest.approx(rho)
    assert found["error"].value == pytest.approx((score - judged)[both].mean())
    assert found["distance"].value == pytest.approx(np.abs(score - judged)[both].mean())
    assert found["pearson"].n_clusters == 20
    assert found["pearson"].low < r < found["pearson"].high
    means = [
        (score[both & (authors == a)].mean(), judged[both & (authors == a)].mean())
        for a in np.unique(authors[both])
    ]
    # A third of six columns: workers 0 and 3 were judged only, too few to compare.
    assert len(means) == 2
    assert found["pearson_workers"].reason == "fewer_than_5_judged_workers"


def test_workers_are_compared_by_their_means_and_models_are_not_among_them(twenty):
    score, _, aqer, _, authors = twenty
    people = authors < 5
    found = of(twenty, people).compare_with_aqer()["pearson_workers"]
    means = [(score[authors == a].mean(), aqer[authors == a].mean()) for a in range(5)]
    assert found.value == pytest.approx(stats.pearsonr(*zip(*means, strict=True)).statistic)
    assert found.n == 5


def test_the_judge_is_set_against_aqer_on_the_same_answers(twenty):
    score, judged, aqer, *_ = twenty
    aqer = aqer.copy()
    aqer[:6] = NAN
    found = of((score, judged, aqer, *twenty[3:])).compute_correlation_difference()
    both = ~np.isnan(judged + aqer)
    mine = stats.pearsonr(score[both], judged[both]).statistic
    theirs = stats.pearsonr(aqer[both], judged[both]).statistic
    assert found["aqer_pearson"].value == pytest.approx(theirs)
    assert found["gain"].value == pytest.approx(mine - theirs)
    assert found["gain"].low > 0


def test_corrected_means_are_of_workers_questions_whole_and_of_an_author_alone(twenty):
    score, judged, _, questions, authors = twenty
    people = authors < 4
    found = of(twenty, people)
    assert found.estimate_mean_grade() == estimate_powered_mean(
        judged[people], score[people], questions[people]
    )
    mine = authors == 3
    assert found.estimate_author_mean_grade(3) == estimate_powered_mean(judged[mine], score[mine])
    # The judge is .7 too kind; corrected, the mean is that of the grades' own answers.
    assert abs(found.estimate_mean_grade().mean - (score[people].mean() - 0.7)) < 0.2
    # Author 1 was never judged: nothing is known of the judge's error there.
    assert found.estimate_author_mean_grade(1).reason == "no_judgements"


def test_nothing_judged_leaves_everything_of_experts_empty(twenty):
    score, _, aqer, questions, authors = twenty
    found = of((score, np.full(len(score), NAN), aqer, questions, authors))
    assert {e.value for e in found.compare_with_experts().values()} == {None}
    assert found.compare_with_experts()["pearson"].reason == "nothing_to_compare"
    assert found.estimate_mean_grade().reason == "no_judgements"
