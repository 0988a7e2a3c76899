"""Sign-in by an OpenID provider: the right person by a right ID token, and nobody else."""

import time
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.models import Share, SignInEvent
from crowdgrade.invitation_links.links import create_invitation_link
from crowdgrade.models import InvitationLink
from crowdgrade.sign_in.refusals import REFUSALS
from tests.annotations import world as crowd
from tests.crowdgrade.sign_in.conftest import begin, code_of, find_way, sign_in, user_of

pytestmark = pytest.mark.django_db


def events():
    return list(SignInEvent.objects.order_by("pk").values_list("event", "name", "detail"))


def test_the_first_sign_in_makes_an_account_without_a_role(provider):
    client, response = sign_in(provider)
    ada = user_of(client)
    assert (response.status_code, response.url) == (302, reverse("admin:index"))
    assert (ada.username, ada.email, ada.first_name) == ("ada", "ada@lab.org", "Ada")
    assert (ada.is_staff, ada.is_superuser, ada.has_usable_password()) == (False, False, False)
    link = SocialAccount.objects.get()
    assert (link.user, link.provider, link.uid) == (ada, provider.issuer, "person-1")
    assert link.extra_data == {}
    # She waits for a role.
    page = client.get(reverse("admin:index"), follow=True)
    assert page.redirect_chain[-1][0].startswith(reverse("admin:login"))
    assert events() == [("signed_in", "ada", "openid")]


def test_an_operator_sees_that_an_account_without_a_password_signs_in_by_openid(provider):
    first, _ = sign_in(provider)
    client = Client()
    client.force_login(User.objects.create_superuser("ida"))
    page = client.get(reverse("admin:auth_user_change", args=[user_of(first).pk]))
    assert b'data-password="openid"' in page.content


def test_the_second_sign_in_opens_the_same_account_whatever_its_address_is_now(provider):
    first, _ = sign_in(provider)
    provider.person |= {"email": "other@lab.org", "preferred_username": "other"}
    second, _ = sign_in(provider)
    assert user_of(second) == user_of(first)
    assert User.objects.count() == 1


def test_the_request_has_state_nonce_and_pkce_and_takes_nothing_from_the_address(provider):
    client = Client()
    address = reverse("openid-begin") + "?scope=admin&auth_params=prompt%3Dnone&prompt=none"
    ways = [find_way(client.post(address)) for _ in range(2)]
    asked, again = ({k: v[0] for k, v in parse_qs(urlsplit(way).query).items()} for way in ways)
    assert set(asked["scope"].split()) == {"openid", "profile", "email"}
    assert asked["code_challenge_method"] == "S256"
    assert asked["redirect_uri"] == "http://testserver/admin/openid/callback/"
    assert "prompt" not in asked
    for name in ("state", "nonce", "code_challenge"):
        assert len(asked[name]) >= 16
        assert asked[name] != again[name]


def test_a_role_can_be_given_to_every_new_account_but_never_an_operators(provider, change):
    change(makes_requesters=True)
    provider.person |= {"is_superuser": True, "roles": ["admin"]}
    client, _ = sign_in(provider)
    assert (user_of(client).is_staff, user_of(client).is_superuser) == (True, False)
    assert client.get(reverse("admin:index")).status_code == 200


WRONG = {
    "nonce": {"nonce": "of another sign-in"},
    "audience": {"aud": "another-site"},
    "expired": {"exp": int(time.time()) - 120},
    "issuer": {"iss": "https://elsewhere.example.org"},
}


@pytest.mark.parametrize("code", WRONG)
def test_an_id_token_with_a_wrong_claim_is_refused(provider, code):
    provider.wrong = WRONG[code]
    client, response = sign_in(provider)
    assert (response.status_code, code_of(response)) == (403, code)
    assert user_of(client) is None
    assert User.objects.count() == 0
    assert events() == [("refused", "", code)]


@pytest.mark.parametrize(("late", "opens"), [(-1, True), (50, True), (70, False)])
def test_an_id_token_holds_a_minute_longer_than_it_says(provider, late, opens):
    # The clocks of provider and site may differ by 60 seconds.
    provider.wrong = {"exp": int(time.time()) - late}
    client, _ = sign_in(provider)
    assert (user_of(client) is not None) == opens


@pytest.mark.parametrize("missing", ["nonce", "exp", "iat", "aud"])
def test_an_id_token_without_a_needed_claim_is_refused(provider, missing):
    provider.wrong = {missing: None}
    client, response = sign_in(provider)
    assert response.status_code == 403
    assert user_of(client) is None


