"""Teams and sharing, as their pages do it: Rana owns, Otto, Tara and Vera are added and removed."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from annotations.models import Membership, QuestionSet, Response, Share, Team
from tests.desk.conftest import MARK, User
from tests.desk.flashes import flashed


@pytest.fixture
def rivers(rana):
    return QuestionSet.objects.create(owner=rana, name="Rivers")


@pytest.fixture
def tara(db):
    return User.objects.create_user("tara", is_staff=True, last_login=timezone.now())


@pytest.fixture
def vera(db):
    return User.objects.create_user("vera", password="secret")


@pytest.fixture
def team(rana):
    return Team.objects.create(owner=rana, name="River people")


@pytest.fixture
def signed_in(client, rana):
    client.force_login(rana)
    return client


def codes_of(response):
    """The codes of what is wrong with a form, by its fields."""
    found = response.context["form"].errors.as_data()
    return {field: [error.code for error in errors] for field, errors in found.items()}


def page(response, status=200):
    assert response.status_code == status
    return response.content.decode()


def test_a_team_is_made_and_gets_members(signed_in, rana, tara):
    assert 'data-state="no_team"' in page(signed_in.get(reverse("admin:teams")))
    made = signed_in.post(reverse("admin:team-new"), {"name": "River people"}, follow=True)
    assert 'data-state="no_question_set"' in page(made)
    team = Team.objects.get(owner=rana)
    address = reverse("admin:team", args=[team.public_id])
    added = signed_in.post(address, {"username": " tara "}, follow=True)
    assert flashed(added) == ["member_added"]
    assert "tara" in page(added)
    for name, code in (("tara", "member"), ("rana", "owner"), ("", "required")):
        refused = signed_in.post(address, {"username": name}, follow=True)
        assert (refused.status_code, codes_of(refused)) == (400, {"username": [code]})
    assert Membership.objects.count() == 1
    again = signed_in.post(reverse("admin:team-new"), {"name": "River people"})
    assert (again.status_code, codes_of(again)) == (400, {"name": ["name_taken"]})


def test_an_account_that_cannot_be_added_is_like_one_that_does_not_exist(
    signed_in, team, rivers, vera
):
    User.objects.create_user("gone", is_staff=True, is_active=False)
    to_team = reverse("admin:team", args=[team.public_id])
    said = set()
    for name in ("gone", "vera", "never-was"):  # vera is no requester
        refused = signed_in.post(to_team, {"username": name})
        assert (refused.status_code, codes_of(refused)) == (400, {"username": ["unknown"]})
        (sentence,) = refused.context["form"].errors["username"]
        # Above the form, and at its field.
        said.add((sentence.replace(name, "NAME"), page(refused, 400).count(sentence)))
    assert len(said) == 1
    assert {n for _, n in said} == {2}
    to_set = reverse("admin:sharing", args=[rivers.public_id])
    for name in ("gone", "never-was"):
        refused = signed_in.post(to_set, {"username": name, "role": "viewer"})
        assert (refused.status_code, codes_of(refused)) == (400, {"username": ["unknown"]})
        assert f"“{name}”" in refused.context["form"].errors["username"][0]
    assert not Share.objects.exists()
    assert not Membership.objects.exists()


def test_a_member_is_removed_after_a_question(signed_in, team, tara, rivers):
    member = Membership.objects.create(team=team, user=tara)
    hers = QuestionSet.objects.create(owner=tara, name="Lakes", team=team)
    address = reverse("admin:member-remove", args=[team.public_id, member.public_id])
    assert "Remove tara?" in page(signed_in.get(address))
    assert Membership.objects.exists()
    removed = signed_in.post(address, follow=True)
    assert flashed(removed) == ["member_removed"]
    assert "tara" in page(removed)
    hers.refresh_from_db()
    assert hers.team is None
    assert signed_in.post(address).status_code == 404


def test_a_member_leaves(client, team, tara, rana):
    Membership.objects.create(team=team, user=tara)
    client.force_login(tara)
    address = reverse("admin:team-leave", args=[team.public_id])
    assert "Leave River people?" in page(client.get(address))
    assert "You have left River people." in page(client.post(address, follow=True))
    assert client.get(reverse("admin:team", args=[team.public_id])).status_code == 404
    client.force_login(rana)
    assert client.get(address).status_code == 404  # the owner ends a team instead


def test_a_team_ends_and_its_sets_stay(signed_in, team, rivers):
    QuestionSet.objects.update(team=team)
    assert "no more" in page(
        signed_in.post(reverse("admin:team-end", args=[team.public_id]), follow=True)
    )
    rivers.refresh_from_db()
    assert rivers.team is None


def test_a_set_is_shared_with_a_team_and_no_longer(signed_in, client, team, tara, rivers):
    Membership.objects.create(team=team, user=tara)
    address = reverse("admin:sharing-team", args=[rivers.public_id])
    shared = signed_in.post(address, {"team": team.public_id}, follow=True)
    assert flashed(shared) == ["team_set"]
    assert "River people" in page(shared)
    assert rivers in QuestionSet.objects.editable_by(tara)
    listed = page(signed_in.get(reverse("admin:question-sets")))
    assert "shared with River people" in listed
    assert flashed(signed_in.post(address, {"team": ""}, follow=True)) == ["team_removed"]
    assert rivers not in QuestionSet.objects.visible_to(tara)


def test_a_set_is_not_shared_with_a_team_one_is_not_in(signed_in, rivers, otto):
    theirs = Team.objects.create(owner=otto, name="Town people")
    address = reverse("admin:sharing-team", args=[rivers.public_id])
    refused = signed_in.post(address, {"team": theirs.public_id}, follow=True)
    assert flashed(refused) == ["unknown_team"]
    rivers.refresh_from_db()
    assert rivers.team is None
    assert "Town people" not in page(
        signed_in.get(reverse("admin:sharing", args=[rivers.public_id]))
    )


def test_a_set_is_shown_to_somebody_whose_role_changes_and_ends(signed_in, world, vera):
    Client().force_login(vera)
    address = reverse("admin:sharing", args=[world.set.public_id])
    assert 'data-state="not_shared"' in page(signed_in.get(address))
    shared = signed_in.post(address, {"username": "vera", "role": "viewer"}, follow=True)
    assert flashed(shared) == ["shared"]
    assert [(one.user, one.role) for one in shared.context["shares"]] == [(vera, "viewer")]
    assert Response.objects.visible_to(vera).exists()
    signed_in.post(address, {"username": "vera", "role": "expert"})
    assert not Response.objects.visible_to(vera).exists()
    share = Share.objects.get()
    remove = reverse("admin:share-remove", args=[world.set.public_id, share.public_id])
    assert "Stop sharing with vera?" in page(signed_in.get(remove))
    assert flashed(signed_in.post(remove, follow=True)) == ["share_removed"]
    assert not QuestionSet.objects.visible_to(vera).exists()


def test_an_account_that_never_signed_in_is_invited_and_gets_nothing_until_it_accepts(
    signed_in, world, vera
):
    address = reverse("admin:sharing", args=[world.set.public_id])
    assert 'data-note="never_signed_in"' in page(signed_in.get(address))
    invited = signed_in.post(address, {"username": "vera", "role": "viewer"}, follow=True)
    assert flashed(invited) == ["invited"]
    assert 'data-invited="never_signed_in"' in page(invited)
    assert not QuestionSet.objects.visible_to(vera).exists()
    assert not Response.objects.visible_to(vera).exists()
    # Another role changes nothing about that.
    signed_in.post(address, {"username": "vera", "role": "expert"})
    share = Share.objects.get()
    assert (share.role, share.pending) == ("expert", True)
    set_page = reverse("admin:question-set", args=[world.set.public_id])
    invited = Client()
    given = {"username": "vera", "password": "secret"}
    assert invited.post(reverse("admin:login"), given).status_code == 302
    overview = page(invited.get(reverse("admin:index")))
    assert share.request_phrase in overview
    assert f"“{world.set.name}”" in overview
    assert invited.get(set_page).status_code == 404
    assert 'data-invited="signed_in"' in page(client_of(world.set.owner).get(address))
    # The invitation is hers alone.
    answer = reverse("admin:invitation", args=[share.public_id])
    assert client_of(world.set.owner).post(answer, {"do": "accept"}).status_code == 404
    assert invited.get(answer).status_code == 405
    assert invited.post(answer, {"do": "accept"}).url == set_page
    assert 'data-access="expert"' in page(invited.get(set_page))
    assert invited.post(answer, {"do": "accept"}).status_code == 404
    share.refresh_from_db()
    assert not share.pending


def test_an_invitation_may_be_declined_and_taken_away(signed_in, world, vera):
    address = reverse("admin:sharing", args=[world.set.public_id])
    signed_in.post(address, {"username": "vera", "role": "viewer"})
    share = Share.objects.get()
    invited = client_of(vera)
    answer = reverse("admin:invitation", args=[share.public_id])
    assert invited.post(answer, {"do": "decline"}).url == reverse("admin:index")
    assert not Share.objects.exists()
    assert invited.get(reverse("admin:index")).status_code == 302  # nothing is here for her
    signed_in.post(address, {"username": "vera", "role": "viewer"})  # signed in by now
    share = Share.objects.get()
    assert not share.pending


def test_by_rest_an_invitation_gives_nothing_either(world, vera):
    share = Share.objects.create(question_set=world.set, user=vera, role="viewer", pending=True)
    client = APIClient()
    client.force_authenticate(vera)
    one = f"/api/v1/question-sets/{world.set.public_id}/"
    assert client.get("/api/v1/question-sets/").json()["results"] == []
    assert client.get(one).status_code == 404
    assert client.get(f"{one}answers/").status_code == 404
    assert client.get("/api/v1/runs/").json()["results"] == []
    Share.objects.filter(pk=share.pk).update(pending=False)
    assert client.get(one).status_code == 200


def test_an_account_whose_only_invitation_waits_may_sign_in_and_one_without_may_not(world, vera):
    login = reverse("admin:login")
    given = {"username": "vera", "password": "secret"}
    assert Client().post(login, given).status_code == 200  # the form again
    Share.objects.create(question_set=world.set, user=vera, role="expert", pending=True)
    assert Client().post(login, given).status_code == 302


def client_of(user):
    client = Client()
    client.force_login(user)
    return client


def test_who_may_do_more_is_not_made_to_do_less(signed_in, team, tara, rivers):
    Membership.objects.create(team=team, user=tara)
    QuestionSet.objects.update(team=team)
    address = reverse("admin:sharing", args=[rivers.public_id])
    for name, reason in (("rana", "owns the question set"), ("tara", "as a member of the team")):
        refused = page(signed_in.post(address, {"username": name, "role": "expert"}), 400)
        assert reason in refused
    assert "Select a valid choice" in page(
        signed_in.post(address, {"username": "tara", "role": "owner"}), 400
    )
    assert not Share.objects.exists()


def test_an_expert_is_told_what_for_and_sees_questions_only(client, world, vera):
    Share.objects.create(question_set=world.set, user=vera, role="expert")
    client.force_login(vera)
    shown = page(client.get(reverse("admin:question-set", args=[world.set.public_id])))
    assert 'data-access="expert"' in shown
    assert "Where does it begin?" in shown
    assert "Grade" not in shown
    assert reverse("admin:runs") not in shown
    assert reverse("admin:models") not in shown
    question = world.version.questions.first()
    asked = page(
        client.get(reverse("admin:question", args=[world.set.public_id, question.public_id]))
    )
    assert f"Passage {MARK}" in asked
    assert "Answers" not in asked
