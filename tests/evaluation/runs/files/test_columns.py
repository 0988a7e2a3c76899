"""Each reader of the files of studies against the table of its columns."""

from types import SimpleNamespace
from unittest import mock

import pytest

from annotations.exchange import AnswerStatus
from evaluation.core.backends.chat.registry import ScriptedChat
from evaluation.core.text.items import MultiqaItem
from evaluation.experts import commands
from evaluation.maqa.composing import LAYOUT, read_yes_no_questions
from evaluation.multiqa.files.evaluation import read_labelled_pairs
from evaluation.multiqa.files.reading import MultiqaColumns, read_items, read_replies
from evaluation.multiqa.files.study import _read_typed_wordings
from evaluation.multiqa.options import MultiqaParameters
from evaluation.multiqa.run.study import RewordingChecker
from evaluation.runs.flow.metrics import Exclusions
from tests.readers import TEXT, Holds, Reader, identified, outcomes

MULTIQA = "evaluation.multiqa.files.reading"
ITEMS = [MultiqaItem(f"i{n}", "extractive", "", "", "q", (), ("a",), "") for n in range(1, 5)]
NO_LISTS = {"no_list": ['["a"', "a", "7", "{}", "[[]]", "[true]"], "entry_empty": ['["a", " "]']}


def replies_of(path):
    found = read_replies(path, ITEMS, Exclusions()).replies
    return [
        (
            found.systems[found.of_system[at]],
            found.items[at],
            found.variants[at],
            found.texts[found.of_text[at]],
            found.statuses[at],
        )
        for at in range(len(found))
    ]


def typed_wordings_of(path):
    request = SimpleNamespace(variants=path, columns=MultiqaColumns())
    checker = RewordingChecker(["q"] * len(ITEMS), 1, MultiqaParameters(), 0.0)
    items, everyone = SimpleNamespace(items=ITEMS), range(len(ITEMS))
    found, _ = _read_typed_wordings(request, items, everyone, checker, Exclusions())
    return [(ITEMS[one.item].item, one.text, one.variant, one.reason) for one in found]


def scores_of(path):
    """Read a table as the workers' scores in a folder that `evaluate aqer` wrote."""
    with mock.patch.object(commands, "SCORES", ((path.name, "worker", "score"),)):
        return list(commands._iterate_scored_answers(path.parent, {}))