def test_an_id_token_for_several_sites_must_be_issued_to_this_one(provider):
    provider.wrong = {"aud": ["crowdgrade", "other"], "azp": "other"}
    _, response = sign_in(provider)
    assert code_of(response) == "audience"
    provider.wrong = {"aud": ["crowdgrade", "other"], "azp": "crowdgrade"}
    client, _ = sign_in(provider)
    assert user_of(client) is not None


def test_an_id_token_of_another_key_is_refused(provider):
    provider.signing_key = rsa.generate_private_key(65537, 2048)
    client, response = sign_in(provider)
    assert (response.status_code, code_of(response)) == (403, "signature")
    assert user_of(client) is None


@pytest.mark.parametrize(("algorithm", "key"), [("none", None), ("HS256", "k" * 32)])
def test_an_id_token_without_an_asymmetric_signature_is_refused(provider, algorithm, key):
    provider.algorithm, provider.signing_key = algorithm, key
    _, response = sign_in(provider)
    assert code_of(response) == "signature"


def test_userinfo_of_another_person_is_refused(provider):
    provider.userinfo = {**provider.person, "sub": "person-2"}
    _, response = sign_in(provider)
    assert code_of(response) == "userinfo"


def test_claims_that_the_id_token_lacks_come_from_userinfo(provider):
    provider.userinfo = provider.person
    client, _ = sign_in(provider)
    assert user_of(client).email == "ada@lab.org"


def test_a_code_that_the_provider_does_not_know_is_refused(provider):
    client = Client()
    back = provider.authorize(find_way(begin(client)))
    provider.codes.clear()
    response = client.get(back)
    assert (response.status_code, code_of(response)) == (502, "provider")


def test_the_way_back_works_once_and_in_the_same_browser_only(provider):
    client = Client()
    back = provider.authorize(find_way(begin(client)))
    assert code_of(Client().get(back)) == "state"
    assert client.get(back).status_code == 302
    client.logout()
    assert code_of(client.get(back)) == "state"


def test_who_cancels_at_the_provider_is_told_so_and_not_logged(provider):
    client = Client()
    back = provider.authorize(find_way(begin(client)))
    state = parse_qs(urlsplit(back).query)["state"][0]
    address = reverse("openid-callback")
    response = client.get(address, {"error": "access_denied", "state": state})
    assert code_of(response) == "cancelled"
    assert events() == []


# Who may enter


@pytest.mark.parametrize("verified", [False, None, "false", 1])
def test_an_address_that_the_provider_did_not_verify_opens_nothing(provider, verified):
    provider.person |= {"email_verified": verified}
    client, response = sign_in(provider)
    assert (response.status_code, code_of(response)) == (403, "unverified")
    assert user_of(client) is None


def test_a_provider_of_one_organization_can_be_trusted_with_its_addresses(provider, change):
    change(trusts_email=True)
    del provider.person["email_verified"]
    client, _ = sign_in(provider)
    assert user_of(client).email == "ada@lab.org"


@pytest.mark.parametrize("email", ["ada@else.org", "ada@lab.org.else.org", "ada@sub.lab.org"])
def test_another_domain_is_refused(provider, email):
    provider.person["email"] = email
    client, response = sign_in(provider)
    assert (code_of(response), user_of(client)) == ("domain", None)


@pytest.mark.medium
def test_groups_decide_at_every_sign_in(provider, change):
    change(domains=frozenset(), groups=frozenset({"graders", "leads"}))
    assert code_of(sign_in(provider)[1]) == "group"
    provider.person["groups"] = ["staff", "leads"]
    client, _ = sign_in(provider)
    assert user_of(client).username == "ada"
    provider.person["groups"] = ["staff"]
    assert code_of(sign_in(provider)[1]) == "group"
    assert events()[-1] == ("refused", "ada", "group")


@pytest.mark.medium
def test_with_domains_and_groups_both_must_fit(provider, change):
    change(groups=frozenset({"graders"}))
    assert code_of(sign_in(provider)[1]) == "group"
    provider.person |= {"groups": ["graders"], "email": "ada@else.org"}
    assert code_of(sign_in(provider)[1]) == "domain"


def test_without_domains_and_groups_only_who_is_linked_or_invited_enters(provider, change):
    change(domains=frozenset())
    assert code_of(sign_in(provider)[1]) == "unknown"
    assert User.objects.count() == 0


