from dataclasses import astuple

import pytest

from evaluation.flow.umwp.likeness import likeness
from evaluation.flow.umwp.templates import CLOSING, own_templates, templates_of
from evaluation.flow.umwp.tuning import (
    RECORDED,
    TUNE,
    agreement,
    labelled_replies,
    tuned,
    windows_of,
)


def test_at_least_300_replies_are_labelled_twice_half_of_them_to_tune():
    replies = labelled_replies()
    assert len({one.reply for one in replies}) == len(replies) >= 300
    assert sum(one.half == TUNE for one in replies) * 2 == len(replies)
    assert {one.first for one in replies} == {"answerable", "unanswerable"}
    same, kappa = agreement(replies)
    assert (same, kappa) == (1.0, 1.0)


def test_templates_are_read_line_by_line_each_once():
    assert templates_of("No answer.\n\n no answer!\nUnknown\n") == ("No answer.", "Unknown")
    assert CLOSING in own_templates()


@pytest.mark.model
def test_chinese_is_compared_by_pairs_of_letters_where_the_encoder_knows_english_only():
    found = likeness(["所以无法确定", "答案是15"], ["Unknown.", "无法确定"], "minilm")
    assert found.nearest(["所以无法确定"]) == (1.0, "所以无法确定", "无法确定")
    assert found.nearest(["答案是15"])[0] == 0


@pytest.mark.model
def test_the_recorded_threshold_is_what_tuning_finds():
    replies = labelled_replies()
    found = likeness(windows_of(replies), own_templates(), "minilm")
    assert astuple(tuned(replies, found)) == pytest.approx(astuple(RECORDED["minilm"]), abs=2e-3)
