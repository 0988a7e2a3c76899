from dataclasses import replace

import numpy as np
import pytest

from annotations.exchange.reading.several_answers import (
    SeveralAnswersQuestion,
    SeveralAnswersReply,
    read_several_answers,
)
from annotations.exchange.records import AnswerStatus
from evaluation.core.backends.errors import BackendError
from evaluation.maqa.options import MaqaParameters
from evaluation.maqa.run import meaning
from evaluation.maqa.run.judging import RightAnswers, judge_reply
from evaluation.maqa.run.meaning import cluster_replies

LETTERS = MaqaParameters(embedder="tfidf-char", same_cosine=0.6)
NONE = MaqaParameters(embedder="sentence-transformers:/nowhere")


def question(name, gold=("gold",)):
    answers = tuple((one,) if isinstance(one, str) else tuple(one) for one in gold)
    return RightAnswers(SeveralAnswersQuestion(name, "Which?", answers, (), 1), "fixed")


def judged(right, replies):
    item, status = right.question.id, AnswerStatus.TEXT
    return [
        judge_reply(right, SeveralAnswersReply(1, "s", item, n, status, "", tuple(said), None, ()))
        for n, said in enumerate(replies)
    ]


def clusters(replies, parameters=LETTERS, gold=("gold",)):
    """Return the labels of replies (lists of answers) of one system to one question."""
    right = question("q", gold)
    found = cluster_replies({"s": {"q": judged(right, replies)}}, {"q": right}, parameters)
    labels = found.labels.get(("s", "q"))
    return None if labels is None else labels.tolist()


def test_replies_with_the_same_answers_in_any_order_say_the_same_without_a_model():
    same = [["Baltic Sea", "North Sea"], ["the north sea", "Baltic Sea"]]
    assert clusters(same, NONE) == [0, 0]
    assert clusters([[], ["a"]], NONE) == [0, 1]
    assert clusters([["2", "3"], ["5"], ["3", "2"]], NONE) == [0, 1, 0]  # nothing but numbers
    assert clusters([["a"]], NONE) is None


def test_a_model_that_is_needed_and_not_there_is_an_error():
    with pytest.raises(BackendError):
        clusters([["Baltic Sea"], ["North Sea"]], NONE)


def test_answers_in_nearly_the_same_letters_are_alike_and_each_needs_its_like():
    replies = [
        ["Michael Nesmith", "Peter Tork"],
        ["Peter Torkk", "Michael Nesmithh"],  # both have their like: the same
        ["Michael Nesmith"],  # has its like, but Peter Tork has none: something else
        ["Michael Nesmith", "Michael Nesmithh"],  # each like the answer of the one before
    ]
    assert clusters(replies) == [0, 0, 1, 1]


def test_different_numbers_are_never_alike_and_letters_of_choices_neither():
    assert clusters([["about 1250 people"], ["about 1251 people"]]) == [0, 1]
    assert clusters([["about 1250 people"], ["about 1,250 peoples"]]) == [0, 0]
    lenient = MaqaParameters(embedder="tfidf-char", same_cosine=0.0)
    assert clusters([["A", "B"], ["A", "C"]], lenient, gold=("A", "B")) == [0, 1]


def test_entailment_both_ways_is_asked_of_answers_behind_their_question(monkeypatch):
    known = {("Which? dog", "Which? animal"): 0.9, ("Which? hound", "Which? dog"): 0.8,
             ("Which? dog", "Which? hound"): 0.5}  # fmt: skip
    asked = []

    class Model:
        @classmethod
        def load(cls, name):
            assert name == "some-nli"
            return cls()

        def compute_entailment_probabilities(self, pairs):
            asked.extend(pairs)
            return meaning.np.array([known.get(pair, 0.1) for pair in pairs])

    monkeypatch.setattr(meaning, "EntailmentModel", Model)
    replies = [["dog"], ["animal"], ["hound"], ["dog"]]
    # dog entails animal, but not the other way; dog and hound entail each other by .5 and .8.
    assert clusters(replies, MaqaParameters(nli="some-nli")) == [0, 1, 0, 0]
    assert len(asked) == 6
    assert clusters(replies, MaqaParameters(nli="some-nli", entailment=0.6)) == [0, 1, 2, 0]


def test_pairs_are_asked_in_batches_and_come_back_to_their_question(monkeypatch):
    class Model:
        @classmethod
        def load(cls, _name):
            return cls()

        def compute_entailment_probabilities(self, pairs):
            return meaning.np.array([float(a.split()[1][0] == b.split()[1][0]) for a, b in pairs])

    monkeypatch.setattr(meaning, "EntailmentModel", Model)
    monkeypatch.setattr(meaning, "PAIRS", 3)
    said = {"p": ["ab", "ac", "b"], "q": ["x", "y"], "r": ["cd", "ce"]}
    right = {name: question(name) for name in said}
    replies = {name: judged(right[name], [[one] for one in said[name]]) for name in said}
    told = []
    found = cluster_replies(
        {"s": replies}, right, MaqaParameters(nli="n"), lambda *step: told.append(step)
    )
    labels = {name: found.labels["s", name].tolist() for name in said}
    assert labels == {"p": [0, 0, 1], "q": [0, 1], "r": [0, 0]}
    assert told[0] == ("entailment", 1, 3)


