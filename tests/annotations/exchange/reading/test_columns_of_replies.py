"""Readers of replies of models, and of what they reply to, against the tables of their columns."""

import json
from functools import partial

import pytest

from annotations.exchange import AnswerStatus
from annotations.exchange.reading.changed_prompts import read_changed_prompts
from annotations.exchange.reading.judge_instructions import read_judge_instructions
from annotations.exchange.reading.prompt_replies import read_prompt_replies
from annotations.exchange.reading.prompts import TOP, PromptItem, PromptVariant, read_prompts
from annotations.exchange.reading.several_answers import (
    read_several_answers,
    read_several_answers_replies,
)
from annotations.exchange.reading.systems import read_systems
from annotations.exchange.reading.word_problems import read_word_problem_replies, read_word_problems
from tests.readers import TEXT, Holds, Reader, identified, outcomes

READING = "annotations.exchange.reading"

REPLY = Holds("r", is_text=True, most=100_000, long="reply_too_long")

ACCEPTED = ", ".join(AnswerStatus)

STATUS = {"status_unknown": ["fine"]}

WORDINGS = tuple(
    PromptItem(
        f"i{n}",
        "style",
        tuple(PromptVariant(at, language, "p", 1) for at, language in enumerate(("en", "sv"))),
        1,
    )
    for n in range(1, 5)
)


FIRST_TOKEN = {
    "answer": "a",
    "top_logprobs": {"a": -1, "b": -2},
    "vocabulary": 5.0,
    "others": {"tokens": 3, "probability": 0.5, "entropy": 0.25},
}


def read_wordings(path):
    """Read rows as items of two wordings each, one item a line."""
    if path.suffix == ".json":
        return read_prompts(path).items
    items = []
    for row in map(json.loads, path.read_text("utf-8").splitlines()):
        first = {key: row.pop(key) for key in ("language", "prompt") if key in row}
        row["variants"] = [first, {"language": "sv", "prompt": "p"}]
        items.append(json.dumps(row))
    file = path.with_suffix(".json")
    file.write_text(f'{{"{TOP}": {{"items": [' + ",\n".join(items) + "]}}", "utf-8")
    return read_prompts(file).items


def named(sound, *numbers, **more):
    """Return a column of texts or whole numbers that no prompt may lack."""
    return Holds(
        sound,
        "prompt_key_empty",
        "prompt_key_missing",
        others={
            "prompt_key_unusable": [None, True, 1.5, [], {}],
            "prompt_key_empty": [" "],
            4: numbers,
        },
        is_text=True,
        **more,
    )


