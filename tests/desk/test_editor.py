"""The editor: what is typed is stored, and nothing of others is overwritten unseen."""

import re
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.urls import reverse

from annotations.desk.editor import forms
from annotations.exchange.reading import images
from annotations.models import Image, Passage, Question, QuestionSet
from tests.annotations import world as crowd
from tests.desk.flashes import flashed

pytestmark = pytest.mark.django_db

JSON = {"accept": "application/json"}
OPTIONS = "X-Content-Type-Options"


@pytest.fixture
def rivers(rana):
    return QuestionSet.objects.create(owner=rana, name="Rivers", language="en")


@pytest.fixture
def draft(rivers):
    version = rivers.draft()
    passage = Passage.objects.create(version=version, external_id="p1", text="Rivers run.")
    for number in (1, 2):
        Question.objects.create(
            version=version,
            external_id=f"q{number}",
            position=number,
            text=f"Where is river {number}?",
            passage=passage,
        )
    return version


@pytest.fixture
def desk(client, rana):
    client.force_login(rana)
    return client


def at(name, of, *more):
    return reverse(f"admin:{name}", args=[of.public_id, *(one.public_id for one in more)])


def fields_of(response):
    """What a browser would send back of the form that is shown."""
    form = response.context["form"]
    shown = {name: form[name].value() for name in form.fields if name != "picture"}
    hidden = {"seen": response.context["seen"], "new_id": str(response.context["new_id"])}
    return {name: "" if value is None else value for name, value in (shown | hidden).items()}


def question(of, name):
    return Question.objects.get(version=of, external_id=name)


def test_from_nothing_to_published_without_a_file(desk, rivers):
    page = desk.get(at("question-set", rivers))
    assert at("editor", rivers) in page.content.decode()
    assert "Begin to write" in desk.get(at("editor", rivers)).content.decode()
    assert rivers.latest_version() is None, "looking makes nothing"
    desk.post(at("editor", rivers))
    new = at("editor-question-new", rivers)
    typed = fields_of(desk.get(new)) | {"text": "Where does it begin?", "kind": "short"}
    sent = desk.post(new, typed | {"do": "another"})
    assert sent.url == new
    stored = question(rivers.latest_version(), "q1")
    assert (stored.text, stored.kind, stored.role) == ("Where does it begin?", "short", "graded")
    desk.post(at("question-set-publish", rivers))
    assert rivers.latest_version().is_published


def test_what_is_missing_blocks_publishing_and_is_linked(desk, rivers, draft):
    draft.questions.filter(external_id="q2").update(role="attention")
    sent = desk.post(at("question-set-publish", rivers), follow=True)
    assert not rivers.latest_version().is_published
    assert flashed(sent) == ["not_publishable no_key"]
    blocking = [
        (one.code, one.item.external_id) for one, _ in sent.context["findings"] if one.blocks
    ]
    assert (blocking, sent.context["n_errors"]) == ([("no_key", "q2")], 1)
    assert at("editor-question", rivers, question(draft, "q2")) in sent.content.decode()


def test_a_form_sent_twice_makes_one_question(desk, rivers, draft):
    new = at("editor-question-new", rivers)
    typed = fields_of(desk.get(new)) | {"text": "How long is it?"}
    first = desk.post(new, typed, headers=JSON).json()
    again = desk.post(new, typed | {"text": "How wide is it?"}, headers=JSON).json()
    assert first["saved"]
    assert again["saved"]
    assert first["address"] == again["address"]
    assert question(draft, "q3").text == "How wide is it?"
    assert draft.questions.count() == 3


def test_a_new_passage_and_a_new_question_come_last(desk, rivers, draft):
    draft.passages.update(position=4)
    for name, text in (("passage", "Lakes lie."), ("question", "How deep is it?")):
        new = at(f"editor-{name}-new", rivers)
        desk.post(new, fields_of(desk.get(new)) | {"text": text})
    assert list(draft.passages.values_list("position", flat=True).order_by("pk")) == [4, 5]
    assert list(draft.questions.values_list("position", flat=True).order_by("pk")) == [1, 2, 3]


