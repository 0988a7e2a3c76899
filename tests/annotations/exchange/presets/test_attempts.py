"""Rows of a survey that are no answers, and people who answered it twice."""

import csv
import io
from datetime import timedelta

import pytest

from annotations.exchange.importing.survey_exports import stage_survey_export
from annotations.exchange.presets import propose_mapping, read_head, recognise_preset
from annotations.exchange.presets.declared import SPAM, TRIED
from annotations.exchange.presets.preset import UNFINISHED
from annotations.exchange.reading.answers import read_answers
from annotations.exchange.reading.duplicates import Duplicates, build_duplicate_rule
from annotations.exchange.reading.source import make_bytes_source
from tests.problems import raises_problem

HEADER = ["StartDate", "EndDate", "Status", "Progress", "Finished", "RecordedDate"]
HEADER += ["ResponseId", "PROLIFIC_PID", "Q1", "Q2", "Q3"]
ANN = ("The moon pulls the water", "A small tide at half moon", "Rivers wash the salt in")
BOB = ("The wind moves the water", "A tide of the low range", "Fish bring all the salt in")
LATER = ("It is the gravity of the moon", "A weak tide it is", "Stones give the salt away")


def row(who, begun, minutes, texts, status="IP Address", progress="100", finished="True"):
    """Return a row begun at an hour of a day, which took some minutes."""
    start, end = f"2026-03-04T{begun}:00:00+00:00", f"2026-03-04T{begun}:{minutes}:00+00:00"
    return [start, end, status, progress, finished, end, f"R_{who}{begun}abcd", who, *texts]


def survey(*rows, header=HEADER):
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    return make_bytes_source("survey.csv", text.getvalue().encode())


def staged(source, duplicates="refuse", *, keep=False, workers=None):
    """Return what a file says by worker and question, the minutes of each, and rows left out."""
    head = read_head(source)
    preset = recognise_preset(head).include_unfinished() if keep else recognise_preset(head)
    mapping = propose_mapping(preset, head, source)
    rule = build_duplicate_rule(duplicates, workers or {})
    with stage_survey_export(source, preset=preset, mapping=mapping, duplicates=rule) as stage:
        names = list(stage.questions)
        texts = {
            (stage.workers[one.worker].name, names[one.question]): one.text
            for one in stage.iterate_new_answers()
        }
        minutes = {
            one.name: (one.submitted_at - one.started_at) / timedelta(minutes=1)
            for one in stage.workers
        }
        return texts, minutes, stage.file.notes


TWO = [row("ann", "09", 25, ANN), row("bob", "10", 12, BOB)]


@pytest.mark.parametrize(
    ("status", "reason"),
    [("Spam", SPAM), ("8", SPAM), ("Survey Preview", TRIED), ("Survey Test", TRIED), ("1", TRIED)],
)
def test_spam_and_previews_are_left_out_and_counted(status, reason):
    texts, _, notes = staged(survey(*TWO, row("zzz", "11", "04", LATER, status)))
    assert {who for who, _ in texts} == {"ann", "bob"}
    assert len(texts) == 2 * 3
    assert f"Left out: 1 {reason}" in notes


def test_a_preview_is_known_by_how_the_survey_was_handed_out():
    rows = [[*one, "anonymous"] for one in TWO]
    preview = [*row("zzz", "11", "04", LATER), "Preview"]
    source = survey(*rows, preview, header=[*HEADER, "DistributionChannel"])
    texts, _, notes = staged(source)
    assert {who for who, _ in texts} == {"ann", "bob"}
    assert f"Left out: 1 {TRIED}" in notes


@pytest.mark.parametrize(
    "how",
    [
        {"finished": "False"},
        {"finished": "FALSE"},
        {"finished": "0"},
        {"finished": "Falsch"},
        {"finished": "", "progress": "37"},
    ],
)
def test_who_broke_off_is_left_out_and_counted_unless_it_is_kept(how):
    source = survey(*TWO, row("cyd", "11", "04", (LATER[0], "", ""), **how))
    texts, _, notes = staged(source)
    assert {who for who, _ in texts} == {"ann", "bob"}
    assert f"Left out: 1 {UNFINISHED}" in notes
    texts, _, notes = staged(source, keep=True)
    assert texts["cyd", "Q1"] == LATER[0]
    assert len(texts) == 3 * 3
    assert not any(UNFINISHED in note for note in notes)


ATTEMPTS = {
    # Of two full attempts one counts, with its own time: 25 minutes from 9, or 7 from 13.
    "first": ("first", LATER, ANN, 25),
    "last": ("last", LATER, LATER, 7),
    # Two answers are missing in the later one: the earlier ones stay, and so does their time.
    "last, broken off": ("last", (LATER[0], "", ""), (LATER[0], ANN[1], ANN[2]), 25),
    "last, with nothing": ("last", ("", "", ""), ANN, 25),
    # Of three answers one is missing: most are those of the later attempt.
    "last, one missing": ("last", (LATER[0], LATER[1], ""), (LATER[0], LATER[1], ANN[2]), 7),
    "the same again": ("refuse", ANN, ANN, 25),
}


EMPTY_FIRST = {
    # The first attempt was left empty: the texts and the time are those of the second.
    "first": ("first", ("", "", ""), LATER, 7),
    "last": ("last", ("", "", ""), LATER, 7),
    # One answer of three is the first attempt's: the later one, which has the others, counts.
    "first, one text": ("first", (ANN[0], "", ""), (ANN[0], LATER[1], LATER[2]), 7),
    "last, one text": ("last", (ANN[0], "", ""), LATER, 7),
}


