"""Marks beside a name say each thing once, however many alarms say it."""

from uuid import uuid4

from django.template import Context, Template

from evaluation.reports.alarms.marks import Mark
from evaluation.templatetags.words import each_once


def test_two_alarms_about_the_same_are_one_mark_that_leads_to_the_worst():
    marks = (
        Mark(0, "copies", "alarm"),
        Mark(1, "leverage", "notice"),
        Mark(3, "copies", "notice"),
    )
    assert [mark.place for mark in each_once(marks)] == [0, 1]
    page = Template('{% include "evaluation/cards/marks.html" %}').render(
        Context({"marks": marks, "about": {"run": uuid4()}})
    )
    assert page.count(marks[0].words) == 1
    assert page.count("<a ") == 2
