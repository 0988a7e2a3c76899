"""Panels: exemplary answers of people, of models and of both, against AQER and by hand."""

import numpy as np
import pytest
from scipy import sparse, stats

from evaluation.consensus import AQER
from evaluation.crowd_vs_llm.methods import (
    BOTH,
    HALVES,
    MODELS,
    PEOPLE,
    UNFLAGGED,
    PanelAnswers,
    _count_certain_swaps,
    compare_panel_pair,
    compute_mean_cosines,
    compute_panels,
    compute_row_cosines,
)
from evaluation.crowd_vs_llm.run.summary import PanelDistance, PanelsSummary

PEOPLE_N, MODELS_N, QUESTIONS_N, WIDE = 8, 4, 12, 6


def speeches(silent=(), seed=0, spread=0.5, shift=0.6):
    """People around one truth a question; models around another one, nearer to each other."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(QUESTIONS_N, WIDE))
    away = truth + shift * rng.normal(size=(QUESTIONS_N, WIDE))
    rows = [(s, q) for s in range(PEOPLE_N + MODELS_N) for q in range(QUESTIONS_N)]
    rows = [row for row in rows if row not in set(silent)]
    noise = spread * np.linspace(0.5, 1.5, PEOPLE_N + MODELS_N)
    vectors = [
        truth[q] + noise[s] * rng.normal(size=WIDE)
        if s < PEOPLE_N
        else away[q] + 0.3 * noise[s] * rng.normal(size=WIDE)
        for s, q in rows
    ]
    speaker, question = np.array(rows).T
    return PanelAnswers(
        np.array(vectors), speaker, question, PEOPLE_N, MODELS_N, QUESTIONS_N,
        np.array([s for s, _ in silent], dtype=np.int64),
        np.array([q for _, q in silent], dtype=np.int64),
    )  # fmt: skip


def make():
    return AQER(n_draws=0)


def found(given, **more):
    return {panel.name: panel for panel in compute_panels(given, make, **more)}


def test_the_panel_of_people_is_their_grading_and_scores_models_as_it_does():
    given = speeches()
    panel = found(given)[PEOPLE]
    of_people = ~given.is_model
    aqer = make().fit(
        given.vectors[of_people], given.respondent[of_people], given.question[of_people]
    )
    assert panel.exemplars == pytest.approx(aqer.compute_exemplars())
    assert panel.dispersion == pytest.approx(aqer.dispersion_)
    scored = aqer.score_models(
        given.vectors[given.is_model],
        given.respondent[given.is_model],
        given.question[given.is_model],
    )
    assert panel.compute_means()[PEOPLE_N:] == pytest.approx(scored.scores)
    left_out = np.full((PEOPLE_N, QUESTIONS_N), np.nan)
    left_out[given.respondent[of_people], given.question[of_people]] = aqer.leave_one_out_scores_
    assert panel.scores[:PEOPLE_N] == pytest.approx(left_out)
    assert panel.model_share == 0
    assert panel.nearest.tolist() == np.flatnonzero(of_people)[aqer.nearest_].tolist()


def test_a_model_is_scored_without_its_own_share_by_the_models():
    given = speeches()
    panels = found(given)
    of_models = given.is_model
    aqer = make().fit(
        given.vectors[of_models], given.respondent[of_models], given.question[of_models]
    )
    mean = [
        aqer.leave_one_out_scores_[given.respondent[of_models] == PEOPLE_N + at].mean()
        for at in range(MODELS_N)
    ]
    assert panels[MODELS].compute_means()[PEOPLE_N:] == pytest.approx(mean)
    assert panels[MODELS].model_share == 1
    both = make().fit(given.vectors, given.respondent, given.question)
    share = both.weights_[both.workers_ >= PEOPLE_N].sum()
    assert panels[BOTH].model_share == pytest.approx(share)
    assert 0 < share < 1


def test_how_much_alike_answers_are_is_the_mean_cosine_of_two_of_them():
    given = speeches()
    for vectors in (given.vectors, sparse.csr_array(given.vectors)):
        agreement = compute_mean_cosines(vectors, given.question, QUESTIONS_N + 1)
        for question in range(QUESTIONS_N):
            x = given.vectors[given.question == question]
            unit = x / np.linalg.norm(x, axis=1)[:, None]
            pairs = (unit @ unit.T)[np.triu_indices(len(x), 1)]
            assert agreement[question] == pytest.approx(pairs.mean())
        assert np.isnan(agreement[-1])
    # (1, 0), (0, 2) and a zero: the three pairs have cosine 0; (1, 0) twice and a zero: 1/3.
    question = np.array([0, 0, 0, 1, 1, 1])
    x = np.array([[1.0, 0], [0, 2], [0, 0], [1, 0], [1, 0], [0, 0]])
    assert compute_mean_cosines(x, question, 2) == pytest.approx([0, 1 / 3])


def test_models_that_say_the_same_agree_more_than_people():
    panels = found(speeches())
    assert panels[MODELS].agreement.mean() > panels[PEOPLE].agreement.mean()


def test_panels_are_compared_question_by_question_and_by_their_ranks():
    given = speeches(seed=4)
    panels = found(given)
    pair = compare_panel_pair(panels[PEOPLE], panels[MODELS], PEOPLE_N)
    one, other = panels[PEOPLE].exemplars, panels[MODELS].exemplars
    expected = [
        a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in zip(one, other, strict=True)
    ]
    assert pair.cosines == pytest.approx(expected)
    a, b = (panels[name].compute_means() for name in (PEOPLE, MODELS))
    assert pair.spearman_models == pytest.approx(
        stats.spearmanr(a[PEOPLE_N:], b[PEOPLE_N:]).statistic
    )
    tau = stats.kendalltau(a[PEOPLE_N:], b[PEOPLE_N:]).statistic
    assert pair.kendall_models == pytest.approx(tau)
    # Without ties tau is 1 - 4 swapped / (k (k - 1)), here k = 4.
    assert pair.swapped == round((1 - tau) * 4 * 3 / 4)
    assert pair.spearman_people == pytest.approx(
        stats.spearmanr(a[:PEOPLE_N], b[:PEOPLE_N]).statistic
    )
    halves = compare_panel_pair(panels[HALVES[0]], panels[HALVES[1]], PEOPLE_N)
    # Two halves of people are of one mind; people and models are not.
    assert np.nanmean(halves.cosines) > np.nanmean(pair.cosines)


def test_a_panel_with_itself_is_the_same():
    panels = found(speeches())
    pair = compare_panel_pair(panels[PEOPLE], panels[PEOPLE], PEOPLE_N)
    assert pair.cosines == pytest.approx(np.ones(QUESTIONS_N))
    assert (pair.spearman_models, pair.swapped, pair.n_models) == (pytest.approx(1), 0, MODELS_N)


def scored(*means, noise):
    """Scores of two models on 10 questions: a mean each, and noise that alternates."""
    wave = np.tile([1.0, -1.0], 5)
    return np.array([mean + sign * noise * wave for mean, sign in zip(means, (1, -1), strict=True)])


@pytest.mark.parametrize(
    ("noise", "certain"),
    [
        (0.01, 1),  # differences of .2 +- .02 in either direction
        (0.9, 0),  # of .2 +- 1.8, which is nothing beyond chance
    ],
)
def test_models_change_places_beyond_chance_or_within(noise, certain):
    a, b = scored(0.6, 0.4, noise=noise), scored(0.4, 0.6, noise=noise)
    assert _count_certain_swaps(a, b) == certain
    assert _count_certain_swaps(a, a) == 0


def test_models_without_common_questions_change_no_places_beyond_chance():
    a = np.array([[0.9, np.nan, 0.8], [np.nan, 0.1, np.nan]])
    assert _count_certain_swaps(a, a[::-1]) == 0


@pytest.mark.parametrize(
    ("swapped", "certain", "code"),
    [
        (0, 0, "ranks_stay"),
        (2, 0, "ranks_within_chance"),
        (2, 1, "ranks_change_beyond_chance"),
        (2, None, "ranks_change"),  # a run from before it was counted
    ],
)
def test_the_sentence_about_the_order_depends_on_changes_beyond_chance(swapped, certain, code):
    numbers = {"questions": 9, "cosine": 0.5, "low": None, "high": None, "median": 0.5, "least": 0}
    orders = {"spearman_models": 0.1, "kendall_models": 0.1, "models": 3, "swapped": swapped}
    distance = PanelDistance(
        PEOPLE,
        MODELS,
        **numbers,
        **orders,
        spearman_people=None,
        people=4,
        swapped_beyond_chance=certain,
    )
    codes = [message.code for message in PanelsSummary(distances=(distance,)).messages]
    assert f"panels.{code}" in codes


def test_flagged_workers_are_left_out_of_a_panel_of_their_own():
    given = speeches()
    assert UNFLAGGED not in found(given)
    panel = found(given, flagged=[2, 5])[UNFLAGGED]
    kept = np.isin(given.respondent, [0, 1, 3, 4, 6, 7])
    aqer = make().fit(given.vectors[kept], given.respondent[kept], given.question[kept])
    assert panel.exemplars == pytest.approx(aqer.compute_exemplars())
    assert (
        panel.members.tolist() == [True, True, False, True, True, False, True, True] + [False] * 4
    )
    # They are scored all the same, as outsiders.
    assert not np.isnan(panel.compute_means()[[2, 5]]).any()


def test_an_answer_without_a_text_scores_no_more_than_the_lowest_member():
    silent = [(PEOPLE_N, 0), (PEOPLE_N + 1, 0)]
    given = speeches(silent=silent)
    for panel in found(given).values():
        members = panel.members.copy()
        members[[speaker for speaker, _ in silent]] = False
        lowest = min(0, np.nanmin(panel.scores[members, 0]))
        assert panel.scores[PEOPLE_N, 0] == lowest
    lowest = {
        panel.name: panel
        for panel in compute_panels(given, lambda: AQER(n_draws=0, similarity="euclidean"))
    }[PEOPLE]
    assert lowest.scores[PEOPLE_N, 0] == lowest.scores[:PEOPLE_N, 0].min()


def test_one_model_has_nobody_to_agree_with():
    given = speeches()
    kept = given.respondent <= PEOPLE_N
    alone = PanelAnswers(
        given.vectors[kept], given.respondent[kept], given.question[kept], PEOPLE_N, 1, QUESTIONS_N,
        np.array([], dtype=np.int64), np.array([], dtype=np.int64),
    )  # fmt: skip
    panels = found(alone)
    assert np.isnan(panels[MODELS].compute_means()[PEOPLE_N])
    assert np.isnan(panels[MODELS].agreement).all()
    pair = compare_panel_pair(panels[PEOPLE], panels[MODELS], PEOPLE_N)
    assert (pair.n_models, pair.spearman_models, pair.kendall_models) == (0, None, None)


def test_a_question_that_only_one_panel_answered_has_no_cosine():
    given = speeches(silent=[(PEOPLE_N + at, 3) for at in range(MODELS_N)])
    panels = found(given)
    pair = compare_panel_pair(panels[PEOPLE], panels[MODELS], PEOPLE_N)
    assert np.isnan(pair.cosines[3])
    assert np.count_nonzero(np.isnan(pair.cosines)) == 1
    assert (panels[MODELS].nearest[3], panels[MODELS].n_answers[3]) == (-1, 0)


def test_sparse_and_dense_vectors_say_the_same():
    given = speeches()
    thin = PanelAnswers(
        sparse.csr_array(given.vectors), given.respondent, given.question, PEOPLE_N, MODELS_N,
        QUESTIONS_N, given.empty_respondent, given.empty_question,
    )  # fmt: skip
    one, other = found(given), found(thin)
    for name in (PEOPLE, MODELS, BOTH):
        assert one[name].compute_means() == pytest.approx(other[name].compute_means())
    assert compute_row_cosines(other[PEOPLE].exemplars, other[MODELS].exemplars) == pytest.approx(
        compute_row_cosines(one[PEOPLE].exemplars, one[MODELS].exemplars)
    )
    assert compute_row_cosines(np.zeros((1, 2)), np.ones((1, 2))).tolist() == [0]
