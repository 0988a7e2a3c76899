"""Making, changing and publishing question sets; the first steps of the overview."""

import pytest
from django.urls import reverse

from annotations.models import Question, QuestionSet


@pytest.fixture
def signed_in(client, rana):
    client.force_login(rana)
    return client


def test_a_set_is_made_for_the_one_who_makes_it(signed_in, rana):
    response = signed_in.post(reverse("admin:question-set-new"), {"name": "Rivers"})
    made = QuestionSet.objects.get()
    assert response.url == reverse("admin:question-set", args=[made.public_id])
    assert made.owner == rana
    assert signed_in.get(response.url).status_code == 200


def test_a_name_is_used_once_by_each_owner(signed_in, rana, otto):
    QuestionSet.objects.create(owner=otto, name="Rivers")
    for status in (302, 400):
        response = signed_in.post(reverse("admin:question-set-new"), {"name": "Rivers"})
        assert response.status_code == status
    assert "You have a question set of this name." in response.content.decode()


def test_a_set_is_changed(signed_in, rana):
    made = QuestionSet.objects.create(owner=rana, name="Rivers")
    address = reverse("admin:question-set-edit", args=[made.public_id])
    signed_in.post(address, {"name": "Lakes", "notice": "Made up."})
    made.refresh_from_db()
    assert (made.name, made.notice) == ("Lakes", "Made up.")


def test_publishing_freezes_the_draft_and_needs_questions(signed_in, rana):
    made = QuestionSet.objects.create(owner=rana, name="Rivers")
    address = reverse("admin:question-set-publish", args=[made.public_id])
    assert "There is nothing to publish" in signed_in.post(address, follow=True).content.decode()
    Question.objects.create(version=made.draft(), external_id="q1", text="Where?")
    signed_in.post(address)
    assert made.latest_version().is_published


def test_lists_are_searched_and_paged(signed_in, rana):
    QuestionSet.objects.bulk_create(
        QuestionSet(owner=rana, name=f"set {number:02}") for number in range(30)
    )
    address = reverse("admin:question-sets")
    assert len(signed_in.get(address).context["page"]) == 25
    assert len(signed_in.get(address, {"page": 2}).context["page"]) == 5
    assert len(signed_in.get(address, {"page": "x"}).context["page"]) == 25
    assert len(signed_in.get(address, {"q": "set 1"}).context["page"]) == 10
    assert "No question set has" in signed_in.get(address, {"q": "nothing"}).content.decode()


def test_the_overview_leads_through_the_first_steps(signed_in, rana, world):
    QuestionSet.objects.none()
    assert signed_in.get(reverse("admin:index")).context["steps"] == []


def test_the_first_step_is_a_question_set(client, otto):
    client.force_login(otto)
    steps = client.get(reverse("admin:index")).context["steps"]
    assert [step.done for step in steps] == [False, False, False]
    assert steps[0].link == reverse("admin:question-set-new")
    QuestionSet.objects.create(owner=otto, name="Lakes")
    steps = client.get(reverse("admin:index")).context["steps"]
    assert [step.done for step in steps] == [True, False, False]
