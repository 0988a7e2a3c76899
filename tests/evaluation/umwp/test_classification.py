from dataclasses import astuple

import pytest

from evaluation.umwp.prompts import CLOSING, load_built_in_templates, parse_templates
from evaluation.umwp.run.classification import (
    RECORDED_THRESHOLDS,
    TUNE,
    compare_with_templates,
    list_reply_windows,
    load_labelled_replies,
    measure_label_agreement,
    tune_threshold,
)


def test_at_least_300_replies_are_labelled_twice_half_of_them_to_tune():
    replies = load_labelled_replies()
    assert len({one.reply for one in replies}) == len(replies) >= 300
    assert sum(one.half == TUNE for one in replies) * 2 == len(replies)
    assert {one.first for one in replies} == {"answerable", "unanswerable"}
    same, kappa = measure_label_agreement(replies)
    assert (same, kappa) == (1.0, 1.0)


def test_templates_are_read_line_by_line_each_once():
    assert parse_templates("No answer.\n\n no answer!\nUnknown\n") == ("No answer.", "Unknown")
    assert CLOSING in load_built_in_templates()


@pytest.mark.model
def test_chinese_is_compared_by_pairs_of_letters_where_the_encoder_knows_english_only():
    found = compare_with_templates(["所以无法确定", "答案是15"], ["Unknown.", "无法确定"], "minilm")
    assert found.find_nearest_template(["所以无法确定"]) == (1.0, "所以无法确定", "无法确定")
    assert found.find_nearest_template(["答案是15"])[0] == 0


@pytest.mark.model
@pytest.mark.long
def test_the_recorded_threshold_is_what_tuning_finds():
    replies = load_labelled_replies()
    found = compare_with_templates(list_reply_windows(replies), load_built_in_templates(), "minilm")
    assert astuple(tune_threshold(replies, found)) == pytest.approx(
        astuple(RECORDED_THRESHOLDS["minilm"]), abs=2e-3
    )