PROMPTS = {
    "id": "i1",
    "variation": "style",
    "variants": (
        {"language": "en", "prompt": " p 1"},
        {"place": 1, "language": "sv", "prompt": "p"},
    ),
}
READERS = {
    "prompts": Reader(
        read_wordings,
        "",
        {
            "id": named("i{n}"),
            "variation": named("style", 7),
            "language": named("EN", 7),
            "prompt": named(" p {n}", 7, most=100_000, long="prompt_too_long"),
        },
        ":no_top_object",
        required=("id", "variation", "language", "prompt"),
        record=PROMPTS,
        bare=PROMPTS,
        again=[({}, "id:item_twice")],
        values={
            "prompt_key_missing": {"key": "id", "what": "item 2 of the list"},
            "prompt_key_empty": {"key": "id", "what": "item 2 of the list"},
            "prompt_key_unusable": {"key": "id", "what": "item 2 of the list"},
            "prompt_too_long": {"what": "variant 1 of item i2", "most": 100000},
            "item_twice": {"item": "i1", "first_line": 1},
            "no_top_object": {"top": TOP, "found": "no object"},
        },
    ),
    "changed prompts": Reader(
        partial(read_changed_prompts, items=WORDINGS),
        "prompts",
        {
            "item": Holds(
                "i{n}", "variant:wording_unknown", others={"variant:wording_unknown": ["i9"]}
            ),
            "language": Holds(
                "en", "variant:wording_unknown", others={"variant:wording_unknown": ["de"]}
            ),
            "variant": Holds(
                "1", "wording_unknown", others={"wording_unknown": ["0", "2", "-1", "one"]}
            ),
            "prompt": Holds("p", "change_value_missing", is_text=True),
            "reason": Holds("r", "change_value_missing", is_text=True),
        },
        0,
        required=("item", "variant", "prompt", "reason"),
        record=(("i1", 0), {"prompt": "p", "reason": "r"}),
        bare=(1, "variant", "wording_unknown"),
        again=[({}, "variant:wording_changed_twice")],
        values={
            "wording_unknown": {"item": "", "language": "en", "variant": "1"},
            "change_value_missing": {"name": "prompt"},
        },
        module=f"{READING}.changed_prompts",
    ),
    "instructions to judges": Reader(
        partial(read_judge_instructions, items=WORDINGS),
        "instructions",
        {
            "item": Holds(
                "i{n}", "instructed_item_unknown", others={"instructed_item_unknown": ["i9"]}
            ),
            "instruction": Holds("Compare.", "change_value_missing", is_text=True),
        },
        0,
        required=("item", "instruction"),
        record=("i1", "Compare."),
        bare=("i1", "Compare."),
        again=[({}, "item:item_instructed_twice")],
        values={
            "instructed_item_unknown": {"item": "(none)"},
            "change_value_missing": {"name": "instruction"},
            "item_instructed_twice": {"item": "i1"},
        },
        module=f"{READING}.judge_instructions",
    ),
    "replies to prompts": Reader(
        read_prompt_replies,
        "replies",
        {
            "system": TEXT,
            "item": identified("i", "row_name_missing"),
            "language": TEXT,
            "variant": identified("", "row_name_missing"),
            "reply": Holds("r", is_text=True, most=100_000, long="prompt_reply_long"),
            "status": Holds("text", others={**STATUS, "status_empty_replied": ["Empty"]}),
            "finish_reason": Holds("stop"),
        },
        "no_reply",
        required=("item", "variant", "reply"),
        record={
            "system": "a 1",
            "item": "i1",
            "language": "a 1",
            "variant": "1",
            "text": "r",
            "status": AnswerStatus.TEXT,
        },
        bare={
            "system": "model",
            "item": "i1",
            "variant": "1",
            "text": "r",
            "status": AnswerStatus.TEXT,
        },
        values={
            "row_name_missing": {"name": "item"},
            "prompt_reply_long": {"most": 100000},
            "status_unknown": {"status": "fine", "accepted": ACCEPTED},
        },
        module=f"{READING}.prompt_replies",
    ),
    "questions with several answers": Reader(
        read_several_answers,
        "questions",
        {
            "id": Holds("i{n}", is_text=True, others={"id_no_text": [True, [], {}]}),
            "question": Holds(
                "q",
                "question_text_missing",
                others={"question_text_missing": [" ", 7, ["q"]]},
                is_text=True,
                most=100_000,
                long="question_too_long",
            ),
            "answer": Holds(
                ["a", ["b", "B"], 7],
                "right_answer_empty",
                "right_answers_missing",
                others={
                    "right_answer_unspelled": [[[]], ["a", []]],
                    "right_answer_empty": [["a", " "], [["a", ""]]],
                    "right_answer_unusable": [True, {}, ["a", {}], [["a", None]]],
                    4: ["a", 7, 0.5, []],
                },
            ),
            **dict.fromkeys(
                ("kind", "dataset", "category", "source", "language"),
                Holds("a", is_text=True, others={"value_no_text": [[], {}, False], 4: [7]}),
            ),
        },
        "questions_not_listed",
        again=[({"id": "i1"}, "question_id_twice")],
        required=("question", "answer"),
        record={
            "id": "i1",
            "text": "q",
            "answers": (("a",), ("b", "B"), (7,)),
            "groups": (
                ("kind", "a"),
                ("dataset", "a"),
                ("category", "a"),
                ("source", "a"),
                ("language", "a"),
            ),
        },
        bare={"id": "0", "text": "q", "answers": (("a",), ("b", "B"), (7,))},
        values={
            "question_too_long": {"most": 100000},
            "right_answer_empty": {"number": 1},
            "right_answer_unspelled": {"number": 1},
            "right_answer_unusable": {"number": 1},
            "value_no_text": {"name": "kind"},
            "question_id_twice": {"id": "i1", "first_line": 1},
        },
    ),
    "replies with several answers": Reader(
        read_several_answers_replies,
        "replies",
        {
            "system": Holds("a", is_text=True, others={"value_no_text": [[], True]}),
            "item": Holds(
                "i{n}", "item_missing", is_text=True, others={"item_missing": [True, []]}
            ),
            "sample": Holds(
                0, others={"sample_no_number": [-1, "two", "٣", 0.5, True, "1" * 10], 4: ["3", 1.0]}
            ),
            "reply": Holds(
                "r",
                is_text=True,
                others={"reply_no_text": [7, ["r"]]},
                most=100_000,
                long="reply_too_long",
            ),
            "answers": Holds(
                ["a", 7],
                "answers_no_list",
                4,
                others={
                    "answers_no_list": [7, {}],
                    "answer_empty": [["a", ""]],
                    "answer_no_text": [["a", None], [["a"]]],
                    4: [[], ["a", 7]],
                },
            ),
            "first_token": Holds(
                [FIRST_TOKEN],
                "first_tokens_unlisted",
                4,
                others={
                    "first_tokens_unlisted": [7, {}],
                    "first_token_unusable": [
                        [{"answer": "a"}],
                        [{"answer": "", "logits": [1]}],
                        [{"answer": "a", "logits": [1], "top_logprobs": [1]}],
                        [{"answer": "a", "logits": 7}],
                        [{"answer": "a", "top_logprobs": [-1], "vocabulary": 0}],
                        [{"answer": "a", "top_logprobs": [-1], "vocabulary": True}],
                        [{"answer": "a", "top_logprobs": [-1], "others": {}}],
                        ["a"],
                    ],
                    4: [[], [{"answer": "a", "top_logprobs": {"a": -1}, "vocabulary": 2.0}]],
                },
            ),
            "confidence": Holds(0.5, others={"confidence_unusable": [[1], {}], 4: ["90%", 0]}),
            "logprobs": Holds(
                [-1, {"token": "a", "logprob": -2.5}],
                "logprobs_no_numbers",
                4,
                others={"logprobs_no_numbers": ["high", 7], 4: [[], [{"logprob": -1}], [-1, None]]},
            ),
            "status": Holds("text", others={**STATUS, "status_empty_replied": ["Empty"]}),
        },
        ":replies_wrong_format",
        again=[
            ({}, 2),
            ({"reply": " r "}, 2),
            ({"reply": "b"}, ":sample_differs"),
            ({"status": "refused"}, ":sample_differs"),
            ({"sample": 1}, 3),
        ],
        required=("item", "reply"),
        record={
            "system": "a",
            "item": "i1",
            "status": AnswerStatus.TEXT,
            "text": "r",
            "answers": ("a", 7),
            "confidence": 0.5,
            "first_token": (
                {
                    "answer": "a",
                    "numbers": (-1, -2),
                    "is_top": True,
                    "vocabulary": 5,
                    "others": (3, 0.5, 0.25),
                },
            ),
            "logprobs": (-1, -2.5),
        },
        bare={"system": "model", "item": "i1", "status": AnswerStatus.TEXT, "text": "r"},
        values={
            "value_no_text": {"name": "system"},
            "reply_too_long": {"most": 100000},
            "answer_empty": {"number": 2},
            "answer_no_text": {"number": 2},
            "first_token_unusable": {"number": 1},
            "status_unknown": {"status": "fine", "accepted": ACCEPTED},
            "sample_differs": {"system": "a", "item": "i1", "first_line": 1, "sample": 0},
            "replies_wrong_format": {"endings": ".jsonl or .ndjson"},
        },
    ),
    "word problems": Reader(
        read_word_problems,
        "problems",
        {
            "id": Holds(
                "{n}",
                "problem_id_unusable",
                is_text=True,
                others={"problem_id_unusable": [True, [], " "]},
            ),
            "question": Holds(
                "q",
                "problem_text_unusable",
                is_text=True,
                others={"problem_text_unusable": [7, [], " "]},
            ),
            "answer": Holds(
                [1.5, "2"],
                "problem_answer_unusable",
                "problem_answer_missing",
                others={
                    "problem_answer_unusable": ["many", [True], [[]], ["inf"], [float("nan")]],
                    "problem_answer_missing": [[]],
                    4: [7, "7"],
                },
            ),
            "answerable": Holds(
                True, "answerable_unusable", others={"answerable_unusable": ["yes", 1]}
            ),
            "category": Holds(
                None,
                4,
                others={"category_unknown": [6, "two", 1.5, True], "category_of_answerable": [2]},
            ),
            "relevant_ids": Holds(
                [7],
                "relevant_ids_unusable",
                4,
                others={"relevant_ids_unusable": [True, [""], [None]], 4: [7, []]},
            ),
            "source": Holds("a", is_text=True, others={"problem_source_unusable": [True, []]}),
            "math": Holds(
                True,
                "problem_math_unusable",
                4,
                others={"problem_math_unusable": [0, "no"], 4: [False]},
            ),
        },
        "problems_not_listed",
        together=[
            ({"category": 2, "answerable": None}, "category_of_unlabelled"),
            ({"answerable": None, "answer": []}, 4),
            ({"category": 2, "answerable": False, "answer": []}, 4),
        ],
        again=[
            ({"id": "1"}, "problem_twice"),
            ({"id": "1", "answerable": False}, "problem_labelled_twice"),
        ],
        required=("id", "question", "answer", "answerable"),
        record={
            "id": "1",
            "text": "q",
            "answers": (1.5, 2.0),
            "answerable": True,
            "relevant": ("7",),
            "source": "a",
            "is_math": True,
        },
        bare={"id": "1", "text": "q", "answers": (1.5, 2.0), "answerable": True, "is_math": True},
        values={
            "category_unknown": {"category": "6"},
            "category_of_answerable": {"category": 2},
            "category_of_unlabelled": {"category": 2},
            "problem_twice": {"id": "1", "first_line": 1},
            "problem_labelled_twice": {"id": "1", "first_line": 1},
        },
    ),
    "replies to word problems": Reader(
        read_word_problem_replies,
        "replies",
        {
            "id": identified("", "problem_id_missing"),
            "reply": REPLY,
            "system": TEXT,
            "form": TEXT,
            "status": Holds("text", others={**STATUS, "status_empty_replied": ["Empty"]}),
            "finish_reason": Holds("stop"),
        },
        "no_rows",
        required=("id",),
        record={
            "system": "a 1",
            "item": "1",
            "form": "a-1",
            "text": "r",
            "status": AnswerStatus.TEXT,
        },
        bare=(None, "reply", "no_replies"),
        again=[
            ({"form": "A_1"}, 2),
            ({"form": "b"}, 3),
            ({"reply": "b"}, ":form_differs"),
            ({"status": "refused"}, ":form_differs"),
        ],
        values={
            "reply_too_long": {"most": 100000},
            "status_unknown": {"status": "fine", "accepted": ACCEPTED},
            "form_differs": {"system": "a 1", "item": "1", "first_line": 1, "form": "a-1"},
            "no_rows": {"what": "replies"},
        },
        module=f"{READING}.word_problems",
    ),
    "systems": Reader(
        read_systems,
        "systems",
        {
            "system": identified("s", "system_missing"),
            "size": Holds("7B", others={"size_unreadable": ["huge", "0B", "-7B"]}),
            "tuning": TEXT,
            "family": TEXT,
        },
        "no_rows",
        required=("system",),
        record=(
            "s1",
            {
                "name": "s1",
                "size": "7B",
                "parameters": 7000000000.0,
                "tuning": "a 1",
                "family": "a 1",
            },
        ),
        bare=("s1", {"name": "s1"}),
        again=[({"system": "s1"}, "system_twice")],
        values={
            "size_unreadable": {"size": "huge"},
            "system_twice": {"name": "s1"},
            "no_rows": {"what": "systems"},
        },
        module=f"{READING}.systems",
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_notes_each_bad_cell_by_its_row_column_and_code(tmp_path, name):
    found, expected = outcomes(READERS[name], tmp_path)
    assert found == expected