def test_every_field_of_a_question_is_kept(desk, rivers, draft):
    there = at("editor-question", rivers, question(draft, "q1"))
    typed = fields_of(desk.get(there)) | {
        "text": "Which sea?",
        "kind": "choice",
        "choices_text": "North Sea\n\n Baltic Sea ",
        "role": "practice",
        "accepted_text": "North Sea | the North Sea\nMare Germanicum",
        "feedback": "The **North Sea**.",
        "max_characters": "80",
        "category": "seas",
        "language": "en",
    }
    assert desk.post(there, typed).status_code == 302
    stored = question(draft, "q1")
    assert stored.choices == ["North Sea", "Baltic Sea"]
    assert stored.accepted_answers == [["North Sea", "the North Sea"], "Mare Germanicum"]
    assert (stored.role, stored.max_characters, stored.category) == ("practice", 80, "seas")
    assert stored.passage.external_id == "p1"
    assert desk.post(there, fields_of(desk.get(there))).status_code == 302
    assert question(draft, "q1").accepted_answers == stored.accepted_answers


def test_lists_that_a_line_cannot_say_stay_as_they_came(desk, rivers, draft):
    odd = {"kind": "choice", "choices": ["a\nb", "c"], "accepted_answers": ["x | y", ["p", "q|r"]]}
    Question.objects.filter(version=draft, external_id="q1").update(**odd)
    there = at("editor-question", rivers, question(draft, "q1"))
    desk.post(there, fields_of(desk.get(there)) | {"text": "Which?"})
    stored = question(draft, "q1")
    assert {name: getattr(stored, name) for name in odd} == odd
    assert stored.text == "Which?"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"text": ""}, "text"),
        ({"text": "a" * 100_001}, "text"),
        ({"text": "a\0"}, "text"),
        ({"kind": "choice"}, "choices_text"),
        ({"kind": "guess"}, "kind"),
        ({"role": "boss"}, "role"),
        ({"passage": "p9"}, "passage"),
        ({"external_id": "q2"}, "external_id"),
        ({"max_characters": "0"}, "max_characters"),
    ],
)
def test_what_cannot_be_stored_is_refused_and_still_stands_in_the_page(
    desk, rivers, draft, change, field
):
    there = at("editor-question", rivers, question(draft, "q1"))
    typed = fields_of(desk.get(there)) | {"feedback": "kept as typed"} | change
    sent = desk.post(there, typed)
    assert sent.status_code == 400
    page = sent.content.decode()
    (said,) = sent.context["form"].errors[field]
    assert f'id="id_{field}_error"' in page
    assert "kept as typed" in page
    told = desk.post(there, typed, headers=JSON)
    assert (told.status_code, told.json()["saved"]) == (400, False)
    assert said in told.json()["said"]
    assert question(draft, "q1").text == "Where is river 1?"


@pytest.mark.medium
def test_of_two_who_edit_the_same_the_second_sees_the_first(desk, rivers, draft):
    there = at("editor-question", rivers, question(draft, "q1"))
    mine = fields_of(desk.get(there)) | {"text": "Mine?"}
    desk.post(there, fields_of(desk.get(there)) | {"text": "Tara's?"})
    told = desk.post(there, mine, headers=JSON)
    assert (told.status_code, told.json()["why"]) == (409, "changed")
    sent = desk.post(there, mine)
    assert sent.status_code == 409
    page = sent.content.decode()
    assert "Mine?" in page
    assert "Tara&#x27;s?" in page
    assert question(draft, "q1").text == "Tara's?"
    desk.post(there, mine | {"seen": sent.context["seen"]})
    assert question(draft, "q1").text == "Mine?"
    # Sent twice, the same is no conflict.
    assert desk.post(there, mine).status_code == 302