def test_an_address_takes_over_no_account_that_has_it(provider):
    old = User.objects.create_user("ada", "ada@lab.org", "right battery 9", is_superuser=True)
    client, _ = sign_in(provider)
    new = user_of(client)
    assert new != old
    assert new.username != "ada"
    assert new.is_superuser is False


@pytest.mark.medium
def test_a_switched_off_account_is_refused_with_its_reason(provider):
    sign_in(provider)
    User.objects.update(is_active=False)
    again, response = sign_in(provider)
    assert (response.status_code, code_of(response)) == (403, "inactive")
    assert user_of(again) is None
    assert events()[-1] == ("refused", "ada", "inactive")


@pytest.mark.parametrize("email", ["ida@lab.org", "IDA@lab.org"])
def test_an_unverified_address_of_an_existing_account_is_not_stored_anywhere(
    provider, change, email
):
    # Groups decide, so that an address without a proof is no reason for a refusal.
    change(domains=frozenset(), groups=frozenset({"graders"}))
    ida = User.objects.create_superuser("ida", "ida@lab.org", "right battery 9")
    provider.person |= {"email": email, "email_verified": False, "groups": ["graders"]}
    provider.person["preferred_username"] = "ida"
    client, _ = sign_in(provider)
    new = user_of(client)
    assert new != ida
    assert new.username != "ida"
    assert (new.email, new.is_superuser) == ("", False)
    assert not SocialAccount.objects.filter(user=ida).exists()


@pytest.mark.parametrize(("length", "code"), [(191, None), (192, "subject")])
def test_a_subject_longer_than_its_column_is_refused(provider, length, code):
    provider.person["sub"] = "s" * length
    client, response = sign_in(provider)
    assert (user_of(client) is None) == (code is not None)
    if code:
        assert (response.status_code, code_of(response)) == (403, code)
    else:
        assert SocialAccount.objects.get().uid == "s" * 191


def test_claims_that_no_column_takes_are_cut_or_left_out(provider, change):
    change(domains=frozenset(), groups=frozenset({"graders"}))
    provider.person |= {
        "groups": ["graders"],
        # 243 + 1 + 11 = 255 characters, one more than the column takes.
        "email": "a" * 243 + "@" + "example.org",
        "given_name": "A\0da" + "a" * 200,
        "family_name": ["of", "the", "lab"],
        "preferred_username": "ada\0\u202e" + "b" * 300,
    }
    client, _ = sign_in(provider)
    ada = user_of(client)
    assert ada.email == ""
    assert ada.first_name == "Ada" + "a" * 147
    assert ada.last_name == "['of', 'the', 'lab']"
    assert ada.username.isprintable()
    assert len(ada.username) <= 150


def test_the_same_subject_of_another_issuer_is_another_person(provider):
    stranger = User.objects.create_user("otto")
    SocialAccount.objects.create(user=stranger, provider="https://old.example.org", uid="person-1")
    client, _ = sign_in(provider)
    assert user_of(client).username == "ada"


@pytest.fixture
def invitation(provider, change):
    """Rana's invitation of Ada's address to a set, as a viewer; nobody else may enter."""
    change(domains=frozenset())
    rana = crowd.user("rana", is_staff=True)
    return create_invitation_link(rana.pk, "viewer", question_set=crowd.version(rana).question_set,
                       email="Ada@lab.org")  # fmt: skip


@pytest.mark.medium
def test_an_invitation_to_a_verified_address_opens_the_site_and_is_used(provider, invitation):
    link, _ = invitation
    client, _ = sign_in(provider)
    ada = user_of(client)
    share = Share.objects.get(user=ada)
    assert (share.question_set, share.role, share.pending) == (link.question_set, "viewer", False)
    link.refresh_from_db()
    assert (link.state, link.used_by) == ("used", ada)
    assert client.get(reverse("admin:index")).status_code == 200
    # Also later, when the invitation is used.
    again, _ = sign_in(provider)
    assert user_of(again) == ada


def test_an_invitation_to_an_address_that_is_not_verified_opens_nothing(provider, invitation):
    provider.person["email_verified"] = False
    client, response = sign_in(provider)
    assert (code_of(response), user_of(client)) == ("unknown", None)
    assert Share.objects.count() == 0


