import numpy as np
import pytest

from evaluation.evidence.baselines import METHODS
from evaluation.evidence.baselines.overlap import compute_bertscore_f1
from tests.evaluation.evidence.baselines.world import TEXTS, corpus, crowd


def test_bertscore_is_the_harmonic_mean_of_greedy_matches():
    a = np.array([[1.0, 0], [0, 2]])
    b = np.array([[0.6, 0.8]])
    # Precision of a: its tokens' best cosines to b are .6 and .8: .7. Recall: b's best is .8.
    found = compute_bertscore_f1([a, b])
    assert found[0, 1] == pytest.approx(2 * 0.7 * 0.8 / 1.5)
    assert found[0, 1] == found[1, 0]
    assert found[0, 0] == pytest.approx(1)


def test_a_text_without_tokens_scores_0():
    found = compute_bertscore_f1([np.empty((0, 2)), np.ones((1, 2))])
    assert found.tolist() == [[0, 0], [0, pytest.approx(1)]]
    assert compute_bertscore_f1([np.empty((0, 2))]).tolist() == [[0]]


@pytest.mark.slow
@pytest.mark.model
def test_token_vectors_are_those_that_the_model_averages():
    from evaluation.core.backends.embedding.sentences import load_minilm

    model = load_minilm()
    (tokens,) = model.embed_tokens(["the stack"])
    assert tokens.shape == (2, 384)
    # With both special tokens the mean, brought to length 1, is the sentence's vector; two words
    # out of four make most of it.
    cosine = tokens.mean(axis=0) @ model.embed(["the stack"])[0]
    assert cosine / np.linalg.norm(tokens.mean(axis=0)) > 0.9


@pytest.mark.model
def test_who_writes_what_others_write_has_the_higher_bertscore():
    drawn = crowd(of=corpus(TEXTS))
    ann, bob, cy = METHODS["bertscore"].score(drawn)
    assert min(ann, bob) > cy + 0.1
