"""The same texts from two workers, where the copy statistic has too few questions."""

import numpy as np
import pytest

from evaluation.core.stats.simulation import build_honest_groups, simulate_crowd
from evaluation.grading.alarms.run.texts import THRESHOLD
from tests.evaluation.grading.alarms.test_detection import alarms, named, words

LONG = "the yeast makes carbon dioxide and the dough holds the gas, sentence {}"


def crowd_of(n_questions, copied=(), text=LONG, who=(2, 5)):
    """8 workers with texts of their own; `who` give `text` to the `copied` questions."""
    rng = np.random.default_rng(3)
    crowd = simulate_crowd(build_honest_groups(8), n_questions, 60, 2)
    texts = [words(rng) for _ in crowd.workers]
    for row, (worker, question) in enumerate(zip(crowd.workers, crowd.questions, strict=True)):
        if worker in who and question in copied:
            # Case and blanks do not make another text.
            texts[row] = (
                text.format(question) if worker == who[0] else f" {text.upper()}".format(question)
            )
    return alarms(crowd.vectors, *named(crowd), texts)


def copies_of(found):
    return [row for row in found.found if row.kind == "copies"]


def check_of(found):
    return {check.check: check for check in found.checks}.get("identical_answers")


def test_the_same_texts_to_7_of_8_questions_are_an_alarm_with_both_workers():
    found = crowd_of(8, range(7))
    [row] = copies_of(found)
    assert (row.severity, row.message.code) == ("alarm", "copies.identical")
    assert set(row.workers) == {"w2", "w5"}
    assert (row.message.values["n_alike"], row.message.values["n_pairs"]) == (7, 8)
    assert (check_of(found).statistic, check_of(found).result) == (7 / 8, "problem")
    statistic = {check.check: check.result for check in found.checks}["copies"]
    assert statistic == "not_enough_data"


@pytest.mark.parametrize(
    ("copied", "text", "who"),
    [
        (range(4), LONG, (2, 5)),  # half is not more than half
        (range(2), LONG, (2, 5)),
        (range(8), "carbon dioxide", (2, 5)),  # too short to be no chance
        (range(8), LONG, range(6)),  # the usual answer
    ],
    ids=["half", "two", "short", "usual"],
)
def test_what_may_be_chance_is_no_alarm(copied, text, who):
    found = crowd_of(8, copied, text, who)
    assert not copies_of(found)
    assert check_of(found).statistic <= THRESHOLD
    assert check_of(found).result == "good"


def test_three_questions_are_enough_and_two_are_not():
    assert copies_of(crowd_of(3, range(3)))
    found = crowd_of(2, range(2))
    assert not copies_of(found)
    assert (check_of(found).result, check_of(found).needed) == ("not_enough_data", 3)


def test_with_the_copy_statistic_this_check_is_not_applicable():
    check = check_of(crowd_of(10, ()))
    assert (check.result, check.reason) == ("not_applicable", "copies_were_checked")
