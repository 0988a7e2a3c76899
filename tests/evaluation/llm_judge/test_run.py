"""A judge is asked about answers, and measured against the experts' grades."""

from dataclasses import dataclass

import numpy as np
import pytest

from annotations.exchange import read_answer_grades
from annotations.exchange.records import AnswerStatus
from evaluation.llm_judge.options import COMPARE, SCORE, JudgeParameters
from evaluation.llm_judge.run import aggregate_grades, draw_pairs, judge_answers
from evaluation.runs.flow.asking.plan import TemplateError
from evaluation.runs.flow.asking.reading import AnswerColumns, PromptWithReminder

TEXT, EMPTY, ERROR = AnswerStatus.TEXT, AnswerStatus.EMPTY, AnswerStatus.ERROR


@dataclass(frozen=True)
class Said:
    answer: str
    status: AnswerStatus = TEXT


@pytest.fixture
def answers():
    return AnswerColumns(
        ["ann", "ben", "small"],
        [True, True, False],
        ["q1", "q1", "q1"],
        ["uphill", "downhill {x}", "sideways"],
        {"q1": "Where does water flow?"},
        {"q1": "Water falls."},
    )


class Judge:
    """Replies by the words of the last message; counts what it was asked."""

    def __init__(self, reply):
        self.reply, self.steps, self.items = reply, [], {}

    def __call__(self, step, prompt, items):
        self.steps.append((step, len(items)))
        self.items |= {item.id: item for item in items}
        return {
            (item.id, sample): self.reply(item, sample)
            for item in items
            for sample in range(item.samples)
        }


def test_each_answer_is_scored_some_times_and_pairs_are_shown_in_both_orders(answers):
    def reply(item, sample):
        content = item.messages[-1]["content"]
        if item.id.startswith("score"):
            return Said(str(3 + sample))
        return Said("A" if content.index("downhill") < content.index("Answer B") else "B")

    judge = Judge(reply)
    judged = judge_answers(answers, JudgeParameters(repeats=2, pairs=1, seed=0), judge)
    assert judge.steps == [("score", 3), ("compare", 2)]
    assert judged.scores.tolist() == [[3, 4], [3, 4], [3, 4]]
    shown = judge.items["score/q1/worker/ben"].messages[0]["content"]
    assert "Text: Water falls.\n\nQuestion: Where does water flow?\n\nAnswer: downhill {x}" in shown
    first, second = (item.messages[0]["content"] for n, item in judge.items.items() if "comp" in n)
    a, b = (text.split("Answer A: ")[1].split("\n\nAnswer B: ") for text in (first, second))
    assert (a[0], a[1].split("\n")[0]) == (b[1].split("\n")[0], b[0])


def test_a_verdict_of_the_swapped_order_is_turned_back(answers):
    always_a = Judge(lambda item, _: Said("4" if item.id.startswith("score") else "A"))
    judged = judge_answers(answers, JudgeParameters(pairs=1), always_a)
    # It names what is shown first: `one` when it is first, and the other when that is.
    assert judged.pairs.shown_first.tolist() == [1.0]
    assert judged.pairs.shown_second.tolist() == [0.0]


def test_an_unreadable_reply_is_asked_for_once_more_and_then_stays_empty_with_its_reason(answers):
    replies = {
        ("score/q1/worker/ann", 0): Said("very good"),
        ("score/q1/worker/ann/again-0", 0): Said("4"),
        ("score/q1/worker/ben", 0): Said("from 0 to 5"),
        ("score/q1/worker/ben/again-0", 0): Said("I cannot say."),
        ("score/q1/model/small", 0): Said("", EMPTY),
        ("score/q1/model/small/again-0", 0): Said("", AnswerStatus.REFUSED),
    }
    judge = Judge(lambda item, sample: replies[item.id, sample])
    judged = judge_answers(answers, JudgeParameters(repeats=1, pairs=0), judge)
    assert judge.steps == [("score", 3), ("score again", 3)]
    np.testing.assert_array_equal(judged.scores[:, 0], [4, np.nan, np.nan])
    assert judged.reasons == [[None], ["no_number"], ["refused"]]
    assert judged.n_again == 3
    roles = [m["role"] for m in judge.items["score/q1/worker/ann/again-0"].messages]
    assert roles == ["user", "assistant", "user"]
    # An empty turn is refused by servers: it is left out.
    [only] = judge.items["score/q1/model/small/again-0"].messages
    assert only["content"].endswith(SCORE.again)


