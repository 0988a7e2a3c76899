"""The answer in a reply, and its thinking: every family of marks, and sentences about marks."""

import time

import pytest

from annotations.exchange.thinking import join_thinking, separate_thinking

ANSWER = "The Moon."
SOLUTION = (
    "<|begin_of_thought|>hm<|end_of_thought|>\n<|begin_of_solution|>The Moon.<|end_of_solution|>"
)
IN_WORDS = "Here is my thought process:\nhm\n\nHere is my response:\nThe Moon."
FINAL = "<|start|>assistant<|channel|>final<|message|>The Moon.<|return|>"


@pytest.mark.parametrize(
    ("reply", "thinking"),
    [
        ("<think>\nhm\n</think>\n\nThe Moon.", "hm"),
        ("<think>hm</think>The Moon.", "hm"),
        ("<think>\r\nhm\r\n</think>\r\n\r\nThe Moon.", "hm"),
        ('<Think id="1">hm</THINK> The Moon.', "hm"),
        ("<thinking>hm</thinking>The Moon.", "hm"),
        ("<think>hm</thinking>The Moon.", "hm"),
        ("<thought>hm</thought>\nThe Moon.", "hm"),
        ("<seed:think>hm</seed:think>The Moon.", "hm"),
        ("<scratchpad>\n1 + 1\n</scratchpad>\nThe Moon.", "1 + 1"),
        ("&lt;think&gt;hm&lt;/think&gt;The Moon.", "hm"),
        ("\ufeff <think>hm</think>\nThe Moon.", "hm"),
        ("[THINK]hm[/THINK]The Moon.", "hm"),
        ("[think]\nhm\n[/think]\nThe Moon.", "hm"),
        ("◁think▷hm◁/think▷The Moon.", "hm"),
        ("<unused94>thought\nhm<unused95>The Moon.", "hm"),
        ("<|begin_of_thought|>\nhm\n<|end_of_thought|>\nThe Moon.", "hm"),
        ("```thinking\nhm\n```\nThe Moon.", "hm"),
        ('<details type="reasoning" done="true">\nhm\n</details>\nThe Moon.', "hm"),
        # several blocks, and blocks in blocks
        ("<think>a</think>\n<think>b</think>\nThe Moon.", "a\n\nb"),
        ("<think>a<think>b</think>c</think>The Moon.", "abc"),
        ("<think>a</think>b\n</think>\nThe Moon.", "a\n\nb"),
        ("<think>I close </think> too early.\n</think>\nThe Moon.", "I close\n\ntoo early."),
        # the answer has marks of its own
        ("<reasoning>hm</reasoning><answer>The Moon.</answer>", "hm"),
        ("<reasoning>\nhm\n</reasoning>\n<answer>\nThe Moon.\n</answer>", "hm"),
        ("<reasoning>hm<answer>The Moon.</answer>", "hm"),
        ("<think>hm</think><answer>The Moon.", "hm"),
        (SOLUTION, "hm"),
        ("<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>The Moon.<|END_RESPONSE|>", "hm"),
        # only the closing mark
        ("hm hm.\n</think>\n\nThe Moon.", "hm hm."),
        ("hm hm.</think>The Moon.", "hm hm."),
        ("hm 3 + 4 = 7 </think> \n\nThe Moon.", "hm 3 + 4 = 7"),
        ("hm hm\n[/THINK]\nThe Moon.", "hm hm"),
        # channels
        ("<|channel|>analysis<|message|>hm<|end|>" + FINAL, "hm"),
        ("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary"
         "<|message|>c<|end|>" + FINAL, "hm\n\nc"),
        ("hm<|end|>" + FINAL, "hm"),
        ("analysisWe look.assistantfinalThe Moon.", "We look."),
        (IN_WORDS, IN_WORDS.partition("\n\n")[0]),
        # with special tokens around
        ("<|im_start|>assistant\n<think>\nhm\n</think>\nThe Moon.<|im_end|>", "hm"),
    ],
)  # fmt: skip
def test_thinking_is_put_aside(reply, thinking):
    found = separate_thinking(reply)
    assert (found.answer, found.thinking, found.is_cut) == (ANSWER, thinking, False)