def test_what_was_deleted_meanwhile_can_be_saved_anew(desk, rivers, draft):
    there = at("editor-passage", rivers, draft.passages.get())
    Question.objects.filter(version=draft).update(passage=None)
    gone = Passage.objects.create(version=draft, external_id="p2", text="Lakes lie.")
    there = at("editor-passage", rivers, gone)
    typed = fields_of(desk.get(there)) | {"text": "Lakes rest."}
    gone.delete()
    assert desk.post(there, typed).status_code == 404
    # In the moment between looking and saving:
    from annotations.desk.editor import saving
    from annotations.desk.editor.forms import PassageForm

    request = desk.get(at("editor", rivers)).wsgi_request
    assert not request.FILES  # reading them first would take the fields away again
    request.method, request.POST = "POST", typed
    saved = saving.save_form(
        request,
        rivers,
        PassageForm,
        lambda of: None,
        lambda of: Passage(version=of),
        lambda form, of: form.save(),
    )
    assert (saved.why, saved.form["text"].value()) == ("gone", "Lakes rest.")


def test_editing_after_publishing_opens_the_next_version(desk, rivers, draft):
    there = at("editor-question", rivers, question(draft, "q1"))
    typed = fields_of(desk.get(there)) | {"text": "Where does river 1 begin?"}
    draft.publish()
    told = desk.post(there, typed, headers=JSON)
    assert (told.status_code, told.json()["why"]) == (409, "published")
    page = desk.post(there, typed)
    assert page.context["why"] == "published"
    assert 'name="do" value="next"' in page.content.decode()
    assert "Where does river 1 begin?" in page.content.decode()
    assert rivers.latest_version() == draft
    assert desk.post(there, typed | {"do": "next"}).status_code == 302
    second = rivers.latest_version()
    assert (second.number, question(second, "q1").text) == (2, "Where does river 1 begin?")
    assert question(second, "q1").passage.version == second
    assert question(draft, "q1").text == "Where is river 1?"
    changes = desk.get(at("editor-changes", rivers)).content.decode()
    assert re.search("<ins>does river 1 begin</ins>|<ins>begin</ins>|<ins>does</ins>", changes)


def test_guidelines_and_consent_are_kept_and_the_template_is_offered(desk, rivers):
    desk.post(at("editor", rivers))
    there = at("editor-texts", rivers)
    typed = fields_of(desk.get(there)) | {"guidelines": "Be **brief**."}
    page = desk.post(there, typed | {"do": "template"})
    assert page.status_code == 200
    offered = page.context["form"]["consent_text"].value()
    assert "What we collect" in offered
    assert "pasted" not in offered, "nothing of that kind is collected"
    assert rivers.latest_version().consent_text == "", "nothing is stored unseen"
    desk.post(there, fields_of(page))
    stored = rivers.latest_version()
    assert (stored.guidelines, stored.language) == ("Be **brief**.", "en")
    assert "[number]" in stored.consent_text
    shown = desk.get(at("editor", rivers))
    assert "Be <strong>brief</strong>." in shown.content.decode()
    assert ("to_fill_in", "[number]") in [
        (one.code, one.what) for one, _ in shown.context["findings"]
    ]


def test_the_form_of_the_texts_holds_those_of_the_latest_version(desk, rivers):
    there = at("editor-texts", rivers)
    # A set without a version: an empty form in the language of the set.
    empty = desk.get(there).context["form"]
    assert (empty["guidelines"].value(), empty["language"].value()) == ("", "en")
    version = rivers.draft()
    version.guidelines, version.consent_text, version.language = "Be brief.", "I agree.", "de"
    version.save()
    stored = desk.get(there).context["form"]
    names = ("guidelines", "consent_text", "language")
    assert [stored[name].value() for name in names] == ["Be brief.", "I agree.", "de"]