def test_an_error_is_not_asked_again_here_but_by_the_same_command(answers):
    judge = Judge(lambda item, _: Said("", ERROR))
    judged = judge_answers(answers, JudgeParameters(repeats=1, pairs=0), judge)
    assert judge.steps == [("score", 3)]
    assert judged.reasons == [["error"]] * 3


def test_pairs_are_of_different_texts_each_once_and_do_not_depend_on_other_questions(answers):
    authors = [f"w{n}" for n in range(5)]
    texts = ["a", "b", "c", "c ", "d"]
    one = AnswerColumns(authors, [True] * 5, ["q1"] * 5, texts, {}, {})
    both = AnswerColumns(
        [*authors, "x", "y"], [True] * 7, ["q1"] * 5 + ["q0"] * 2, [*texts, "u", "v"], {}, {}
    )
    found = draw_pairs(one, 100, seed=1)
    # Of ten pairs of five answers all but the one of equal texts.
    assert len({frozenset(pair) for pair in found}) == len(found) == 9
    assert frozenset((2, 3)) not in {frozenset(pair) for pair in found}
    assert draw_pairs(both, 100, seed=1)[:9] == found
    assert draw_pairs(one, 2, seed=1) == found[:2]
    assert draw_pairs(one, 2, seed=2) != found[:2]


def test_names_of_answers_are_apart_whatever_ids_hold():
    odd = AnswerColumns(
        ["a/worker/b", "b", "b"], [True, True, False], ["q", "q/worker/a", "q"], ["x"] * 3, {}, {}
    )
    assert len({odd.build_answer_name(row) for row in range(3)}) == 3


def test_a_prompt_is_named_by_a_hash_of_all_that_the_judge_is_told():
    other = PromptWithReminder(SCORE.template + " ", SCORE.again, SCORE.fields)
    again = PromptWithReminder(SCORE.template, SCORE.again + " ", SCORE.fields)
    assert len({SCORE.hash, other.hash, again.hash, COMPARE.hash}) == 4


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{question} {answer} {author}", r"\{author\} is unknown"),
        ("{question}", r"\{answer\} is missing"),
        ("{question} {answer", "braces"),
    ],
)
def test_a_template_that_will_not_do_is_refused(template, said):
    with pytest.raises(TemplateError, match=said):
        PromptWithReminder(template, "again", SCORE.fields)


def test_the_settled_grade_is_the_mean_and_agreement_keeps_what_each_said():
    given = [(0, "ed", 1.0), (0, "eve", 4.0), (1, "ed", 2.0), (1, "eve", 3.0)]
    grades = aggregate_grades(3, given, {0: 4.5})
    assert grades.mean[:2].tolist() == [4.5, 2.5]
    assert np.isnan(grades.mean[2])
    assert grades.by_expert == {"ed": {0: 1.0, 1: 2.0}, "eve": {0: 4.0, 1: 3.0}}
    assert aggregate_grades(3, given).mean[0] == 2.5


def test_the_table_of_an_expert_check_is_read_as_it_is(tmp_path):
    path = tmp_path / "audit.csv"
    path.write_text(
        "question,worker,model,stratum,weight,score,judge,grade,judged_at,settles\n"
        "q1,ada,,people,9,0.5,human:ed,1,,0\n"
        "q1,ada,,people,9,0.5,human:eve,4,,0\n"
        "q1,ada,,people,9,0.5,human:mo,4.5,,1\n"
        "q2,,llm,models,2,0.5,human:ed,2,,0\n"
    )
    read = read_answer_grades(path)
    assert [one.expert for one in read.records] == ["human:ed", "human:eve", "human:mo", "human:ed"]
    assert read.compute_mean_grades() == {("ada", "", "q1"): 4.5, ("", "llm", "q2"): 2.0}
