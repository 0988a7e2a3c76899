"""Whatever an account is invited to before it signed in waits for its yes, role by role."""

from types import SimpleNamespace

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from annotations import writing
from annotations.models import (
    Membership,
    QuestionSet,
    Share,
    Team,
    WritingMember,
    WrittenProblem,
    has_never_signed_in,
)
from annotations.models.access import INVITATION_MODELS, is_writing_member, may_enter
from annotations.models.invitations import Invited
from tests.annotations.writing.conftest import MADE, published_set
from tests.desk.conftest import User
from tests.desk.flashes import flashed

ROLES = ("viewer", "expert", "member", "writer", "validator")
ASKED_TO = {
    "viewer": "look at the question set “problems”",
    "expert": "judge answers blindly of the question set “problems”",
    "member": "work in the team “River people”",
    "writer": "write problems for the question set “problems”",
    "validator": "check problems for the question set “problems”",
}


@pytest.fixture
def world(rana):
    """Rana's set, which her team works on, and for which problems are written."""
    version = published_set(rana)
    team = Team.objects.create(owner=rana, name="River people")
    QuestionSet.objects.update(team=team)
    project = writing.start_project(version)
    nina = User.objects.create_user("nina", password="rivers-and-lakes", is_staff=True)
    return SimpleNamespace(
        rana=rana, nina=nina, set=version.question_set, team=team, project=project
    )


def client_of(user):
    client = Client()
    client.force_login(user)
    return client


def page(response, status=200):
    assert response.status_code == status
    return response.content.decode()


def invite(world, role, name="nina"):
    """As Rana does it on the page for it; returns what she is told."""
    return page(invited(world, role, name))


def invited(world, role, name="nina"):
    """As Rana does it on the page for it; returns the page that she gets."""
    client = client_of(world.rana)
    if role == "member":
        address = reverse("admin:team", args=[world.team.public_id])
        return client.post(address, {"username": name}, follow=True)
    where = "sharing" if role in ("viewer", "expert") else "writing-people"
    address = reverse(f"admin:{where}", args=[world.set.public_id])
    return client.post(address, {"username": name, "role": role}, follow=True)


def row_of(world, role):
    if role == "member":
        return Membership.objects.get(user=world.nina)
    if role in ("viewer", "expert"):
        return Share.objects.get(user=world.nina)
    return WritingMember.objects.get(user=world.nina)


def opened(world, role):
    """The page that the role opens."""
    if role == "member":
        return reverse("admin:team", args=[world.team.public_id])
    if role in ("viewer", "expert"):
        return reverse("admin:question-set", args=[world.set.public_id])
    return reverse("admin:writing-desk", args=[world.project.public_id])


def test_every_model_whose_rows_can_wait_is_among_those_that_invite():
    models = {model for model in apps.get_models() if issubclass(model, Invited)}
    assert {model.__name__ for model in models} == set(INVITATION_MODELS)


@pytest.mark.medium
@pytest.mark.parametrize("role", ROLES)
def test_an_account_that_never_signed_in_gets_nothing_until_it_accepts(world, role):
    assert has_never_signed_in(world.nina)
    told = invited(world, role)
    assert flashed(told) == ["invited"]
    assert 'data-invited="never_signed_in"' in page(told)  # beside the name
    nina = client_of(world.nina)
    home = page(nina.get(reverse("admin:index")))
    assert f"invites you to {ASKED_TO[role].split('“')[0]}" in home
    assert nina.get(opened(world, role)).status_code == 404
    for model in (QuestionSet, Team, Membership, Share, WritingMember, WrittenProblem):
        assert not model.objects.visible_to(world.nina).exists()
    assert not QuestionSet.objects.editable_by(world.nina).exists()
    assert not is_writing_member(world.nina)
    row = row_of(world, role)
    answer = reverse("admin:invitation", args=[row.public_id])
    # The invitation is hers alone, and is answered by a button, not by an address.
    assert client_of(world.rana).post(answer, {"do": "accept"}).status_code == 404
    assert nina.get(answer).status_code == 405
    accepted = nina.post(answer, {"do": "accept"}, follow=True)
    assert accepted.redirect_chain == [(opened(world, role), 302)]
    assert f"You accepted to {ASKED_TO[role]}." in page(accepted)
    assert nina.post(answer, {"do": "accept"}).status_code == 404
    assert QuestionSet.objects.editable_by(world.nina).exists() == (role == "member")
    assert is_writing_member(world.nina) == (role in ("writer", "validator"))


