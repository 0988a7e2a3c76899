"""The preview: the workers' own pages, which store nothing."""

import html
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotations.answering import collecting
from annotations.answering.places import count_free_places
from annotations.models import Assignment, Collection, Passage, Question, QuestionSet, Submission
from tests.annotations import world as crowd

pytestmark = pytest.mark.django_db
BESIDE = {
    "data": "What is my data used for?",
    "withdraw": "Withdraw my answers",
    "no_consent": "You did not agree",
    "screened_out": "This is the end of the practice",
    "failed_checks": "Thank you",
    "withdrawn": "Your answers are deleted",
    "full": "All places are taken",
    "paused": "This study is paused",
    "closed": "This study is closed",
}


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


@pytest.mark.medium
def test_every_page_comes_as_workers_see_it(pages, rivers):
    shown = [pages("recall", step) for step in range(1, 9)]
    assert [heading(page) for page in shown] == [
        *("Welcome", "Practice", "Practice: what was right", "Next: a text to read"),
        *("Read the text", "Questions", "Look through your answers", "Thank you"),
    ]
    assert all("Preview of version 1" in page for page in shown)
    assert all(re.search(r"<title>Preview: \S", page) for page in shown)
    assert "Be <strong>brief</strong>." in shown[0]
    assert "I agree &lt;b&gt;gladly&lt;/b&gt;." in shown[0]
    assert "<strong>Blue.</strong>" in shown[2]
    assert "It begins in the <em>Alps</em>." in shown[4]
    image = rivers.images.get().public_id
    assert reverse("admin:image", args=[rivers.public_id, image]) in shown[4]
    assert "North Sea" in shown[5]
    assert "Alps" not in shown[5]
    assert [heading(pages("open", step)) for step in (1, 2, 3, 4, 5, 6)] == [
        *("Welcome", "Practice", "Practice: what was right", "Questions"),
        *("Look through your answers", "Thank you"),
    ]
    assert "Alps" in pages("open", 4)
    assert heading(pages("open", 99)) == "Thank you"
    assert heading(pages("open", "x")) == "Welcome"


def test_a_form_leads_on_and_practice_tells_of_what_was_typed(pages, rivers):
    on = pages("recall", 1, {"do": "agree", "agree": "yes"})
    assert on.status_code == 302
    assert "step=2" in on.url
    question = Question.objects.get(external_id="q1")
    told = pages("recall", 2, {f"answer-{question.public_id}": "Blue "})
    assert heading(told) == "Practice: what was right"
    assert "That is right." in told
    wrong = pages("recall", 2, {f"answer-{question.public_id}": "<script>"})
    assert "That is not quite it." in wrong
    assert "<script>" not in wrong


@pytest.mark.medium
def test_nothing_is_stored(pages, rivers):
    with CaptureQueriesContext(
        connection,
    ) as asked:
        for step in range(1, 9):
            pages("recall", step)
            pages("recall", step, {"do": "next"})
        for beside in BESIDE:
            pages("recall", f"2&beside={beside}")
            pages("recall", f"2&beside={beside}", {"sure": "yes", "uncounted": "yes"})
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


@pytest.mark.medium
def test_pages_beside_the_way_are_shown_too_and_lead_back(pages):
    for beside, title in BESIDE.items():
        shown = pages("recall", f"6&beside={beside}")
        assert heading(shown) == title
        assert "beside page 6 of 8" in shown
        back = html.unescape(re.search('<a href="([^"]+)">Back to page 6', shown)[1])
        assert back.endswith("step=6")
    assert "About a few of the questions" in pages("recall", "6&beside=failed_checks")
    assert "About a few of the questions" not in pages("recall", 8)
    assert heading(pages("recall", "6&beside=<script>")) == "Questions"


