import pytest

from annotations.exchange.reading.several_answers import SeveralAnswersQuestion, SeveralAnswersReply
from annotations.exchange.records import AnswerStatus
from evaluation.core.backends.errors import BackendError
from evaluation.maqa.options import MaqaParameters
from evaluation.maqa.run import meaning
from evaluation.maqa.run.judging import RightAnswers, judge
from evaluation.maqa.run.meaning import cluster_replies

LETTERS = MaqaParameters(embedder="tfidf-char", same_cosine=0.6)
NONE = MaqaParameters(embedder="sentence-transformers:/nowhere")


def question(name, gold=("gold",)):
    answers = tuple((one,) for one in gold)
    return RightAnswers(SeveralAnswersQuestion(name, "Which?", answers, (), 1), "fixed")


def judged(right, replies):
    item, status = right.question.id, AnswerStatus.TEXT
    return [
        judge(right, SeveralAnswersReply(1, "s", item, n, status, "", tuple(said), None, ()))
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

        def probabilities(self, pairs):
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

        def probabilities(self, pairs):
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