def test_an_expired_invitation_opens_nothing(provider, invitation):
    InvitationLink.objects.update(expires_at=timezone.now())
    assert code_of(sign_in(provider)[1]) == "unknown"


def test_who_has_the_link_of_an_invitation_enters_and_joins_by_it(provider, invitation):
    _, token = invitation
    provider.person |= {"email": "elsewhere@else.org"}
    join = reverse("admin:join", args=[token])
    client, response = sign_in(provider, next=join)
    assert response.url == join
    assert Share.objects.count() == 0
    client.post(join)
    assert Share.objects.get().user == user_of(client)


# Links of accounts


@pytest.fixture
def rana(provider):
    """Rana's client, just signed in by password, and her account."""
    account = User.objects.create_user("rana", password="right battery 9", is_staff=True)
    client = Client()
    client.post(reverse("admin:login"), {"username": "rana", "password": "right battery 9"})
    assert user_of(client) == account
    return client, account


@pytest.mark.medium
def test_an_account_is_linked_by_its_user_and_then_opened_by_the_provider(provider, rana):
    client, account = rana
    _, response = sign_in(provider, client, process="connect")
    assert response.url == reverse("admin:account")
    assert b'data-link="linked"' in client.get(reverse("admin:account")).content
    other, _ = sign_in(provider)
    assert user_of(other) == account
    assert ("linked", "rana", "openid") in events()


@pytest.mark.medium
def test_an_identity_of_one_account_is_not_linked_with_another(provider, rana):
    sign_in(provider)
    client, account = rana
    sign_in(provider, client, process="connect")
    assert not SocialAccount.objects.filter(user=account).exists()
    assert user_of(client) == account


def test_linking_asks_for_the_password_some_minutes_after_the_sign_in(provider, rana, monkeypatch):
    client, account = rana
    later = SimpleNamespace(time=lambda: time.time() + 600)
    monkeypatch.setattr("crowdgrade.sign_in.adapters.time", later)
    _, response = sign_in(provider, client, process="connect")
    assert response.url == reverse("account_reauthenticate")
    assert not SocialAccount.objects.exists()
    wrong = client.post(response.url, {"password": "wrong"})
    assert wrong.status_code == 400
    assert not SocialAccount.objects.exists()
    client.post(response.url, {"password": "right battery 9"})
    assert SocialAccount.objects.get().user == account


@pytest.mark.medium
def test_the_link_is_removed_but_not_as_the_last_way_to_sign_in(provider, rana):
    client, account = rana
    sign_in(provider, client, process="connect")
    client.post(reverse("openid-unlink"))
    assert not SocialAccount.objects.exists()
    assert events()[-1] == ("unlinked", "rana", "openid")
    sign_in(provider, client, process="connect")
    account.set_unusable_password()
    account.save()
    ada, _ = sign_in(provider)
    ada.post(reverse("openid-unlink"))
    assert SocialAccount.objects.count() == 1


def test_nobody_links_without_being_signed_in(provider):
    response = begin(Client(), process="connect")
    assert response.url == reverse("admin:login")


# The sign-in page


def test_the_sign_in_page_offers_what_opens_the_site(provider, settings):
    User.objects.create_user("rana")
    page = Client().get(reverse("admin:login")).content
    assert b"Lab" in page
    assert b'name="password"' in page
    settings.PASSWORD_SIGN_IN = False
    assert b'name="password"' not in Client().get(reverse("admin:login")).content
    settings.OPENID, settings.PASSWORD_SIGN_IN = None, True
    assert b"openid" not in Client().get(reverse("admin:login")).content
    assert begin(Client()).status_code == 404


def test_without_passwords_a_right_one_opens_nothing_and_no_account_is_made(provider, settings):
    settings.PASSWORD_SIGN_IN = False
    rana = User.objects.create_user("rana", password="right battery 9", is_staff=True)
    client = Client()
    sent = {"username": "rana", "password": "right battery 9"}
    refused = client.post(reverse("admin:login"), sent)
    assert refused.context_data["form"].non_field_errors().as_data()[0].code == "no_passwords"
    assert user_of(client) is None
    _, token = create_invitation_link(rana.pk, "requester")
    new = {"username": "ben", "password1": "right battery 9", "password2": "right battery 9"}
    client.post(reverse("admin:join", args=[token]), new)
    assert not User.objects.filter(username="ben").exists()


def test_every_refusal_has_a_sentence_that_ends():
    assert all(text.endswith(".") for text in REFUSALS.values())