# Problems with the code "" have none in a catalogue: their places tell them apart.
READERS = {
    "items": Reader(
        read_items,
        "items",
        {
            "item": identified("i", "item_missing"),
            "kind": Holds(
                "choice",
                "kind_missing",
                others={"kind_unknown": ["essay"], "choices:item_faulty": ["extractive"]},
            ),
            **dict.fromkeys(("dataset", "context", "question"), TEXT),
            "choices": Holds(
                ["a", "b", 3],
                "item_faulty",
                others={
                    **NO_LISTS,
                    "item_faulty": ['["a", "A "]'],
                    "answers:item_faulty": ['["b"]'],
                },
            ),
            "answers": Holds('["a", "C"]', others={**NO_LISTS, "item_faulty": ['["z"]', '["E"]']}),
            "matcher": Holds(others={"matcher_unknown": ["fuzzy"], 4: ["exact"]}),
        },
        "",
        required=("item", "kind", "answers"),
        record={
            "item": "i1",
            "kind": "choice",
            "dataset": "a 1",
            "context": "a 1",
            "question": "a 1",
            "choices": ("a", "b", "3"),
            "answers": ("a", "C"),
            "matcher": "choice",
        },
        bare=(1, "choices", "item_faulty"),
        together=[
            ({"matcher": "choice", "kind": "extractive", "choices": ""}, "item_faulty"),
            ({"kind": "extractive", "choices": "", "answers": '["a"]'}, 4),
        ],
        again=[({}, 2), ({"answers": '["b"]'}, ":item_differs")],
        values={
            "kind_missing": {"kind": "", "known": "extractive, choice, free"},
            "kind_unknown": {"kind": "essay", "known": "extractive, choice, free"},
            "item_faulty": {"fault": "only a choice has choices, and the kind is extractive"},
            "entry_empty": {"entry": 2},
            "matcher_unknown": {"matcher": "fuzzy", "known": "choice, exact, levenshtein, cosine"},
            "item_differs": {"item": "i1", "earlier": 1},
        },
        module=MULTIQA,
    ),
    "replies": Reader(
        replies_of,
        "",
        {
            "system": TEXT,
            "item": Holds("i{n}", "", others={2: ["i9"]}),
            "variant": Holds("0.0", "", others={"": ["-1", "one", "0.5", "٣", "10001"]}),
            "variant_text": Holds("q"),
            "reply": Holds("r", is_text=True, most=100_000, long=""),
            "status": Holds("Text", others={"": ["fine", "empty"]}),
            "finish_reason": Holds("stop"),
        },
        "",
        required=("item", "variant", "reply"),
        record=("a 1", 0, 0, "r", 0),
        bare=("model", 0, 0, "r", 0),
        again=[({}, 2), ({"reply": "b"}, ":"), ({"variant": "{n}"}, 4)],
        module=MULTIQA,
    ),
    "typed wordings": Reader(
        typed_wordings_of,
        "",
        {
            "item": Holds("i{n}", "", others={"": [" "], 2: ["i9"]}),
            "variant_text": Holds(" w ", "", others={"": [" "]}, is_text=True),
        },
        0,
        required=("item", "variant_text"),
        record=("i1", "w", 1, None),
        bare=("i1", "w", 1, None),
        # What repeats the question or another wording is listed with its reason.
        again=[({}, 4), ({"variant_text": "Q"}, 4)],
        module="evaluation.multiqa.files.study",
    ),
    "labelled pairs": Reader(
        read_labelled_pairs,
        "",
        {
            "question": Holds("q {n}", is_text=True),
            "accepted": Holds("a {n}", "pair_text_missing", others={"pair_text_missing": [" "]}),
            "reply": Holds("r {n}", "pair_text_missing", others={"pair_text_missing": [" "]}),
            "right": Holds("yes", "flag_neither", others={"flag_neither": ["perhaps", "2"]}),
        },
        0,
        required=("accepted", "reply", "right"),
        record={"group": "q 1", "accepted": ("a 1",), "reply": "r 1", "right": True},
        bare={"group": "a 1", "accepted": ("a 1",), "reply": "r 1", "right": True},
        values={"flag_neither": {"flag": ""}, "pair_labels_differ": {"reply": "r 1"}},
        # Rows that repeat a pair are one pair.
        again=[({}, 2), ({"right": "no"}, "pair_labels_differ")],
        module="evaluation.multiqa.files.evaluation",
    ),
    "scores of answers": Reader(
        scores_of,
        "",
        {
            "worker": identified("w", "id_missing"),
            "question": identified("q", "id_missing"),
            "score": Holds("0.5", others={"": ["x", "nan", "-inf", "0,5"], 4: ["-1", "1e-3"]}),
        },
        0,
        required=("worker", "question", "score"),
        record={"author": "w1", "question": "q1", "score": 0.5},
        bare={"author": "w1", "question": "q1", "score": 0.5},
        values={"id_missing": {"name": "worker"}},
        module="evaluation.experts.commands",
    ),
    "yes/no questions": Reader(
        read_yes_no_questions,
        "",
        {
            "question": Holds(
                "q{n}",
                "entry_without_question",
                others={"entry_without_question": [" ", 7, ["q"]]},
                is_text=True,
            ),
            "answer": Holds(
                True,
                "entry_answer_unknown",
                others={"entry_answer_unknown": ["perhaps", 1, None, []], 4: ["NO", False]},
            ),
            "statement": Holds("s", others={"entry_statement_no_text": [7, ["s"]]}, is_text=True),
        },
        "list_missing",
        again=[({}, 2), ({"answer": False}, "entry_contradicts")],
        required=("question", "answer"),
        record={"question": "q1", "yes": True, "statement": "s"},
        bare={"question": "q1", "yes": True},
        values={
            "entry_without_question": {"entry": 1, "layout": LAYOUT},
            "entry_answer_unknown": {"entry": 1, "layout": LAYOUT},
            "entry_statement_no_text": {"entry": 1, "layout": LAYOUT},
            "entry_contradicts": {"entry": 1, "earlier": 0},
            "list_missing": {"what": "yes/no questions", "layout": LAYOUT},
        },
    ),
    "scripted replies": Reader(
        lambda path: ScriptedChat(path)._lines,
        "",
        {
            "question": identified("q", ""),
            "reply": Holds("r", is_text=True),
            "sample": Holds("{n}", others={"": ["-1", "0.5", "x", "inf", "nan"]}),
            "status": Holds(others={"": ["fine", "empty"], 4: ["text", "Refused"]}),
            "finish_reason": Holds("stop"),
            "delay": Holds("0.5", others={"": ["-1", "3601", "nan", "x"], 4: ["3600"]}),
            "failures": Holds("1", others={"": ["-1", "0.5", "x", "inf"]}),
        },
        "",
        required=("question", "reply"),
        record=(
            ("q1", 1),
            {
                "text": "r",
                "status": AnswerStatus.TEXT,
                "finish_reason": "stop",
                "delay": 0.5,
                "failures": 1,
            },
        ),
        bare=(("q1", None), {"text": "r", "status": AnswerStatus.TEXT}),
        together=[({"status": "text", "reply": ""}, "")],
        again=[({}, ":"), ({"sample": "9{n}"}, 4)],
        module="evaluation.core.backends.chat.registry",
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_notes_each_bad_cell_by_its_row_column_and_code(tmp_path, name):
    found, expected = outcomes(READERS[name], tmp_path)
    assert found == expected