@pytest.mark.parametrize(
    "reply",
    [
        "<think>\nhm",
        "<THINKING>hm",
        "[THINK]hm\nhm",
        "◁think▷hm",
        "<reasoning>\nhm",
        "<|channel|>analysis<|message|>hm",
        "<|start|>assistant<|channel|>analysis<|message|>",
        "<|begin_of_thought|>\nhm",
        "<|START_THINKING|>hm",
        "```thinking\nhm",
        "<think>",
        "Sure!\n<think>\nhm",
        "<think>a</think>\n<think>\nhm",
    ],
)
def test_thinking_that_never_ends_leaves_no_answer(reply):
    found = separate_thinking(reply)
    assert (found.answer, found.is_cut, found.has_thinking) == ("", True, True)


@pytest.mark.parametrize(
    "reply",
    [
        "<think>\n\n</think>\n\nThe Moon.",
        "<think></think>The Moon.",
        "<think/>The Moon.",
        "<|channel|>final<|message|>The Moon.",
        "The Moon.<|im_end|>",
        "The Moon.<|im_end|>\n",
        "The Moon. </s>",
        "<s> The Moon.</s>",
        "The Moon.<|eot_id|>",
        "The Moon.<|endoftext|>",
        "The Moon.<end_of_turn>\n<eos>",
        "The Moon.<｜end▁of▁sentence｜>",
        "<|im_start|>assistant\nThe Moon.<|im_end|>",
        "The Moon.<|im_end|>\n<|im_start|>user\nAnd the Sun?",
    ],
)
def test_marks_without_thinking_are_removed(reply):
    found = separate_thinking(reply)
    assert (found.answer, found.has_thinking) == (ANSWER, False)


@pytest.mark.parametrize(
    "answer",
    [
        "Use the <think> tag in HTML.",
        "The tag is <think>.",
        "<think> is a tag that models write.",
        "<think> and </think> are tags.",
        "Use <think> and </think> around it.",
        "Two tags: <think> and </think>.",
        "`<think>` opens it, `</think>` closes it.",
        'Models write "<think>" and "</think>".',
        "Close it with </think> when done.",
        "The closing tag is </think>",
        "The closing tag is </think>\nand so on",
        "The river runs north </think> and into the sea.",
        "1. <think> opens\n2. </think> closes",
        "R1 puts <think> before and </think> after its reasoning.",
        "```xml\n<think>\nx\n</think>\n```",
        "The [THINK] mark is Mistral's.",
        "I think the [reasoning] is fine.",
        "The <|channel|>analysis token of harmony",
        "The token is <|im_end|>",
        "It ends with `<|im_end|>`",
        "It was <s>10</s>",
        "<answer>B</answer>",
        "analysis of tides",
        "a < b",
        "  with white space around ",
        "",
    ],
)
def test_what_only_mentions_marks_is_returned_as_it_is(answer):
    found = separate_thinking(answer)
    assert (found.answer, found.has_thinking) == (answer, False)


def test_text_before_and_after_a_block_is_the_answer():
    found = separate_thinking("Sure!\n<think>hm</think>\nThe Moon.")
    assert (found.answer, found.thinking) == ("Sure!\nThe Moon.", "hm")


def test_the_thinking_is_found_again_in_what_joins_it_to_the_answer():
    found = separate_thinking(join_thinking(ANSWER, "hm\nhm"))
    assert (found.answer, found.thinking) == (ANSWER, "hm\nhm")
    assert join_thinking(ANSWER, "") == ANSWER


def test_separating_twice_changes_nothing():
    once = separate_thinking("<think>hm</think>Use `<think>` and </think> here.")
    again = separate_thinking(once.answer)
    assert (again.answer, again.has_thinking) == (once.answer, False)


@pytest.mark.parametrize(
    "reply",
    [
        "<think>" * 14_000,
        "</think>" * 12_000,
        "`<think>" * 12_000,
        "a </think> " * 9_000,
        "<|channel|>analysis" * 5_000,
        "<|end|>" * 14_000,
        "<" * 100_000,
        " " * 100_000 + "<think",
        "<details " + "type=reasoning " * 6_000,
        "analysis" + "assistant " * 9_000,
    ],
    ids=range(10),
)
def test_replies_made_to_be_slow_are_read_in_time(reply):
    began = time.process_time()
    separate_thinking(reply)
    assert time.process_time() - began < 2