# --- the cosine of the same meaning, calibrated on the set's spellings

NAMES = ("Baltic", "Nordic", "Celtic", "Tyrrhenian", "Adriatic", "Ionian", "Aegean", "Caspian")
CALIBRATED = MaqaParameters(embedder="tfidf-char", calibrate_meaning=True)


def spellings_of(name):
    return [name, f"{name}s", f"{name}ish", f"{name}ers"]


def questions_with_spellings(n=24):
    """Questions with two right answers of four spellings each: six pairs of each right answer."""
    found = {}
    for number in range(n):
        pair = (NAMES[number % 8], NAMES[(number + 3) % 8])
        found[f"q{number}"] = question(f"q{number}", [spellings_of(name) for name in pair])
    return found


def test_five_spellings_of_one_answer_are_one_meaning_when_calibrated():
    right = questions_with_spellings()
    said = [[text] for text in [*spellings_of("Baltic"), "Balticness"]]
    replies = {"s": {"q0": judged(right["q0"], said)}}
    plain = cluster_replies(replies, right, replace(CALIBRATED, calibrate_meaning=False))
    assert plain.threshold.as_dict() == {
        "same_cosine": 0.8, "reason": "not_asked", "errors": None,
    }  # fmt: skip
    assert len(set(plain.labels["s", "q0"].tolist())) > 1
    found = cluster_replies(replies, right, CALIBRATED)
    assert found.labels["s", "q0"].tolist() == [0] * 5
    assert found.threshold.cosine == found.threshold.errors.threshold < 0.8
    # Twelve questions are in the half that measures, each with 2 x 6 pairs of spellings.
    assert found.threshold.errors.n_right == 12 * 12
    assert [one.code for one in found.warnings] == ["meaning_calibrated"]
    assert [one.code for one in plain.warnings] == ["meaning_not_calibrated"]


def test_a_set_with_few_spellings_keeps_the_default():
    right = {"q": question("q", [["dog", "hound"], "cat"])}
    replies = {"s": {"q": judged(right["q"], [["dog"], ["hound"]])}}
    found = cluster_replies(replies, right, CALIBRATED)
    assert (found.threshold.cosine, found.threshold.reason) == (0.8, "few_spellings")


@pytest.mark.data
@pytest.mark.model
@pytest.mark.long
def test_minilm_is_calibrated_on_the_published_world_knowledge(data_folder):
    file = read_several_answers(data_folder / "maqa" / "world_knowledge_nq_part.json")
    right = {one.id: RightAnswers(one, "fixed") for one in file.questions}
    embedder = meaning.get_embedder("minilm")
    found = meaning.choose_meaning_threshold(
        embedder, [], right, MaqaParameters(calibrate_meaning=True)
    )
    # At .80 the spellings of 69% of all pairs are two meanings (74 pairs, 1,000 different ones).
    assert found.cosine == pytest.approx(0.6744, abs=0.002)
    assert (found.errors.n_right, found.errors.n_wrong) == (16, 495)
    assert found.errors.missed == pytest.approx(7 / 16)
    assert found.errors.taken == pytest.approx(22 / 495, abs=0.003)


# --- similarity of replies, for the kernel language entropy


def kernel(replies, parameters=LETTERS, gold=("gold",)):
    right = question("q", gold)
    found = cluster_replies({"s": {"q": judged(right, replies)}}, {"q": right}, parameters)
    return found.kernels["s", "q"]


def test_the_kernel_is_that_of_sums_of_unit_vectors():
    found = kernel([["Michael Nesmith"], ["Michael Nesmithh"], ["Michael Nesmith", "Peter Tork"]])
    cosine = found[0, 1]
    assert 0.6 < cosine < 1
    assert np.diag(found) == pytest.approx([1, 1, 1])
    # (a, b) with |b| = |a| = 1: a . (a + p) / |a + p| = (1 + a.p) / sqrt(2 + 2 a.p)
    other = kernel([["Michael Nesmith"], ["Peter Tork"]])[0, 1]
    assert found[0, 2] == pytest.approx((1 + other) / (2 + 2 * other) ** 0.5)
    assert np.linalg.eigvalsh(found).min() > -1e-9


def test_different_numbers_letters_and_empty_replies_are_orthogonal():
    found = kernel([["about 1250 people"], ["about 1251 people"], ["some people"], [], []])
    assert found[0, 1:3].tolist() == [0, 0]
    assert found[3].tolist() == [0, 0, 0, 1, 1]
    letters = kernel([["A", "B"], ["A", "C"], ["B", "A"]], gold=("A", "B"))
    assert letters.tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
