"""Appeals at the payment desk: marked in the list, answered on the page of a person."""

import pytest
from django.urls import reverse

from annotations.ledger.appeals import create_appeal
from annotations.ledger.decisions import decide_on_submission
from annotations.models import Appeal, AppealAnswer, Decision, Submission
from tests.desk.flashes import flashed
from tests.evaluation.payments.crowd import rivers

REASON = "You answered the question that checks whether it is read otherwise than it asks for. " * 2
WAITING = '<a href="?appeal=waiting">'
"""The link to those who wrote back and were not answered, above the list."""
NOTE = 'name="do" value="note-appeal"'
"""The button that notes what somebody wrote elsewhere."""
SAID = "I <b>ticked</b> often,\nand it jumped."


@pytest.fixture
def ben(rana, client):
    """Ben of Rana's rivers, rejected, who wrote back."""
    client.force_login(rana)
    _, people = rivers(rana)
    decide_on_submission(people["ben"], rana, "reject", "FAILED_CHECK", REASON)
    decide_on_submission(people["di"], rana, "reject", "LOW_EFFORT", REASON)
    create_appeal(people["ben"], SAID)
    return people["ben"]


def desk(ben):
    return reverse("admin:paying", args=[ben.version.question_set.public_id])


def page(ben):
    return reverse("admin:paying-person", args=[ben.version.question_set.public_id, ben.public_id])


def text_of(response):
    return response.content.decode()


@pytest.mark.medium
def test_the_list_marks_who_wrote_back_and_is_filtered_by_it(ben, client):
    shown = text_of(client.get(desk(ben)))
    assert f"{WAITING}<strong>1</strong>" in shown
    assert shown.count('data-appeal="waiting"') == 1

    def names(query):
        return [row.name for row in client.get(desk(ben) + query).context["rows"]]

    assert names("?appeal=waiting") == names("?appeal=any") == ["ben"]
    client.post(page(ben), {"do": "answer-stays", "answer": "It was the only tick."})
    assert (names("?appeal=waiting"), names("?appeal=any")) == ([], ["ben"])
    shown = text_of(client.get(desk(ben)))
    assert WAITING not in shown
    assert 'data-appeal="waiting"' not in shown
    assert shown.count('data-appeal="answered"') == 1


def test_what_they_wrote_is_on_their_page_as_text_alone(ben, client):
    shown = text_of(client.get(page(ben)))
    assert "I &lt;b&gt;ticked&lt;/b&gt; often,<br>and it jumped." in shown


@pytest.mark.medium
def test_an_answer_approves_once_however_often_it_is_pressed(ben, client):
    sent = {"do": "answer-approve", "answer": "You are right."}
    response = client.post(page(ben), sent, follow=True)
    assert flashed(response) == ["answer_approve"]
    assert client.post(page(ben), sent).status_code == 302
    assert [one.kind for one in ben.decisions.order_by("pk")] == ["reject", "approve"]
    other = client.post(page(ben), {"do": "answer-stays", "answer": "After all not."})
    assert other.status_code == 409
    assert other.context["problem"].code == "answered_meanwhile"
    assert AppealAnswer.objects.get().text == "You are right."


def test_an_answer_that_leaves_it_rejected_decides_nothing(ben, client):
    client.post(page(ben), {"do": "answer-stays", "answer": "It was the only tick."})
    assert ben.decisions.count() == 1
    assert "stays rejected" in text_of(client.get(page(ben)))


@pytest.mark.parametrize("text", ["", "x" * 2001])
def test_an_answer_that_is_empty_or_too_long_is_refused_beside_its_field(ben, client, text):
    response = client.post(page(ben), {"do": "answer-approve", "answer": text})
    assert response.status_code == 400
    assert response.context["answer_form"].errors["answer"]
    assert not AppealAnswer.objects.exists()
    assert ben.decisions.count() == 1


def test_who_decided_meanwhile_is_told_and_the_answer_is_not_sent(ben, client, rana):
    decide_on_submission(ben, rana, "open")
    response = client.post(page(ben), {"do": "answer-approve", "answer": "You are right."})
    assert response.status_code == 409
    assert response.context["problem"].code == "decided_meanwhile"
    assert response.context["problem"].sentence in text_of(response)
    assert "You are right." in text_of(response)  # it is not lost
    assert not AppealAnswer.objects.exists()
    assert Decision.objects.filter(kind="approve").count() == 0


def test_there_is_nothing_to_answer_where_nobody_wrote(ben, client):
    di = ben.version.submissions.get(worker__external_id="di")
    response = client.post(page(di), {"do": "answer-approve", "answer": "You are right."})
    assert response.status_code == 409
    assert response.context["problem"].code == "nothing_written"


@pytest.fixture
def di(ben):
    """Di of the same rivers, rejected, who came in a file and wrote nothing here."""
    found = ben.version.submissions.filter(worker__external_id="di")
    found.update(source="imported")
    return found.get()


@pytest.mark.medium
def test_what_somebody_of_a_file_wrote_elsewhere_is_noted_and_answered(di, client, rana):
    assert NOTE in text_of(client.get(page(di)))
    sent = {"do": "note-appeal", "written": "My <i>keyboard</i>\r\nstuck."}
    told = client.post(page(di), sent)
    assert (told.status_code, told["Location"]) == (302, page(di) + "#appeal")
    noted = Appeal.objects.get(decision__submission=di)
    assert (noted.text, noted.noted_by) == ("My <i>keyboard</i>\nstuck.", rana)
    shown = text_of(client.get(page(di)))
    assert "My &lt;i&gt;keyboard&lt;/i&gt;<br>stuck." in shown
    assert "noted by <bdi>rana</bdi> from elsewhere" in shown
    assert 'data-answer-goes="elsewhere"' in shown
    assert NOTE not in shown
    assert 'data-appeal="waiting"' in text_of(client.get(desk(di) + "?q=di"))
    client.post(page(di), {"do": "answer-approve", "answer": "Thank you."})
    assert [one.kind for one in di.decisions.order_by("pk")] == ["reject", "approve"]


def test_who_answered_here_writes_on_their_own_page_and_nobody_for_them(di, client):
    Submission.objects.filter(pk=di.pk).update(source="collected")
    assert NOTE not in text_of(client.get(page(di)))
    told = client.post(page(di), {"do": "note-appeal", "written": "My keyboard stuck."})
    assert told.status_code == 409
    assert told.context["problem"].code == "own_page"
    assert told.context["problem"].sentence in text_of(told)
    assert not Appeal.objects.filter(decision__submission=di).exists()


def test_what_cannot_be_noted_stays_in_the_form_that_was_sent(di, client, rana):
    told = client.post(page(di), {"do": "note-appeal", "written": " "})
    assert told.status_code == 400
    assert told.context["note_form"].errors["written"]
    decide_on_submission(di, rana, "open")
    told = client.post(page(di), {"do": "note-appeal", "written": "My keyboard stuck."})
    assert (told.status_code, Appeal.objects.filter(decision__submission=di).exists()) == (
        409, False,
    )  # fmt: skip
    assert told.context["problem"].code == "not_rejected"
    assert told.context["problem"].sentence in text_of(told)
    assert "My keyboard stuck." in text_of(told)