def test_an_image_is_looked_at_stored_and_taken_away(desk, rivers, draft):
    there = at("editor-passage", rivers, draft.passages.get())
    typed = fields_of(desk.get(there)) | {"image_alt": "A river."}
    bad = SimpleUploadedFile("river.png", b"<svg onload=alert(1)>")
    refused = desk.post(there, typed | {"picture": bad})
    assert refused.status_code == 400
    (said,) = refused.context["form"].errors["picture"]
    assert said.startswith("river.png: ")
    good = SimpleUploadedFile("../../x.html", crowd.picture(), content_type="text/html")
    told = desk.post(there, typed | {"picture": good}, headers=JSON).json()
    image = draft.passages.get().image
    assert told["image"] == at("image", rivers, image)
    sent = desk.get(told["image"])
    assert sent["Content-Type"] == "image/png"
    assert sent[OPTIONS] == "nosniff"
    assert sent.content == bytes(image.content)
    desk.post(there, fields_of(desk.get(there)) | {"remove_picture": "on"})
    assert draft.passages.get().image is None
    assert not Image.objects.exists()


def test_an_image_is_decoded_before_the_set_is_locked(desk, rivers, draft, monkeypatch):
    there, held = at("editor-passage", rivers, draft.passages.get()), []

    def read(content, name, sender):
        held.append(list(connection.savepoint_ids))
        return images.reencode_image(content, name, sender)

    monkeypatch.setattr(forms, "reencode_image", read)
    typed = fields_of(desk.get(there)) | {"image_alt": "A river."}
    sent = SimpleUploadedFile("a.png", crowd.picture())
    assert desk.post(there, typed | {"picture": sent}).status_code == 302
    # No transaction but the test's: on SQLite, nobody could write while a picture waits.
    assert held == [[]]
    assert draft.passages.get().image is not None


@pytest.mark.parametrize("headers", [{}, JSON])
def test_an_image_that_waits_in_vain_is_answered_with_503_and_the_form(
    desk, rivers, draft, monkeypatch, headers
):
    there = at("editor-passage", rivers, draft.passages.get())
    typed = fields_of(desk.get(there)) | {"image_alt": "Typed."}
    sent = SimpleUploadedFile("a.png", crowd.picture())
    monkeypatch.setattr(images, "SECONDS_TO_WAIT", 0.05)
    with images._turn:
        refused = desk.post(there, typed | {"picture": sent}, headers=headers)
    assert (refused.status_code, refused["Retry-After"]) == (503, str(images.SECONDS_TO_RETRY))
    if headers:
        assert list(refused.json()["errors"]) == ["picture"]
    else:
        form = refused.context["form"]
        assert [one.code for one in form.errors["picture"].as_data()] == ["pictures_busy"]
        assert form["image_alt"].value() == "Typed."
    assert draft.passages.get().image is None


def test_a_third_image_of_one_person_is_told_to_wait(desk, rivers, draft, monkeypatch):
    there = at("editor-passage", rivers, draft.passages.get())
    typed = fields_of(desk.get(there)) | {"image_alt": "Typed."}
    monkeypatch.setitem(images._waiting, rivers.owner_id, images.MOST_OF_ONE)
    sent = SimpleUploadedFile("a.png", crowd.picture())
    refused = desk.post(there, typed | {"picture": sent})
    assert (refused.status_code, refused["Retry-After"]) == (503, str(images.SECONDS_TO_RETRY))
    found = refused.context["form"].errors["picture"].as_data()
    assert [one.code for one in found] == ["own_pictures_wait"]


def test_a_picture_that_a_published_version_shows_stays(desk, rivers, draft):
    Passage.objects.update(image=crowd.image(rivers), image_alt="A river.")
    draft.publish()
    desk.post(at("editor", rivers))
    there = at("editor-passage", rivers, rivers.latest_version().passages.get())
    desk.post(there, fields_of(desk.get(there)) | {"remove_picture": "on"})
    assert rivers.latest_version().passages.get().image is None
    assert draft.passages.get().image == Image.objects.get()


