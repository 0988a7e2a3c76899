"""People who answer by the forms of the pages, against the real site."""

import pytest

from annotations.models import Response, Submission
from tests.benchmarks.workers import people
from tests.benchmarks.workers.pages import read_page
from tests.benchmarks.workers.site import fill, stored

PAGE = """<html><header><form method="post"><input name="search"></form></header><main>
<form method="get"><input name="q"></form>
<form method="post" action="there/?a=1&amp;b=2" data-draft="/draft/">
<input type="hidden" name="revision-x" value="3"><input type="checkbox" name="agree" value="yes">
<input type="radio" name="which" value="first"><input type="radio" name="which" value="second">
<textarea name="answer-x">
one &lt;two&gt;</textarea><button type="button" name="no">no</button>
<button name="do" value="next">Next</button><button name="do" value="back">Back</button></form>
<form method="post" action="other"></form><p id="completion-code"> AB<b>12</b> </p></main></html>"""


def test_a_page_is_its_first_form_that_changes_something():
    page = read_page(PAGE, "http://site/a/b/")
    form = page.form
    assert form.action == "http://site/a/b/there/?a=1&b=2"
    assert form.attributes["data-draft"] == "/draft/"
    assert form.texts == ["answer-x"]
    assert form.fields["answer-x"].strip() == "one <two>"
    assert form.filled("north") == {
        "revision-x": "3",
        "agree": "yes",
        "which": "first",
        "answer-x": "north",
        "do": "next",
    }
    assert page.code == "AB12"


def test_a_page_without_such_a_form_has_none():
    page = read_page("<main><form method=get></form></main><form method=post></form>", "http://a/")
    assert (page.form, page.code) == (None, "")


@pytest.mark.alone
@pytest.mark.django_db(transaction=True)
def test_every_acknowledged_text_is_stored_once(live_server, monkeypatch):
    monkeypatch.setattr(people, "DRAFT_EVERY", 0.3)
    monkeypatch.setattr(people, "ANSWER_EVERY", 1.0)
    monkeypatch.setattr("django.core.management.call_command", lambda *args, **options: None)
    load = people.by_the_clock(fill(live_server.url), 3, 3.0)
    assert load.errors == []
    assert len(load.seconds) in (30, 31)  # three people, every .3 s for 3 s (and rounding)
    found = stored()
    assert {key: [text] for key, text in load.texts.items()} == {
        key: found[key[0]][key[1]] for key in load.texts
    }
    assert Submission.objects.count() == 3
    # Each handed in pages of two texts at 1 and 2 s, and is on the third.
    assert Response.objects.count() >= 12
