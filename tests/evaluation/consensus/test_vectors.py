"""Texts to vectors: what progress is told, what is warned of, and entailment by hand."""

import numpy as np
import pytest

from evaluation.consensus import inputs
from evaluation.consensus.inputs import build_truncation_warning, compute_entailment_scores, embed
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.backends import EmbedderInfo

INFO = EmbedderInfo("small", "a small model", "r1", "float32", 2, max_length=8, languages="en")


class Cutting:
    """Cuts texts of more than 20 characters; its vectors are lengths."""

    n_truncated_ = 0

    def __init__(self):
        self.fitted = None

    def fit(self, texts):
        self.fitted = list(texts)
        return self

    def describe(self):
        return INFO

    def embed(self, texts, progress=None):
        self.n_truncated_ = sum(len(text) > 20 for text in texts)
        for done in range(1, len(texts) + 1) if progress else ():
            progress(done, len(texts))
        return np.array([[len(text), 1] for text in texts], dtype=np.float32).reshape(-1, 2)


@pytest.fixture
def embedder(monkeypatch):
    made, asked = Cutting(), []
    monkeypatch.setattr(inputs, "get_embedder", lambda *of: asked.append(of) or made)
    made.asked = asked
    return made


ANSWERS = ["north", "a text that the model cannot read whole"]
OF_MODELS = ["это ответ модели, по-русски и очень длинный", "up", "a text that nobody reads whole"]


def test_workers_answers_teach_the_embedder_and_all_are_counted_together(embedder):
    told = []
    found = embed(AqerParameters(precision="auto"), ANSWERS, OF_MODELS, lambda *of: told.append(of))
    assert embedder.asked == [("minilm", "auto")]
    assert embedder.fitted == ANSWERS
    assert found.answers[:, 0].tolist() == [len(text) for text in ANSWERS]
    assert found.models[:, 0].tolist() == [len(text) for text in OF_MODELS]
    assert found.info is INFO
    assert told == [("embedding", done, 5) for done in (1, 2, 3, 4, 5)]
    # One answer of a worker and two of models were cut.
    cut, language = found.warnings
    assert (cut.code, cut.values) == (
        "truncated", {"answers": 3, "tokens": 8, "model": "a small model"},
    )  # fmt: skip
    assert (language.code, language.values["model"]) == ("english_only", "a small model")


def test_without_models_and_progress_there_is_nothing_of_theirs(embedder):
    found = embed(AqerParameters(), ["north"], None)
    assert (found.models, found.warnings, found.plain, found.spelling) == (None, [], None, None)
    told = []
    embed(AqerParameters(), ["north"], None, lambda *of: told.append(of))
    assert told == [("embedding", 1, 1)]


def test_nothing_cut_is_nothing_to_warn_of():
    assert build_truncation_warning(0, INFO) is None
    assert build_truncation_warning(np.int64(2), INFO).values["answers"] == 2


class Entailing:
    """Says how likely a premise entails a hypothesis: by their lengths."""

    def __init__(self, asked):
        self.asked = asked

    def compute_entailment_probabilities(self, pairs, progress=None):
        self.asked += pairs
        if progress:
            progress(len(pairs), len(pairs))
        return np.array(
            [len(premise) / 10 + len(hypothesis) / 100 for premise, hypothesis in pairs]
        )


def test_an_answer_is_scored_by_how_the_others_to_its_question_entail_it(monkeypatch):
    asked, loaded, told = [], [], []
    monkeypatch.setattr(
        inputs.EntailmentModel, "load", lambda name: loaded.append(name) or Entailing(asked)
    )
    texts, questions = ["a", "bb", "alone", "ccc"], ["q1", "q1", "q2", "q1"]
    found = compute_entailment_scores("nli", texts, questions, lambda *of: told.append(of))
    # "a" by "bb" and "ccc": (.2 + .3) / 2 + .01; "bb": (.1 + .3) / 2 + .02; "ccc": .15 + .03.
    assert found[[0, 1, 3]] == pytest.approx([0.26, 0.22, 0.18])
    assert np.isnan(found[2])
    assert loaded == ["nli"]
    assert told == [("entailment", 6, 6)]
    assert sorted(asked) == sorted(
        [("a", "bb"), ("a", "ccc"), ("bb", "a"), ("bb", "ccc"), ("ccc", "a"), ("ccc", "bb")]
    )