def test_order_is_moved_once_and_not_over_somebody_elses(desk, rivers, draft):
    there = at("editor-order", rivers)
    seen = desk.get(at("editor", rivers)).context["seen"]
    q1, q2 = question(draft, "q1"), question(draft, "q2")
    move = {"seen": seen, "item": str(q2.public_id), "way": "up"}
    told = desk.post(there, move, headers=JSON)
    assert [q.external_id for q in draft.questions.order_by("position")] == ["q2", "q1"]
    late = desk.post(there, move, headers=JSON)
    assert late.status_code == 409
    assert late.json()["why"] == "stale"
    drop = {"seen": told.json()["seen"], "item": str(q1.public_id), "before": "", "passage": ""}
    assert desk.post(there, drop, headers=JSON).status_code == 200
    assert question(draft, "q1").passage is None
    seen = desk.get(at("editor", rivers)).context["seen"]
    for odd in (
        {"item": "x"},
        {"before": str(draft.passages.get().public_id)},
        {"before": "x"},
        {"passage": str(q1.public_id)},
    ):
        odd = drop | {"seen": seen, "item": str(q2.public_id)} | odd
        assert desk.post(there, odd, headers=JSON).status_code == 409
    sent = desk.post(there, move | {"seen": seen})
    assert sent.url.endswith(f"#question-{q2.public_id}")
    draft.publish()
    assert desk.post(there, move, headers=JSON).json()["why"] == "published"


def test_deleting_tells_what_hangs_on_it(desk, rivers, draft):
    q1, q2 = question(draft, "q1"), question(draft, "q2")
    q1.variants.create(external_id="v1", text="And where?")
    asked = desk.get(at("editor-question-delete", rivers, q1)).content.decode()
    assert "1 variant" in asked
    desk.post(at("editor-question-delete", rivers, q1))
    assert not Question.objects.filter(pk=q1.pk).exists()
    crowd.response(crowd.submission(draft), "q2")
    asked = desk.get(at("editor-passage-delete", rivers, q2.passage))
    assert asked.context["held"] == ["1 response"]
    assert "1 response" in asked.content.decode()
    desk.post(at("editor-passage-delete", rivers, q2.passage))
    assert draft.passages.exists()
    draft.submissions.all().delete()
    desk.post(at("editor-passage-delete", rivers, q2.passage))
    assert (draft.passages.count(), draft.questions.count()) == (0, 0)


def test_a_long_set_comes_in_pages(desk, rivers, draft, django_assert_max_num_queries):
    for number in range(30):
        passage = Passage.objects.create(
            version=draft, external_id=f"x{number}", text="Run.", position=number + 5
        )
        Question.objects.create(
            version=draft, external_id=f"x{number}", position=number + 5, passage=passage, text="?"
        )
    with django_assert_max_num_queries(30):
        page = desk.get(at("editor", rivers))
    assert len(page.context["groups"]) == 20
    after = page.context["page"].next
    behind = draft.passages.get(external_id="x19").public_id
    assert page.context["behind_passages"] == str(behind)
    assert len(desk.get(at("editor", rivers), {"after": after}).context["groups"]) == 11


def test_scripts_in_texts_are_shown_as_they_are_written(desk, rivers, draft):
    nasty = "<script>alert(1)</script> [a](javascript:alert(1))"
    Passage.objects.update(text=nasty, title=nasty, format="simple")
    Question.objects.update(text=nasty)
    for name in ("editor", "editor-texts", "editor-changes"):
        page = desk.get(at(name, rivers)).content.decode()
        assert "<script>alert" not in page
        assert 'href="javascript' not in page


def test_the_script_of_the_editor_writes_no_html():
    script = Path("platform/crowdgrade/static/crowdgrade/editor.js").read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script)
