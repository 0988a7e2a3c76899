"""The preview: the workers' own pages, which store nothing."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotations.models import Assignment, Collection, Passage, Question, QuestionSet, Submission
from tests.annotations import world as crowd

pytestmark = pytest.mark.django_db


@pytest.fixture
def rivers(rana):
    question_set = QuestionSet.objects.create(owner=rana, name="Rivers", language="en")
    draft = question_set.draft()
    draft.guidelines, draft.consent_text = "Be **brief**.", "I agree <b>gladly</b>."
    draft.save()
    passage = Passage.objects.create(
        version=draft,
        external_id="p1",
        title="The Rhine",
        text="It begins in the *Alps*.",
        format="simple",
        image=crowd.image(question_set),
        image_alt="A river.",
    )
    for place, (text, fields) in enumerate(
        [
            ("What colour?", {"role": "practice", "feedback": "**Blue.**", "passage": None}),
            ("Where?", {"kind": "free"}),
            ("Which sea?", {"kind": "choice", "choices": ["North Sea", "Baltic Sea"]}),
        ],
        1,
    ):
        row = {"passage": passage, "accepted_answers": ["blue"]} | fields
        Question.objects.create(
            version=draft, external_id=f"q{place}", position=place, text=text, **row
        )
    return question_set


@pytest.fixture
def pages(client, rana, rivers):
    """What is shown at each step."""
    client.force_login(rana)
    there = reverse("admin:editor-preview", args=[rivers.public_id])

    def of(protocol, step, post=None):
        address = f"{there}?protocol={protocol}&step={step}"
        sent = client.get(address) if post is None else client.post(address, post)
        return sent.content.decode() if sent.status_code == 200 else sent

    return of


def heading(page):
    return re.search("<h1>(.*?)</h1>", page)[1]


def test_every_page_comes_as_workers_see_it(pages, rivers):
    shown = [pages("recall", step) for step in range(1, 8)]
    assert [heading(page) for page in shown] == [
        *("Welcome", "Practice", "Practice: what was right", "Next: a text to read"),
        *("Read the text", "Questions", "Thank you"),
    ]
    assert all("Preview of version 1" in page for page in shown)
    assert "Be <strong>brief</strong>." in shown[0]
    assert "I agree &lt;b&gt;gladly&lt;/b&gt;." in shown[0]
    assert "<strong>Blue.</strong>" in shown[2]
    assert "It begins in the <em>Alps</em>." in shown[4]
    image = rivers.images.get().public_id
    assert reverse("admin:image", args=[rivers.public_id, image]) in shown[4]
    assert "North Sea" in shown[5]
    assert "Alps" not in shown[5]
    assert [heading(pages("open", step)) for step in (1, 2, 3, 4, 5)] == [
        *("Welcome", "Practice", "Practice: what was right", "Questions", "Thank you"),
    ]
    assert "Alps" in pages("open", 4)
    assert heading(pages("open", 99)) == "Thank you"
    assert heading(pages("open", "x")) == "Welcome"


def test_a_form_leads_on_and_practice_tells_of_what_was_typed(pages, rivers):
    on = pages("recall", 1, {"do": "agree"})
    assert on.status_code == 302
    assert "step=2" in on.url
    question = Question.objects.get(external_id="q1")
    told = pages("recall", 2, {f"answer-{question.public_id}": "Blue "})
    assert heading(told) == "Practice: what was right"
    assert "That is right." in told
    wrong = pages("recall", 2, {f"answer-{question.public_id}": "<script>"})
    assert "That is not quite it." in wrong
    assert "<script>" not in wrong


def test_nothing_is_stored(pages, rivers):
    with CaptureQueriesContext(
        connection,
    ) as asked:
        for step in range(1, 8):
            pages("recall", step)
            pages("recall", step, {"do": "next"})
    written = [one["sql"] for one in asked if re.match("INSERT|UPDATE|DELETE", one["sql"])]
    assert [sql for sql in written if "annotations_" in sql] == []
    assert not Collection.objects.exists()
    assert not Submission.objects.exists()
    assert not Assignment.objects.exists()


def test_without_a_question_there_is_nothing_to_preview(pages, rivers, client):
    Question.objects.all().delete()
    assert pages("recall", 1).url == reverse("admin:editor", args=[rivers.public_id])
    address = reverse("admin:editor-preview", args=[rivers.public_id])
    assert client.get(f"{address}?version=9").status_code == 404
