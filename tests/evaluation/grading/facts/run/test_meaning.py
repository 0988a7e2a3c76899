"""An entailment model, scripted: what answers are held against, and what becomes of them."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from annotations.exchange import AnswerStatus
from evaluation.consensus.inputs import Answers, ModelAnswers
from evaluation.grading.facts.messages import FACTS
from evaluation.grading.facts.run import add_entailment_verdicts, find_crowd_facts
from evaluation.runs.flow.stored import MEANING
from tests.contracts.replay import facts_of


@dataclass
class Script:
    """Says of two texts what stands in `said`, in whatever order they come; else nothing."""

    said: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)
    name: str = "script"
    revision: str = "1"

    def compute_contradictions(self, pairs, progress=None):
        self.asked += pairs
        found = [self.said.get(frozenset(pair), (0.0, 0.0)) for pair in pairs]
        if progress is not None:
            progress(len(pairs), len(pairs))
        return tuple(np.array(one, dtype=np.float64) for one in zip(*found, strict=True)) or (
            np.zeros(0),
            np.zeros(0),
        )


def against(pairs, contradicts=0.9):
    return {frozenset(pair): (contradicts, 0.05) for pair in pairs}


def like(pairs, entails=0.9):
    return {frozenset(pair): (0.02, entails) for pair in pairs}


def judged(texts, script, scores=None, models=(), excluded=(), question="q", **more):
    """Hold the answers of workers w0, w1, ... to one question against its claims."""
    n = len(texts)
    answers = Answers(
        list(range(n)), [f"w{i}" for i in range(n)], [question] * n, list(texts), [False] * n
    )
    spoken = None
    if models:
        k = len(models)
        spoken = ModelAnswers(
            list(range(100, 100 + k)), [f"m{i}" for i in range(k)], [question] * k, list(models),
            [AnswerStatus.TEXT] * k, [0] * k,
        )  # fmt: skip
    scores = np.linspace(0.9, 0.1, n) if scores is None else np.array(scores)
    facts = find_crowd_facts({}, answers, spoken, excluded=excluded)
    nearest = {question: int(np.argmax(scores))}
    found = add_entailment_verdicts(
        facts, answers, spoken, scores, nearest, script, None, excluded, **more
    )
    rows = {one.name: one for one in found.answers if one.slot == MEANING}
    return found, rows


TEXTS = ["the gap is open", "there is a gap", "it is closed", "blue", "a gap", "the wire hums"]


def test_an_answer_contradicts_agrees_or_is_open_beside_the_exemplary_one():
    said = against([(TEXTS[0], TEXTS[2])]) | like([(TEXTS[0], TEXTS[1]), (TEXTS[0], TEXTS[4])])
    found, rows = judged(TEXTS, Script(said))
    told = {name: (row.verdict, row.value, row.of) for name, row in rows.items()}
    assert told["w1"] == ("agrees", "0.020", 5)
    assert told["w2"] == ("contradicts", "0.900", 5)
    assert told["w3"] == ("open", "0.000", 5)
    # Of the five others w1, w4 and the author agree with what w2 contradicts; nobody else does.
    assert (rows["w2"].crowd, rows["w2"].n_crowd, rows["w2"].mentions) == (TEXTS[0], 3, 0)
    # w4 and the author say what w1 says.
    assert (rows["w1"].n_crowd, rows["w1"].mentions) == (2, 2)
    [claim] = [one for one in found.crowd if one.slot == MEANING]
    # 3 of 6 agree; Wilson's lower bound of .5 of 6 is .19, below .4, and 3 >= max(2, 1.5).
    assert (claim.value, claim.mentions, claim.of, claim.state) == (TEXTS[0], 3, 6, "contested")
    assert (found.meaning.agrees, found.meaning.contradicts, found.meaning.open) == (3, 1, 2)
    assert found.meaning.questions == 1


def test_who_gave_the_exemplary_answer_is_held_against_the_nearest_of_another():
    script = Script(against([(TEXTS[0], TEXTS[1])]))
    _, rows = judged(TEXTS, script)
    # w1's is the second nearest: each of the two contradicts the other.
    assert rows["w0"].verdict == rows["w1"].verdict == "contradicts"
    assert rows["w0"].crowd == TEXTS[1]
    held = [set(pair) for pair in script.asked]
    assert all(TEXTS[0] in pair for pair in held)
    assert len(held) == 6  # five answers beside the exemplary one, and it beside the next


def test_what_a_quarter_of_the_others_contradict_as_well_is_contested():
    texts = [f"answer {letter}" for letter in "abcdefghi"]
    for n, verdict in ((1, "contradicts"), (2, "contradicts"), (3, "contested")):
        # Of 8 others 25% are 2: with three who contradict, each has two others beside them.
        _, rows = judged(texts, Script(against([(texts[0], texts[at]) for at in range(1, n + 1)])))
        assert rows["w1"].verdict == verdict, n
        assert rows["w1"].mentions == n - 1


def test_the_same_text_agrees_and_no_model_is_asked():
    script = Script()
    found, rows = judged(["It hums.", "it  HUMS.", "it hums.", "IT HUMS."], script)
    assert {row.verdict for row in rows.values()} == {"agrees"}
    assert (script.asked, found.meaning.pairs) == ([], 0)
    # Who gave the exemplary answer has three others who say the same, as everybody has.
    assert {row.mentions for row in rows.values()} == {3}


def test_an_agreed_fact_that_the_exemplary_answer_does_not_state_is_a_claim_as_well():
    texts = ["long ago", *["it was in 1858"] * 5, "surely in the year 1858", "never"]
    scores = [0.9, *[0.3] * 5, 0.5, 0.1]
    script = Script(against([("surely in the year 1858", "never")]))
    found, rows = judged(texts, script, scores)
    claims = [one.value for one in found.crowd if one.slot == MEANING]
    # Of the six who say 1858 w6 is nearest to the exemplary answer.
    assert claims == ["long ago", "surely in the year 1858"]
    assert (rows["w7"].verdict, rows["w7"].crowd) == ("contradicts", "surely in the year 1858")
    # The exemplary answer is held against it, its author not against an own claim.
    assert ("surely in the year 1858", "long ago") in script.asked
    assert ("surely in the year 1858", "surely in the year 1858") not in script.asked


def test_a_claim_that_the_exemplary_answer_states_is_no_second_one():
    found, _ = judged(["in 1858", "it was 1858", "1858 it was", "1858!", "1858?"], Script())
    assert [one.value for one in found.crowd if one.slot == MEANING] == ["in 1858"]


def test_models_are_judged_by_all_workers_and_the_excluded_do_not_vote():
    said = against([(TEXTS[0], "no gap"), (TEXTS[0], TEXTS[2])]) | like([(TEXTS[0], TEXTS[1])])
    found, rows = judged(TEXTS, Script(said), models=["no gap"], excluded=("w1",))
    assert (rows["m0"].kind, rows["m0"].verdict, rows["m0"].of) == ("model", "contradicts", 5)
    assert rows["m0"].key == 100
    # w1 is judged by the five who vote, and nobody counts w1.
    assert (rows["w1"].verdict, rows["w1"].of) == ("agrees", 5)
    assert rows["w2"].of == 4
    [claim] = [one for one in found.crowd if one.slot == MEANING]
    assert (claim.mentions, claim.of) == (1, 5)


@pytest.mark.parametrize("texts", [["alone"], ["one", "two"], ["one", "two", "three"]])
def test_beside_fewer_than_three_others_nothing_is_said(texts):
    script = Script(against([(texts[0], text) for text in texts[1:]]))
    found, rows = judged(texts, script)
    assert {(row.verdict, row.value) for row in rows.values()} == {("too_few", "")}
    assert [one for one in found.crowd if one.slot == MEANING] == []
    assert (script.asked, found.meaning.questions) == ([], 0)


@pytest.mark.parametrize(
    "texts",
    [
        ["الدائرة مفتوحة", "هناك فجوة", "الدائرة مغلقة", "لا أعرف"],
        ["回路は開いている", "隙間がある", "回路は閉じている", "わかりません"],
        ["SCHLUẞ", "schluss", "offen", "zu"],
    ],
)
def test_texts_of_any_script_are_read_as_they_are(texts):
    found, rows = judged(texts, Script(against([(texts[0], texts[2])])))
    assert rows["w2"].verdict == "contradicts"
    assert rows["w2"].crowd == texts[0]
    assert found.meaning.contradicts == 1


def test_what_facts_said_stays_as_it_was():
    texts = ["in 1858", "in 1858", "in 1858", "in 1858", "in 1858", "in 1859"]
    answers = Answers(list(range(6)), list("abcdef"), ["q"] * 6, texts, [False] * 6)
    plain = find_crowd_facts({}, answers)
    found, _ = judged(texts, Script())
    assert [one for one in found.crowd if one.slot != MEANING] == list(plain.crowd)
    assert [(one.key, one.slot, one.verdict) for one in found.answers if one.slot != MEANING] == [
        (one.key, one.slot, one.verdict) for one in plain.answers
    ]
    assert (found.questions, found.silent) == (plain.questions, plain.silent)


def test_the_sentence_names_the_claim_in_short_and_who_agrees_with_it():
    of = {"crowd": "gap " * 100, "value": "0.912", "of": 9, "n_crowd": 1, "mentions": 3}
    said = FACTS["meaning.contradicts"](of)
    assert said.startswith("contradicts “gap gap")
    assert said.count("gap") < 100
    assert "…” " in said
    assert facts_of(said) == "0.912 1 9"
    assert facts_of(FACTS["meaning.contested"](of)) == "0.912 1 9 3 9"