@pytest.mark.parametrize("role", ROLES)
def test_an_invitation_may_be_declined_and_is_gone(world, role):
    invite(world, role)
    answer = reverse("admin:invitation", args=[row_of(world, role).public_id])
    nina = client_of(world.nina)
    assert f"You declined to {ASKED_TO[role]}." in page(
        nina.post(answer, {"do": "decline"}, follow=True)
    )
    for model in (Membership, Share, WritingMember):
        assert not model.objects.filter(user=world.nina).exists()
    # By now she has signed in, so that the next one holds at once.
    world.nina.refresh_from_db()
    assert not has_never_signed_in(world.nina)
    invite(world, role)
    assert not row_of(world, role).pending


@pytest.mark.parametrize("role", ROLES)
def test_one_that_is_taken_back_while_it_is_accepted_gives_nothing_and_is_a_page(
    world, role, monkeypatch
):
    invite(world, role)
    nina, row = client_of(world.nina), row_of(world, role)
    asked = [row_of(world, role)]  # read by the view before the owner takes it back
    monkeypatch.setattr("annotations.desk.invitations.list_invitations", lambda user: asked)
    row.delete()
    answer = reverse("admin:invitation", args=[asked[0].public_id])
    assert nina.post(answer, {"do": "accept"}).status_code == 404
    for model in (Membership, Share, WritingMember):
        assert not model.objects.filter(user=world.nina).exists()


@pytest.mark.parametrize("role", ROLES)
def test_an_account_without_a_role_may_sign_in_to_accept_and_else_not(world, role):
    User.objects.filter(pk=world.nina.pk).update(is_staff=role == "member")
    world.nina.refresh_from_db()
    if role != "member":  # only requesters are added to a team, and they may sign in anyway
        assert not may_enter(world.nina)
    invite(world, role)
    assert may_enter(world.nina)
    given = {"username": "nina", "password": "rivers-and-lakes"}
    assert Client().post(reverse("admin:login"), given).status_code == 302


@pytest.mark.parametrize("role", ["writer", "validator"])
def test_by_rest_who_is_only_invited_takes_part_in_nothing(world, role):
    rana, nina = APIClient(), APIClient()
    rana.force_authenticate(world.rana)
    nina.force_authenticate(world.nina)
    people = f"/api/v1/question-sets/{world.set.public_id}/writing/people/"
    made = rana.post(people, {"username": "nina", "role": role}, format="json")
    assert (made.status_code, made.json()["pending"]) == (201, True)
    assert nina.get("/api/v1/writing/").json()["results"] == []
    work = {"writer": "problems", "validator": "tasks"}[role]
    address = f"/api/v1/writing/{world.project.public_id}/{work}/"
    assert nina.get(address).status_code == 404
    if role == "writer":
        assert nina.post(address).status_code == 404
    row_of(world, role).accept()
    assert nina.get(address).status_code == 200
    assert len(nina.get("/api/v1/writing/").json()["results"]) == 1


def test_who_waits_to_write_counts_as_nobody_who_writes(world):
    will = User.objects.create_user("will", last_login=timezone.now())
    writing.invite_user(world.project, will, "writer")
    invite(world, "writer")
    assert writing.summarize_project(world.project).n_writers == 1  # will, not nina
    assert "is invited as a writer already" in writing.find_invitation_error(
        world.project, world.nina, "writer"
    )
    # Another role is another invitation, which waits as the first did.
    invite(world, "validator")
    assert (row_of(world, "validator").role, row_of(world, "validator").pending) == (
        "validator",
        True,
    )


def test_a_team_is_invited_to_write_without_those_who_wait_to_join_it(world):
    tara = User.objects.create_user("tara", is_staff=True)  # never signed in
    world.team.memberships.create(user=tara)
    invite(world, "member")
    invited, refused = writing.invite_team(world.project, world.team, "writer")
    assert (invited, refused) == (["rana", "tara"], [])
    waits = dict(world.project.members.values_list("user__username", "pending"))
    assert waits == {"rana": False, "tara": True}  # Rana signed in above


def test_a_member_who_waits_is_not_counted_and_not_invited_twice(world):
    invite(world, "member")
    rana = client_of(world.rana)
    listed = page(rana.get(reverse("admin:teams")))
    assert '<td class="cg-number">1</td>' in listed  # Rana alone
    address = reverse("admin:team", args=[world.team.public_id])
    assert "“nina” is invited already." in page(rana.post(address, {"username": "nina"}), 400)
    # What is taken away before it is accepted is taken away for good.
    gone = row_of(world, "member")
    rana.post(reverse("admin:member-remove", args=[world.team.public_id, gone.public_id]))
    answer = reverse("admin:invitation", args=[gone.public_id])
    assert client_of(world.nina).post(answer, {"do": "accept"}).status_code == 404


def test_a_writer_whose_part_was_accepted_writes(world):
    invite(world, "writer")
    row_of(world, "writer").accept()
    problem = writing.take_question(world.project, world.nina.pk)
    writing.submit_problem(problem, MADE, 2)
    assert WrittenProblem.objects.visible_to(world.nina).get() == problem
