"""Invitations by mail: each address gets a link of its own, and its own result."""

import logging
import re
import socket
from datetime import timedelta
from email import message_from_string, policy

import pytest
from django.core import mail
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from crowdgrade.invitation_links.links import find_invitation_link
from crowdgrade.invitation_links.mailing import MOST_A_DAY, MOST_ADDRESSES, parse_mail_addresses
from crowdgrade.models import InvitationLink
from tests.annotations import world
from tests.annotations.answering.conftest import made_set
from tests.crowdgrade.smtp_server import open_mail_server
from tests.desk.flashes import flashed
from tests.evaluation.site.handles import error_codes

pytestmark = pytest.mark.django_db
SMTP = "django.core.mail.backends.smtp.EmailBackend"
LINK = re.compile(r"http://testserver(/admin/join/[\w-]{43}/)")


@pytest.fixture(autouse=True)
def _sends_mail(settings):
    settings.SENDS_MAIL = True  # and locmem takes it


@pytest.fixture
def rana():
    return world.user("rana", is_staff=True)


@pytest.fixture
def tides(rana):
    return made_set(rana)


@pytest.fixture
def client(rana):
    signed_in = Client()
    signed_in.force_login(rana)
    return signed_in


def page_of(question_set):
    return reverse("admin:invitation-links", args=[question_set.public_id])


def invite(client, question_set, emails, role="viewer"):
    return client.post(page_of(question_set), {"role": role, "note": "pilot", "emails": emails})


def results(response):
    return [(one.link.email, one.error) for one in response.context_data["mailed"]]


def again(client, question_set):
    link = InvitationLink.objects.get()
    address = reverse("admin:invitation-link-mail", args=[question_set.public_id, link.public_id])
    return client.post(address, follow=True)


def test_each_address_gets_a_link_that_works_and_is_not_on_the_page(client, tides):
    made = invite(client, tides, "vera@example.org, ed@example.org\nvera@example.org")
    assert results(made) == [("vera@example.org", ""), ("ed@example.org", "")]
    assert [sent.to for sent in mail.outbox] == [["vera@example.org"], ["ed@example.org"]]
    paths = [LINK.search(sent.body).group(1) for sent in mail.outbox]
    assert len(set(paths)) == 2
    said = made.content.decode()
    assert made.context_data["address"] == ""
    assert not LINK.search(said)
    assert said.count('data-mail="sent"') == 4  # of each the result, and the row of the list
    assert Client().get(paths[0]).status_code == 200
    for sent in mail.outbox:
        assert ("rana" in sent.body, "tides" in sent.body) == (True, True)
        assert sent.from_email == "crowdgrade@localhost"
    assert set(InvitationLink.objects.values_list("role", "note", "mail_error")) == {
        ("viewer", "pilot", "")
    }
    assert InvitationLink.objects.filter(mailed_at=None).count() == 0


def test_without_addresses_there_is_a_link_to_copy(client, tides):
    made = invite(client, tides, " ")
    assert LINK.search(made.context_data["address"])
    assert mail.outbox == []
    assert InvitationLink.objects.get().email == ""


def test_without_a_mail_server_the_page_says_so_and_ignores_addresses(client, tides, settings):
    settings.SENDS_MAIL = False
    page = client.get(page_of(tides))
    assert 'data-state="no_mail"' in page.content.decode()
    assert "emails" not in page.context_data["form"].fields
    made = invite(client, tides, "vera@example.org")
    assert LINK.search(made.context_data["address"])
    assert mail.outbox == []
    InvitationLink.objects.update(email="vera@example.org")
    assert flashed(again(client, tides)) == ["mail_too_soon"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("vera", "invalid_email"),
        ("vera@example.org, ed@", "invalid_email"),
        ("a@example.org\r\nBcc:b@example.org", "invalid_email"),
        (" ".join(f"p{n}@example.org" for n in range(MOST_ADDRESSES + 1)), "too_many"),
    ],
)
def test_addresses_that_cannot_be_used_send_nothing_and_stay_in_the_form(client, tides, text, code):
    with pytest.raises(ValidationError) as refused:
        parse_mail_addresses(text)
    assert refused.value.code == code
    page = invite(client, tides, text)
    assert page.status_code == 400
    form = page.context_data["form"]
    assert error_codes(form.errors.as_data()["emails"]) == [code]
    assert form["emails"].value() == text
    assert (InvitationLink.objects.count(), mail.outbox) == (0, [])


