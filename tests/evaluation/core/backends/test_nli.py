import numpy as np
import pytest

from evaluation.core.backends import BackendError
from evaluation.core.backends.cross_encoder import ContradictionModel, EntailmentModel
from tests.evaluation.core.backends.conftest import save_bert

LABELS = {0: "contradiction", 1: "ENTAILMENT", 2: "neutral"}
PAIRS = [
    ("the pointer", "a pointer"),
    ("a", "b c d e f g h"),
    ("the pointer", "a pointer"),
    ("x y z " * 100, "the"),
    ("", "a"),
]


@pytest.fixture
def folder(tmp_path, tiny_words):
    save_bert(tmp_path / "nli", tiny_words, "BertForSequenceClassification", id2label=LABELS)
    return tmp_path / "nli"


def test_probabilities_are_those_of_a_direct_call(folder):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    found = EntailmentModel.load(str(folder)).compute_entailment_probabilities(PAIRS)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        expected = [
            model(
                **tokenizer(
                    first, second, truncation="longest_first", max_length=64, return_tensors="pt"
                )
            ).logits.softmax(-1)[0, 1]
            for first, second in PAIRS
        ]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert found[0] == found[2]
    assert len(set(found)) == 4


def test_no_pairs_give_no_numbers_and_progress_ends_at_all(folder):
    model = EntailmentModel.load(str(folder))
    assert model.compute_entailment_probabilities([]).shape == (0,)
    seen = []
    model.compute_entailment_probabilities(
        PAIRS, progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (5, 5)
    assert len(model.revision) == 12


def test_a_model_without_an_entailment_class_is_refused(tmp_path, tiny_words):
    save_bert(
        tmp_path / "nli",
        tiny_words,
        "BertForSequenceClassification",
        id2label={0: "not_entailment", 1: "other"},
    )
    with pytest.raises(BackendError) as raised:
        EntailmentModel.load(str(tmp_path / "nli"))
    assert raised.value.code == "no_class"
    assert raised.value.values["classes"] == ["not_entailment", "other"]


@pytest.mark.parametrize("name", [None, ""])
def test_no_name_is_refused_with_what_to_pass(name):
    with pytest.raises(BackendError) as raised:
        EntailmentModel.load(name)
    assert raised.value.code == "no_model_named"
    assert EntailmentModel.remedy in str(raised.value)


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(BackendError) as raised:
        EntailmentModel.load(str(tmp_path))
    assert raised.value.code == "no_model"
    assert EntailmentModel.remedy in str(raised.value)


def test_a_model_that_is_nowhere_is_refused(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(BackendError) as raised:
        EntailmentModel.load("nobody/no-such-model")
    assert raised.value.code == "not_installed"
    assert EntailmentModel.remedy in str(raised.value)


def test_contradiction_counts_the_less_of_both_ways_and_entailment_the_greater(folder):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    pairs = PAIRS[:2]
    contradict, entail = ContradictionModel.load(str(folder)).compute_contradictions(pairs)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()

    def shares(first, second):
        with torch.inference_mode():
            found = model(**tokenizer(first, second, return_tensors="pt")).logits.softmax(-1)
        return found[0].tolist()

    for at, (one, other) in enumerate(pairs):
        there, back = shares(one, other), shares(other, one)
        assert contradict[at] == pytest.approx(min(there[0], back[0]), abs=1e-5)
        assert entail[at] == pytest.approx(max(there[1], back[1]), abs=1e-5)
    assert [
        one.shape for one in ContradictionModel.load(str(folder)).compute_contradictions([])
    ] == [(0,)] * 2


def test_a_model_that_knows_no_contradiction_is_refused_for_it_only(tmp_path, tiny_words):
    save_bert(
        tmp_path / "nli",
        tiny_words,
        "BertForSequenceClassification",
        id2label={0: "entailment", 1: "not_entailment"},
    )
    EntailmentModel.load(str(tmp_path / "nli"))
    with pytest.raises(BackendError) as raised:
        ContradictionModel.load(str(tmp_path / "nli"))
    values = raised.value.values
    assert (raised.value.code, values["wanted"]) == ("no_class", "contradiction")
    assert values["purpose"] == ContradictionModel.what
