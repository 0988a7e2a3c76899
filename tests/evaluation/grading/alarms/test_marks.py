"""Marks beside a name say each thing once, however many alarms say it."""

from uuid import uuid4

import pytest
from django.template import Context, Template

from evaluation.grading.alarms.report import build_alarms_report
from evaluation.grading.alarms.report.marks import (
    Mark,
    build_marks_of_report,
    read_marks_and_counts,
)
from evaluation.templatetags.words import remove_repeated_alarms
from tests.evaluation.grading.results import world
from tests.evaluation.grading.results.alarm_world import alarm


def test_two_alarms_about_the_same_are_one_mark_that_leads_to_the_worst():
    marks = (
        Mark(0, "copies", "alarm"),
        Mark(1, "leverage", "notice"),
        Mark(3, "copies", "notice"),
    )
    assert [mark.place for mark in remove_repeated_alarms(marks)] == [0, 1]
    page = Template('{% include "evaluation/cards/marks.html" %}').render(
        Context({"marks": marks, "about": {"run": uuid4()}})
    )
    assert page.count(marks[0].words) == 1
    assert page.count("<a ") == 2


@pytest.mark.django_db
def test_a_report_of_all_alarms_has_the_marks_and_counts_of_the_run():
    run = world.finished(n_workers=10)
    names = [f"w{at:03d}" for at in range(1, 9)]
    alarm(run, workers=names)
    alarm(run, "leverage", "notice", workers=names[:2])
    alarm(run, "repeated", "info", workers=names[2:3])
    alarm(run, workers=names[3:5], state="dismissed")
    alarm(run, workers=names[4:6], state="examined", answered=True)
    alarm(run, "repeated", workers=names[5:7], answered=True)
    report = build_alarms_report(run, most=None, names=None)
    assert (build_marks_of_report(report), report.open_counts) == read_marks_and_counts(run)
    assert (
        sorted(len(found) for found in build_marks_of_report(report).values()) == [1] * 4 + [2] * 4
    )
    few = report.select_first_alarms(2)
    assert [(len(one.workers), one.more_workers) for one in few.alarms] == [(6, 2), (2, 0)]
    assert few.n == 6
