"""Invitation links: one person joins once, with a new account or one that exists."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.models import Membership, Share, Team
from crowdgrade.invitation_links.links import (
    InvitationError,
    create_invitation_link,
    find_invitation_link,
    use_invitation_link,
)
from crowdgrade.models import InvitationLink
from tests.annotations import world
from tests.annotations.answering.conftest import made_set
from tests.evaluation.site.handles import error_codes

pytestmark = pytest.mark.django_db

PASSWORD = "a long pass phrase 7"
ACCOUNT = {"username": "vera", "password1": PASSWORD, "password2": PASSWORD}


@pytest.fixture
def rana():
    return world.user("rana", is_staff=True)


@pytest.fixture
def tides(rana):
    return made_set(rana)


def signed_in(user):
    client = Client()
    client.force_login(user)
    return client


def make_link(client, question_set, role="viewer", note="for Vera"):
    """Make a link on the page, and return its path."""
    page = reverse("admin:invitation-links", args=[question_set.public_id])
    made = client.post(page, {"role": role, "note": note})
    assert made.status_code == 200
    return made.context_data["address"].removeprefix("http://testserver")


def refusal(response):
    return response.context_data["refused"]


def test_a_person_without_an_account_makes_one_and_sees_the_set_at_once(rana, tides):
    path = make_link(signed_in(rana), tides)
    guest = Client()
    assert guest.get(path).status_code == 200
    joined = guest.post(path, ACCOUNT)
    assert joined.url == reverse("admin:question-set", args=[tides.public_id])
    assert guest.get(joined.url).status_code == 200
    vera = User.objects.get(username="vera")
    assert (vera.is_staff, vera.is_superuser, vera.check_password(PASSWORD)) == (False, False, True)
    share = Share.objects.get()
    assert (share.user, share.role, share.pending) == (vera, "viewer", False)
    link = InvitationLink.objects.get()
    assert (link.state, link.used_by) == ("used", vera)


def test_a_link_works_once_and_says_so_afterwards(rana, tides):
    path = make_link(signed_in(rana), tides)
    Client().post(path, ACCOUNT)
    again = Client().post(path, {**ACCOUNT, "username": "eve"})
    assert (again.status_code, refusal(again)) == (410, "used")
    assert not User.objects.filter(username="eve").exists()


def test_an_expired_a_withdrawn_and_an_unknown_link_let_nobody_in(rana, tides):
    client = signed_in(rana)
    path = make_link(client, tides)
    InvitationLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    late = Client().post(path, ACCOUNT)
    assert (late.status_code, refusal(late)) == (410, "expired")
    (link,) = InvitationLink.objects.all()
    page = reverse("admin:invitation-link-withdraw", args=[tides.public_id, link.public_id])
    client.post(page)
    assert Client().post(path, ACCOUNT).status_code == 404
    assert Client().get(reverse("admin:join", args=["x" * 43])).status_code == 404
    assert not User.objects.filter(username="vera").exists()


def test_a_used_link_stays_in_the_list_and_cannot_be_withdrawn(rana, tides):
    client = signed_in(rana)
    Client().post(make_link(client, tides), ACCOUNT)
    (link,) = InvitationLink.objects.all()
    client.post(reverse("admin:invitation-link-withdraw", args=[tides.public_id, link.public_id]))
    assert InvitationLink.objects.count() == 1


def test_only_a_hash_of_the_token_is_stored_and_the_page_shows_the_link_once(rana, tides):
    client = signed_in(rana)
    path = make_link(client, tides)
    token = path.rstrip("/").rpartition("/")[2]
    assert len(token) == 43  # 32 random bytes
    assert token not in str(InvitationLink.objects.values().get())
    page = client.get(reverse("admin:invitation-links", args=[tides.public_id]))
    assert token not in page.content.decode()


def test_somebody_who_is_signed_in_joins_with_that_account(rana, tides):
    path = make_link(signed_in(rana), tides, role="expert")
    ed = world.user("ed")
    assert signed_in(ed).post(path).status_code == 302
    assert Share.objects.get().role == "expert"
    assert User.objects.count() == 2


def test_an_account_without_any_role_can_sign_in_to_an_open_link_and_to_no_other_page(rana, tides):
    path = make_link(signed_in(rana), tides)
    User.objects.create_user("walter", password=PASSWORD)
    login = reverse("admin:login")

    def sign_in(next_page):
        form = {"username": "walter", "password": PASSWORD, "next": next_page}
        return Client().post(login, form).status_code

    assert sign_in(reverse("admin:index")) == 200  # the form again, as for a wrong password
    assert sign_in(reverse("admin:join", args=["nonsense"])) == 200
    assert sign_in(path) == 302
    InvitationLink.objects.update(used_at=timezone.now())
    assert sign_in(path) == 200


@pytest.mark.parametrize("who", ["owner", "editor"])
def test_whoever_may_do_more_already_does_not_use_the_link_up(rana, tides, who):
    tara = world.user("tara", is_staff=True)
    tides.team = Team.objects.create(owner=rana, name="Tide group")
    tides.save()
    Membership.objects.create(team=tides.team, user=tara)
    path = make_link(signed_in(rana), tides)
    refused = signed_in(rana if who == "owner" else tara).post(path)
    assert (refused.status_code, refusal(refused)) == (409, who)
    assert InvitationLink.objects.get().state == "open"
    assert not Share.objects.exists()


def test_an_operators_link_makes_a_requester(rana):
    ida = world.user("ida", is_superuser=True, is_staff=True)
    made = signed_in(ida).post(reverse("admin:requester-links"), {"role": "requester"})
    path = made.context_data["address"].removeprefix("http://testserver")
    refused = signed_in(rana).post(path)
    assert (refused.status_code, refusal(refused)) == (409, "requester")
    guest = Client()
    assert guest.post(path, ACCOUNT).url == reverse("admin:index")
    vera = User.objects.get(username="vera")
    assert (vera.is_staff, vera.is_superuser) == (True, False)
    assert guest.get(reverse("admin:question-set-new")).status_code == 200


def test_nobody_gives_a_role_that_the_page_does_not_offer(rana, tides):
    page = reverse("admin:invitation-links", args=[tides.public_id])
    refused = signed_in(rana).post(page, {"role": "requester"})
    assert refused.status_code == 400
    assert error_codes(refused.context_data["form"].errors.as_data()["role"]) == ["invalid_choice"]
    assert not InvitationLink.objects.exists()


def test_a_name_that_is_taken_or_a_weak_password_leaves_the_link_open(rana, tides):
    path = make_link(signed_in(rana), tides)
    taken = Client().post(path, {**ACCOUNT, "username": "rana"})
    weak = Client().post(path, {"username": "vera", "password1": "12345", "password2": "12345"})
    assert (taken.status_code, weak.status_code) == (400, 400)
    assert InvitationLink.objects.get().state == "open"


def test_an_account_that_was_made_for_a_link_is_undone_where_the_link_was_used_meanwhile(
    rana, tides
):
    link, token = create_invitation_link(rana.pk, "viewer", question_set=tides)
    read_before = find_invitation_link(token)
    use_invitation_link(link, lambda: world.user("ed"))
    with pytest.raises(InvitationError, match="used"):
        use_invitation_link(read_before, lambda: User.objects.create_user("eve"))
    assert not User.objects.filter(username="eve").exists()
