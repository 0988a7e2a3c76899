import numpy as np
import pytest

from evaluation.consensus import AQER
from evaluation.evidence.baselines import METHODS, Corpus, Crowd, UnavailableError
from evaluation.evidence.baselines.weighting import VARIANTS
from tests.evaluation.evidence.baselines.world import corpus, random_crowd

SWITCHES = {
    "aqer": {},
    "aqer_one_pass": {"max_iterations": 1},
    "aqer_euclidean": {"similarity": "euclidean"},
    "aqer_random_init": {"init": "random"},
    "leave_one_out": {"leave_one_out": True},
    "question_contrast": {"question_contrast": True},
    "difficulty": {"difficulty": True},
    "discrimination": {"discrimination": True},
    "tfidf_char+discrimination": {"discrimination": True},
    "tfidf_word": {},
    "tfidf_char": {},
}


@pytest.mark.parametrize("name", SWITCHES)
def test_a_variant_is_aqer_on_the_vectors_themselves_with_the_switch_it_names(name):
    drawn = random_crowd(7, leave_out=0.2)
    plain = AQER(n_draws=0, **SWITCHES[name])
    plain.fit(drawn.corpus.vectors("any")[drawn.rows], drawn.workers, drawn.questions)
    expected = np.empty(7)
    expected[plain.workers_] = plain.raw_
    np.testing.assert_allclose(METHODS[name].score(drawn), expected, rtol=1e-6)


def test_variants_name_their_vectors():
    own = {name: v.embedders for name, v in VARIANTS.items() if v.embedders != (None,)}
    assert own == {
        "bow_majority": ("bow",),
        "tfidf_word": ("tfidf-word",),
        "tfidf_char": ("tfidf-char",),
        "tfidf_char+discrimination": ("tfidf-char",),
        "tfidf_char+leave_one_out": ("tfidf-char",),
        "tfidf_char+leave_one_out+discrimination": ("tfidf-char",),
        "hybrid": ("tfidf-char", None),
        "hybrid+leave_one_out": ("tfidf-char", None),
        "hybrid+discrimination": ("tfidf-char", None),
    }


def test_side_by_side_an_inner_product_is_the_sum_of_cosines():
    drawn = random_crowd(3)
    of, rng = drawn.corpus, np.random.default_rng(5)
    other = rng.normal(size=(len(of.texts), 6))
    spaces = {"one": of.vectors("any"), "other": other}
    both = Corpus(of.texts, of.question, spaces.__getitem__).join_embeddings(["one", "other"])
    for rows in of.members:
        units = [x[rows] / np.linalg.norm(x[rows], axis=1)[:, None] for x in spaces.values()]
        expected = sum(x @ x.T for x in units)
        np.testing.assert_allclose(both[rows] @ both[rows].T, expected, atol=1e-12)


@pytest.mark.parametrize("name", ["aqer", "aqer_euclidean"])
def test_who_does_not_vote_is_scored_as_a_model(name):
    drawn = random_crowd(8, leave_out=0.2)
    voting = np.arange(7) < 5
    outsiders = Crowd(drawn.corpus, drawn.rows, drawn.workers, voting)
    x, votes = drawn.corpus.vectors("any")[drawn.rows], outsiders.votes
    plain = AQER(n_draws=0, **SWITCHES[name])
    plain.fit(x[votes], drawn.workers[votes], drawn.questions[votes])
    expected = plain.score_models(x[~votes], drawn.workers[~votes], drawn.questions[~votes])
    found = METHODS[name].score(outsiders)
    np.testing.assert_allclose(found[expected.models], expected.scores, rtol=1e-6)


def test_who_does_not_vote_has_the_contrast_of_a_model():
    drawn = random_crowd(8, leave_out=0.2)
    voting = np.arange(7) < 5
    outsiders = Crowd(drawn.corpus, drawn.rows, drawn.workers, voting)
    x, votes = drawn.corpus.vectors("any")[drawn.rows], outsiders.votes
    plain = AQER(n_draws=0, question_contrast=True)
    plain.fit(x[votes], drawn.workers[votes], drawn.questions[votes])
    found = METHODS["question_contrast"].score(outsiders)
    np.testing.assert_allclose(found[plain.workers_], plain.raw_, rtol=1e-6)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    e = plain.compute_exemplars() / np.linalg.norm(plain.compute_exemplars(), axis=1, keepdims=True)
    code = {label: at for at, label in enumerate(plain.questions_.tolist())}
    for worker in (5, 6):
        rows = np.flatnonzero(drawn.workers == worker)
        cosines = unit[rows] @ e.T
        own = cosines[np.arange(len(rows)), [code[q] for q in drawn.questions[rows].tolist()]]
        others = (cosines.sum(axis=1) - own) / (len(e) - 1)
        assert found[worker] == pytest.approx((own - others).mean())


def test_fewer_than_5_questions_have_no_contrast():
    drawn = random_crowd(8)
    few = drawn.select_answers(drawn.questions < 4)
    with pytest.raises(UnavailableError) as error:
        METHODS["question_contrast"].score(few)
    assert error.value.reason == "contrast_needs_5_questions"


def test_the_entailment_start_is_the_mean_over_the_others():
    drawn = random_crowd(9)
    rng = np.random.default_rng(0)
    probability = rng.random((len(drawn.corpus.texts),) * 2)
    of = corpus(
        drawn.corpus.texts,
        drawn.corpus.question,
        drawn.corpus.vectors("any"),
        entails=lambda pairs: probability[pairs[:, 0], pairs[:, 1]],
    )
    drawn = Crowd(of, drawn.rows, drawn.workers)
    initial = [
        np.mean([probability[other, row] for other in drawn.rows[same] if other != row])
        for row, question in zip(drawn.rows, drawn.questions, strict=True)
        for same in [drawn.questions == question]
    ]
    plain = AQER(n_draws=0, init="entailment")
    plain.fit(of.vectors("any")[drawn.rows], drawn.workers, drawn.questions, initial)
    expected = np.empty(7)
    expected[plain.workers_] = plain.raw_
    found = METHODS["aqer_entailment_init"].score(drawn)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert VARIANTS["aqer_entailment_init"].switches == {"init": "entailment"}