@pytest.mark.medium
def test_buttons_lead_where_they_lead_for_workers(pages):
    assert "beside=no_consent" in pages("recall", 1, {"do": "decline"}).url
    unticked = pages("recall", 1, {"do": "agree"}).url
    assert "step=1" in unticked
    assert "tick the box that you agree" in pages("recall", "1&said=untick")
    assert pages("recall", 6, {"do": "back"}).url.endswith("step=2")  # practice, the page before
    assert "said=saved" in pages("recall", 6, {"do": "save"}).url
    assert "the same link brings you back" in pages("recall", "6&said=saved")
    assert "beside=withdrawn" in pages("recall", "6&beside=withdraw", {"sure": "yes"}).url
    assert "said=unsure" in pages("recall", "6&beside=withdraw", {}).url
    assert "said=off" in pages("recall", "6&beside=data", {"uncounted": "yes"}).url
    said = pages("recall", "6&beside=data", {"do": "assistive", "assistive": "yes"})
    assert "said=assistive" in said.url
    assert "It is stored that you use it." in pages("recall", "6&beside=data&said=assistive")
    assert "said=not" in pages("recall", "6&beside=data", {"do": "assistive"}).url


def test_the_review_leads_to_each_page_of_questions_and_has_no_answers(pages):
    review = pages("recall", 7)
    (to,) = re.findall('<a href="([^"]+)">Change the answers', review)
    assert html.unescape(to).endswith("step=6")
    assert review.count("<em>left empty</em>") == 2
    assert 'data-preview="review"' in review
    assert 'data-preview="review"' not in pages("recall", 6)


def test_ends_hold_neither_the_codes_of_the_panel_nor_a_way_out(pages, rivers):
    made = collecting.publish_question_set(rivers, places=3).collection
    assert "prolific" in made.return_url
    for shown in (pages("recall", 8), *(pages("recall", f"2&beside={one}") for one in BESIDE)):
        codes = (made.code_done, made.code_no_consent, made.code_screened_out, made.code_too_late)
        assert not any(code in shown for code in codes)
        assert "prolific.com" not in shown
    assert ">PREVIEW<" in pages("recall", 8)
    assert 'id="way-back"' in pages("recall", 8)


@pytest.mark.medium
def test_who_gets_a_part_of_the_questions_is_shown_a_part(pages, rivers):
    collecting.publish_question_set(rivers, places=4, questions_per_worker=1)
    assert 'data-graded="1" data-all="2"' in pages("open", 4)
    assert len(re.findall('id="q[0-9]', pages("open", 4))) >= 1
    asked = [text for text in ("Where?", "Which sea?") if text in pages("open", 4)]
    assert len(asked) == 1
    whole = pages("open", "4&all=yes")
    assert "Where?" in whole
    assert "Which sea?" in whole
    others = {
        text
        for order in range(1, 12)
        for text in ("Where?", "Which sea?")
        if text in pages("open", f"4&order={order}")
    }
    assert len(others) == 2


@pytest.mark.slow
def test_no_robot_lists_a_preview_and_one_that_follows_every_link_takes_no_place(
    client, rana, rivers
):
    made = collecting.publish_question_set(rivers, places=3).collection
    client.force_login(rana)
    to_see = [reverse("admin:editor-preview", args=[rivers.public_id])]
    seen = set()
    while to_see:
        address = to_see.pop()
        seen.add(address)
        shown = client.get(address)
        assert shown.status_code == 200, address
        assert shown["X-Robots-Tag"] == "noindex, nofollow"
        assert "no-store" in shown["Cache-Control"]
        page = shown.content.decode()
        assert "Preview of version 1" in page
        found = {
            html.unescape(one) for one in re.findall(r'<a [^>]*href="(/[^"]*preview/[^"]*)"', page)
        }
        # Every order is a page of its own, without an end.
        to_see += [one for one in found - seen - set(to_see) if "order=1&" in one]
    assert len(seen) > 20
    assert count_free_places(made) == 3
    assert not Submission.objects.exists()


@pytest.mark.medium
def test_links_to_it_stand_on_the_set_and_on_its_collecting(client, rana, rivers):
    client.force_login(rana)
    there = reverse("admin:editor-preview", args=[rivers.public_id])
    names = ("question-set", "collecting", "collecting-settings", "editor")
    before = [reverse(f"admin:{name}", args=[rivers.public_id]) for name in names]
    for page in before:
        assert f'href="{there}' in client.get(page).content.decode(), page
    collecting.publish_question_set(rivers, places=3)
    assert f'href="{there}?version=1"' in client.get(before[1]).content.decode()
