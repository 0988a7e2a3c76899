"""Making, changing and publishing question sets; the first steps of the overview."""

import pytest
from django.urls import reverse

from annotations.models import Question, QuestionSet
from tests.desk.flashes import flashed

NEW = "admin:question-set-new"


@pytest.fixture
def signed_in(client, rana):
    client.force_login(rana)
    return client


def test_a_set_is_made_for_the_one_who_makes_it(signed_in, rana):
    response = signed_in.post(reverse(NEW), {"name": "Rivers"})
    made = QuestionSet.objects.get()
    assert response.url == reverse("admin:question-set", args=[made.public_id])
    assert made.owner == rana
    assert signed_in.get(response.url).status_code == 200


def test_a_name_is_used_once_by_each_owner(signed_in, rana, otto):
    QuestionSet.objects.create(owner=otto, name="Rivers")
    for status in (302, 400):
        response = signed_in.post(reverse(NEW), {"name": "Rivers"})
        assert response.status_code == status
    assert response.context["form"].errors.as_data()["name"][0].code == "name_taken"


def test_a_set_is_changed(signed_in, rana):
    made = QuestionSet.objects.create(owner=rana, name="Rivers")
    address = reverse("admin:question-set-edit", args=[made.public_id])
    signed_in.post(address, {"name": "Lakes", "notice": "Made up."})
    made.refresh_from_db()
    assert (made.name, made.notice) == ("Lakes", "Made up.")


def test_publishing_freezes_the_draft_and_needs_questions(signed_in, rana):
    made = QuestionSet.objects.create(owner=rana, name="Rivers")
    address = reverse("admin:question-set-publish", args=[made.public_id])
    assert flashed(signed_in.post(address, follow=True)) == ["nothing_to_publish"]
    Question.objects.create(version=made.draft(), external_id="q1", text="Where?")
    signed_in.post(address)
    assert made.latest_version().is_published


def test_lists_are_searched_and_paged(signed_in, rana):
    QuestionSet.objects.bulk_create(
        QuestionSet(owner=rana, name=f"set {number:02}") for number in range(30)
    )
    address = reverse("admin:question-sets")
    first = signed_in.get(address).context["page"]
    assert (len(first), first.count) == (25, 30)
    # A set that is made meanwhile shifts nothing.
    QuestionSet.objects.create(owner=rana, name="a later one")
    second = signed_in.get(address, {"after": first.next}).context["page"]
    assert (len(second), second.next) == (5, None)
    assert {row.name for row in [*first, *second]} == {f"set {at:02}" for at in range(30)}
    for strange in ("x", "00000000-0000-7000-8000-000000000000"):
        assert signed_in.get(address, {"after": strange}).status_code == 404
    assert len(signed_in.get(address, {"q": "set 1"}).context["page"]) == 10
    assert "No question set fits" in signed_in.get(address, {"q": "nothing"}).content.decode()


@pytest.mark.medium
def test_questions_that_share_a_position_are_listed_once_each_with_their_answers(signed_in, world):
    draft = world.set.draft()  # of the published version, with its two questions
    Question.objects.bulk_create(
        # Two a position, so that a page ends between two that tie.
        Question(version=draft, external_id=f"r{at:02}", position=5 + at // 2)
        for at in range(49)
    )
    address = reverse("admin:question-set", args=[world.set.public_id])
    listed, after = [], ""
    while True:
        more = {"after": after} if after else {}
        page = signed_in.get(address, {"version": 2, **more}).context["page"]
        listed += page.rows
        after = page.next
        if not after:
            break
    assert [row["external_id"] for row in listed] == ["q1", "q2", *(f"r{n:02}" for n in range(49))]
    assert [row["n_answers"] for row in listed] == [0] * 51
    # Without a number it is the newest version that has answers.
    older = signed_in.get(address).context["page"]
    assert [row["n_answers"] for row in older] == [3, 3]


def test_the_overview_leads_through_the_first_steps(signed_in, rana, world):
    QuestionSet.objects.none()
    assert signed_in.get(reverse("admin:index")).context["steps"] == []


def test_the_first_step_is_a_question_set(client, otto):
    client.force_login(otto)
    steps = client.get(reverse("admin:index")).context["steps"]
    assert [step.done for step in steps] == [False, False, False]
    assert steps[0].link == reverse(NEW)
    QuestionSet.objects.create(owner=otto, name="Lakes")
    steps = client.get(reverse("admin:index")).context["steps"]
    assert [step.done for step in steps] == [True, False, False]
