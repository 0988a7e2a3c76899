"""A re-ranker scores as the library's own class does, and refuses what is none."""

import sys

import numpy as np
import pytest

from evaluation.core.backends import BackendError
from evaluation.core.backends.cross_encoder import Reranker
from tests.evaluation.cross_encoders import logits, save_cross_encoder

QUESTION = "what is the sun ?"
TEXTS = ["a star", "the sun is a star", "a star like many", "a star"]
PAIRS = [(QUESTION, text) for text in TEXTS]


@pytest.fixture
def folder(tmp_path):
    return save_cross_encoder(tmp_path / "scores", [QUESTION, *TEXTS], ["score"])


def test_scores_are_the_logits_of_the_librarys_own_class(folder):
    import torch
    from sentence_transformers import CrossEncoder

    found = Reranker.load(str(folder)).compute_scores(PAIRS)
    theirs = CrossEncoder(str(folder), device="cpu").predict(
        PAIRS, activation_fn=torch.nn.Identity(), show_progress_bar=False
    )
    np.testing.assert_allclose(found, theirs, atol=1e-5)
    np.testing.assert_allclose(found, logits(folder, PAIRS)[:, 0], atol=1e-5)
    # Equal texts are equal to the last bit: the earlier stands for both.
    assert found[0] == found[3]
    assert len(set(found)) == 3


def test_a_model_with_classes_has_no_score(tmp_path):
    labels = ["contradiction", "entailment", "neutral"]
    folder = save_cross_encoder(tmp_path / "nli", TEXTS, labels)
    with pytest.raises(BackendError) as raised:
        Reranker.load(str(folder))
    assert (raised.value.code, raised.value.values) == ("no_single_score", {"classes": labels})


def test_without_the_library_it_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(BackendError, match=r"re-ranking.*pip install.*transformers"):
        Reranker.load("cross-encoder/ms-marco-MiniLM-L6-v2")


def test_a_model_that_is_nowhere_is_refused_with_one_to_install(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(BackendError) as raised:
        Reranker.load("nobody/no-such-model")
    assert raised.value.code == "not_installed"
    assert Reranker.remedy in str(raised.value)


def test_a_score_that_is_not_finite_is_refused(folder, monkeypatch):
    model = Reranker.load(str(folder))
    monkeypatch.setattr(
        model, "compute_logits", lambda *of: np.array([[1.0], [np.nan], [2.0], [1.0]])
    )
    with pytest.raises(BackendError) as raised:
        model.compute_scores(PAIRS)
    assert (raised.value.code, raised.value.values) == ("not_finite", {"text": "the sun is a star"})
