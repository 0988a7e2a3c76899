import pytest

from evaluation.core.text.items import MultiqaItem
from evaluation.multiqa.items import build_item_messages, choose_prompt_form
from evaluation.multiqa.options import MultiqaParameters
from evaluation.multiqa.run.study import RewordingChecker, parse_rewordings
from evaluation.multiqa.run.study import build_rewriter_messages as asked

BY_LETTERS = MultiqaParameters(embedder="tfidf-char")


@pytest.mark.parametrize(
    "reply",
    [
        "1. Where is it?\n2. In which place?",
        "Here are 2 others:\n\n1) Where is it?\n2) In which place?\nI hope this helps.",
        "- Where is it?\n- In which place?",
        'Sure! ["Where is it?", "In which place?"]',
        "Where is it?\nIn which place?",
        'Rewordings:\n1. "Where is it?"\n2. **In which place?**',
        "**1.** Where is it?\n**2.** In which place?",
        "(1) Where is it?\n(2) In which place?",
    ],
)
def test_rewordings_are_read_out_of_whatever_form_they_come_in(reply):
    assert parse_rewordings(reply) == ["Where is it?", "In which place?"]


def test_the_prompt_asks_for_so_many_and_for_others_the_second_time():
    (said,) = asked("Where is it?", 4, ["In which place?"])
    assert "Write 4 other ways" in said["content"]
    assert "Question: Where is it?" in said["content"]
    assert said["content"].endswith("- In which place?")
    # Braces of a question are no fields.
    assert "What is {x}?" in asked("What is {x}?", 1)[0]["content"]


def test_what_changes_numbers_names_or_words_is_dropped_and_says_so():
    checker = RewordingChecker(["Who won in Rome in 1889?"], 2, BY_LETTERS, meaning=0.0)
    texts = [
        "who won in rome in 1889",
        "Who was the winner of 1888 in Rome?",
        "Who was the winner in 1889?",
        "In 1889, who was the winner in Rome?",
        "In 1889 who was the winner in Rome",
        "Which person won in Rome in 1889?",
        "Which man won in Rome in 1889?",
    ]
    found = checker.check_rewordings([(0, text) for text in texts], 1)
    assert [one.reason for one in found] == [
        "same_words",
        "other_numbers",
        "other_names",
        None,
        "same_words",
        None,
        "more_than_asked_for",
    ]
    assert [one.variant for one in checker.accepted[0]] == [1, 2]
    assert checker.find_incomplete_items() == []
    # What was dropped once is no new one the next time.
    (again,) = checker.check_rewordings([(0, texts[1])], 2)
    assert (again.reason, again.attempt) == ("same_words", 2)


def test_a_rewording_of_another_meaning_is_dropped_by_its_vector():
    checker = RewordingChecker(["why is the sky blue"], 3, BY_LETTERS, meaning=0.5)
    near, far = checker.check_rewordings(
        [(0, "why is the sky so blue"), (0, "how do fish breathe")], 1
    )
    assert near.cosine > 0.5 > far.cosine
    assert (near.variant, far.variant, far.reason) == (1, None, "other_meaning")
    assert checker.find_incomplete_items() == [0]


def test_typed_wordings_are_kept_whatever_they_say():
    checker = RewordingChecker(["Who won in 1889?"], 5, BY_LETTERS, meaning=0.9)
    assert checker.accept_typed(0, "Wha wan?").variant == 1
    assert checker.accept_typed(0, "who won in 1889").reason == "same_words"


def item(**more):
    given = {
        "item": "q",
        "kind": "choice",
        "dataset": "",
        "context": "",
        "question": "Which?",
        "choices": ("red", "blue"),
        "answers": ("red",),
        "matcher": "choice",
    }
    return MultiqaItem(**{**given, **more})


def test_each_kind_of_item_is_asked_in_its_own_form():
    (said,) = build_item_messages(item(), "Which one?")
    assert said["content"].startswith(
        "Question: Which one?\n\nA. red\nB. blue\n\nAnswer with the l"
    )
    several = item(answers=("red", "blue"))
    assert "all right choices" in build_item_messages(several, "Which?")[0]["content"]
    text = item(kind="extractive", choices=(), context="It is {red}.", matcher="exact")
    assert build_item_messages(text, "Which?")[0]["content"].startswith(
        "Read this text.\n\nIt is {red}.\n\n"
    )
    free = item(kind="free", choices=(), matcher="cosine")
    assert "short sentences" in build_item_messages(free, "Which?")[0]["content"]
    names = [choose_prompt_form(one).name for one in (item(), several, text, free)]
    assert names == ["choice", "several", "extractive with text", "free"]
    assert len({choose_prompt_form(one).template for one in (item(), several, text, free)}) == 4