@pytest.mark.parametrize(
    ("duplicates", "earlier", "right", "minutes"), EMPTY_FIRST.values(), ids=EMPTY_FIRST
)
def test_an_empty_first_attempt_gives_neither_text_nor_time(duplicates, earlier, right, minutes):
    source = survey(row("ann", "09", 25, earlier), TWO[1], row("ann", "13", "07", LATER))
    texts, found, _ = staged(source, duplicates)
    assert tuple(texts["ann", name] for name in ("Q1", "Q2", "Q3")) == right
    assert found == {"ann": minutes, "bob": 12}


@pytest.mark.parametrize(
    ("duplicates", "later", "right", "minutes"), ATTEMPTS.values(), ids=ATTEMPTS
)
def test_of_two_attempts_the_one_that_counts_gives_the_time(duplicates, later, right, minutes):
    source = survey(*TWO, row("ann", "13", "07", later))
    texts, found, _ = staged(source, duplicates, keep=True)
    assert tuple(texts["ann", name] for name in ("Q1", "Q2", "Q3")) == right
    assert found == {"ann": minutes, "bob": 12}


def test_in_a_row_for_each_answer_all_rows_that_count_give_the_time():
    content = (
        b"annotator,annotation_id,id,created_at,answer,question\n"
        b"7,1,101,2026-03-04T09:00:00Z,The moon pulls it,Why do tides rise?\n"
        b"7,2,102,2026-03-04T09:20:00Z,Rivers wash it in,Why is the sea salty?\n"
        b"7,3,101,2026-03-04T15:00:00Z,It is the wind,Why do tides rise?\n"
    )
    source = make_bytes_source("project.csv", content)
    head = read_head(source)
    preset = recognise_preset(head)
    mapping = propose_mapping(preset, head, source)
    hours = {}
    for duplicates in (Duplicates.FIRST, Duplicates.LAST):
        with stage_survey_export(
            source, preset=preset, mapping=mapping, duplicates=duplicates
        ) as stage:
            hours[duplicates] = stage.workers[0].submitted_at.isoformat()[11:16]
    # First: tasks 101 at 9:00 and 102 at 9:20; last: 102 and 101 at 15:00.
    assert hours == {"first": "09:20", "last": "15:00"}


def test_in_our_own_form_an_empty_answer_takes_no_text_away():
    content = b"worker,question,answer\na,1,The moon\na,1,\na,2,\na,2,The wind\n"
    source = make_bytes_source("answers.csv", content)
    for duplicates in ("first", "last"):
        records = read_answers(source, duplicates=duplicates).records
        assert [(one.question, one.text, one.line) for one in records] == [
            ("1", "The moon", 2),
            ("2", "The wind", 5),
        ]


def test_who_says_test_to_everything_is_warned_of_and_stays():
    source = survey(*TWO, row("me", "08", "02", ("test", "Test.", "test")))
    head = read_head(source)
    preset = recognise_preset(head)
    with stage_survey_export(
        source, preset=preset, mapping=propose_mapping(preset, head, source)
    ) as stage:
        # The third row of data stands in line 4; each person has three answers.
        assert [("me" in one, "4" in one) for one in stage.file.warnings] == [(True, True)]
        assert stage.count_answers() == 3 * 3


def test_one_worker_can_have_another_attempt_than_all_others():
    # Ann began at 9 (25 minutes) and at 13 (7), Bob at 10 (12 minutes) and at 14 (3).
    source = survey(*TWO, row("ann", "13", "07", LATER), row("bob", "14", "03", LATER))
    texts, minutes, _ = staged(source, "first", workers={"bob": "last"})
    assert (texts["ann", "Q1"], texts["bob", "Q1"]) == (ANN[0], LATER[0])
    assert minutes == {"ann": 25, "bob": 3}
    texts, minutes, _ = staged(source, "last", workers={"bob": "first"})
    assert (texts["ann", "Q1"], texts["bob", "Q1"]) == (LATER[0], BOB[0])
    assert minutes == {"ann": 7, "bob": 12}


def test_without_a_rule_for_all_only_the_others_are_refused():
    source = survey(*TWO, row("ann", "13", "07", LATER), row("bob", "14", "03", LATER))
    with raises_problem("attempts_differ", name="ann"):
        staged(source, workers={"bob": "last"})
    with raises_problem("repeating_worker_unknown"):
        staged(source, "last", workers={"bop": "first"})


def test_a_rule_of_one_worker_counts_for_attention_checks_and_survives_storing(tmp_path):
    source = survey(*TWO, row("bob", "14", "03", LATER))
    head = read_head(source)
    preset = recognise_preset(head)
    mapping = propose_mapping(preset, head, source).replace_roles(
        [f"check=Q1={BOB[0]}"], head.header, "s.csv"
    )
    for rule, failed in (("first", "1 of 2"), ("last", "2 of 2")):
        rules = build_duplicate_rule("refuse", {"bob": rule})
        with stage_survey_export(source, preset=preset, mapping=mapping, duplicates=rules) as stage:
            assert any(failed in note for note in stage.file.notes)
            stage.save(tmp_path / rule)
            with type(stage).load(tmp_path / rule) as again:
                assert again.duplicates == rules