def test_a_user_may_send_a_limited_number_a_day_and_an_operator_any(client, rana, tides):
    InvitationLink.objects.bulk_create(
        InvitationLink(
            token_hash=str(n), role="requester", created_by=rana, email="x@example.org",
            expires_at=timezone.now(), mailed_at=timezone.now(), n_mails=n_mails,
        )
        # One of them was sent again and again.
        for n, n_mails in enumerate([1, 1, MOST_A_DAY - 3])
    )  # fmt: skip
    refused = invite(client, tides, "vera@example.org ed@example.org")
    assert error_codes(refused.context_data["form"].errors.as_data()["emails"]) == [
        "too_many_today"
    ]
    assert results(invite(client, tides, "vera@example.org")) == [("vera@example.org", "")]
    assert invite(client, tides, "ed@example.org").status_code == 400
    rana.is_superuser = True
    rana.save()
    assert results(invite(client, tides, "ed@example.org")) == [("ed@example.org", "")]


def test_sent_again_the_new_link_works_and_the_old_one_does_not(client, tides):
    invite(client, tides, "vera@example.org")
    assert flashed(again(client, tides)) == ["mail_too_soon"]
    InvitationLink.objects.update(
        mailed_at=timezone.now() - timedelta(minutes=2),
        expires_at=timezone.now() - timedelta(days=1),
    )
    assert results(again(client, tides)) == [("vera@example.org", "")]
    old, new = (LINK.search(sent.body).group(1) for sent in mail.outbox)
    assert Client().get(old).status_code == 404
    assert Client().get(new).status_code == 200
    assert InvitationLink.objects.get().state == "open"


def test_a_link_that_was_used_is_not_sent_again(client, tides):
    invite(client, tides, "vera@example.org")
    InvitationLink.objects.update(mailed_at=None, used_at=timezone.now())
    assert flashed(again(client, tides)) == ["used"]
    assert len(mail.outbox) == 1


def test_a_link_to_copy_is_not_mailed(client, tides):
    invite(client, tides, "")
    assert again(client, tides).status_code == 404


def test_only_who_manages_the_set_sends_invitations(tides):
    otto = world.user("otto", is_staff=True)
    signed_in = Client()
    signed_in.force_login(otto)
    assert invite(signed_in, tides, "vera@example.org").status_code == 404
    assert mail.outbox == []


def test_operators_invite_requesters_by_mail(client, rana):
    rana.is_superuser = True
    rana.save()
    page = reverse("admin:requester-links")
    client.post(page, {"role": "requester", "note": "", "emails": "nina@example.org"})
    InvitationLink.objects.update(mailed_at=None, mail_error="connection")
    link = InvitationLink.objects.get()
    client.post(reverse("admin:requester-link-mail", args=[link.public_id]))
    assert [sent.to for sent in mail.outbox] == [["nina@example.org"]] * 2


@pytest.fixture
def server(settings):
    with open_mail_server() as mailbox:
        settings.EMAIL_BACKEND, settings.EMAIL_HOST = SMTP, "127.0.0.1"
        settings.EMAIL_PORT = mailbox.port
        yield mailbox


def test_a_server_that_refuses_one_address_gets_the_others(client, tides, server, caplog):
    server.refuses = {"ed@example.org"}
    caplog.set_level(logging.DEBUG)
    made = invite(client, tides, "vera@example.org ed@example.org nina@example.org")
    assert results(made) == [
        ("vera@example.org", ""),
        ("ed@example.org", "refused"),
        ("nina@example.org", ""),
    ]
    assert [to for to, _ in server.mails] == ["vera@example.org", "nina@example.org"]
    received = message_from_string(server.mails[0][1], policy=policy.default)
    path = LINK.search(received.get_content()).group(1)
    token = path.rstrip("/").rpartition("/")[2]
    assert find_invitation_link(token).email == "vera@example.org"
    (copied,) = set(LINK.findall(made.content.decode()))  # of the one that was refused
    assert find_invitation_link(copied.rstrip("/").rpartition("/")[2]).email == "ed@example.org"
    for secret in (token, copied, "example.org"):
        assert secret not in caplog.text
    assert InvitationLink.objects.get(email="ed@example.org").mail_error == "refused"


def test_a_server_that_is_down_is_a_result_of_each_address(client, tides, settings):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        settings.EMAIL_BACKEND, settings.EMAIL_HOST = SMTP, "127.0.0.1"
        settings.EMAIL_PORT = free.getsockname()[1]
    made = invite(client, tides, "vera@example.org ed@example.org")
    assert results(made) == [("vera@example.org", "connection"), ("ed@example.org", "connection")]
    assert len(set(LINK.findall(made.content.decode()))) == 2
    assert (
        list(InvitationLink.objects.values_list("mail_error", "n_mails")) == [("connection", 1)] * 2
    )
