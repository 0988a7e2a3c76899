"""Pages of invitation links: create, withdraw, and join by one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from annotations.models import QuestionSet, is_operator
from annotations.models.access import AnyUser
from annotations.web.pages import build_breadcrumbs
from annotations.web.scope import get_manageable, get_user_id
from crowdgrade.first_account import BACKEND, NewAccountForm
from crowdgrade.invitation_links.links import (
    InvitationError,
    Role,
    create_invitation_link,
    find_invitation_link,
    select_invitation_links,
    use_invitation_link,
)
from crowdgrade.invitation_links.mailing import (
    MOST_A_DAY,
    OFFERS,
    PAUSE,
    MailResult,
    count_mails_left,
    invite_by_mail,
    mail_invitation_again,
    parse_mail_addresses,
)
from crowdgrade.models.invitation_links import VALID_FOR, InvitationLink

MAX_LINKS_SHOWN = 100


class InvitationLinkForm(forms.Form):
    """Form with the role, the note and the mail addresses of new invitation links."""

    role = forms.ChoiceField(label="Role", choices=[])
    note = forms.CharField(
        label="Note",
        max_length=120,
        required=False,
        help_text="For you: who gets the link. The person does not see it.",
    )

    emails = forms.CharField(
        label="Mail addresses",
        required=False,
        max_length=6_000,
        widget=forms.Textarea(attrs={"rows": 2, "autocomplete": "off", "spellcheck": "false"}),
        help_text="Each gets a link of its own by mail. Leave it empty for one link to copy.",
    )

    def __init__(
        self, user: AnyUser, question_set: QuestionSet | None, *args: object, **kwargs: object
    ) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.user = user
        if not settings.SENDS_MAIL:
            del self.fields["emails"]
        choices = [
            (Role.VIEWER, "viewer: sees everything, changes nothing"),
            (Role.EXPERT, "expert: judges answers without knowing whose they are"),
        ]
        requester = [(Role.REQUESTER, "requester: makes question sets")]
        field = self.fields["role"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = requester if question_set is None else choices

    def clean_emails(self) -> list[str]:
        """Return the mail addresses; raise `ValidationError` if invalid or too many for today."""
        addresses = parse_mail_addresses(self.cleaned_data["emails"])
        left = count_mails_left(int(self.user.pk or 0))
        if len(addresses) > left and not is_operator(self.user):
            text = "You may send %(left)s more mails today, %(most)s a day."
            values = {"left": left, "most": MOST_A_DAY}
            raise ValidationError(text, "too_many_today", values)
        return addresses


@never_cache
def manage_set_links(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """List a question set's links; POST creates one (for its owner and operators)."""
    question_set = get_manageable(request, QuestionSet.objects.all(), set_id)
    return _handle_links_page(request, question_set)


@never_cache
def manage_requester_links(request: HttpRequest) -> HttpResponse:
    """List the links for new requesters; POST creates one (for operators)."""
    _require_operator(request)
    return _handle_links_page(request, None)


@require_POST
def withdraw_set_link(request: HttpRequest, set_id: UUID, link_id: UUID) -> HttpResponse:
    """Delete an unused invitation link of a question set."""
    question_set = get_manageable(request, QuestionSet.objects.all(), set_id)
    _withdraw_link(request, question_set, link_id)
    return redirect("admin:invitation-links", question_set.public_id)


@require_POST
def withdraw_requester_link(request: HttpRequest, requester_link_id: UUID) -> HttpResponse:
    """Delete an unused invitation link for a requester."""
    _require_operator(request)
    _withdraw_link(request, None, requester_link_id)
    return redirect("admin:requester-links")


@never_cache
@require_POST
def mail_set_link_again(request: HttpRequest, set_id: UUID, link_id: UUID) -> HttpResponse:
    """Send an invitation to a question set again, with a new link."""
    question_set = get_manageable(request, QuestionSet.objects.all(), set_id)
    return _mail_link_again(request, question_set, link_id)


@never_cache
@require_POST
def mail_requester_link_again(request: HttpRequest, requester_link_id: UUID) -> HttpResponse:
    """Send an invitation of a requester again, with a new link."""
    _require_operator(request)
    return _mail_link_again(request, None, requester_link_id)


@never_cache
@sensitive_post_parameters()
def join_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Show what a link offers; POST joins with the signed-in account or a new one."""
    link = find_invitation_link(token)
    if link is None:
        return TemplateResponse(request, "admin/invitation_links/unknown.html", status=404)
    is_known = request.user.is_authenticated
    is_sent = request.method == "POST" and link.state == "open"
    # A signed-in account joins itself; the form is only for a new one.
    form = NewAccountForm(request.POST if is_sent and not is_known else None)
    refused = "" if link.state == "open" else link.state
    may_join = is_known or (settings.PASSWORD_SIGN_IN and form.is_valid())
    if is_sent and may_join:
        try:
            user = use_invitation_link(link, partial(_find_or_create_account, request, form))
        except InvitationError as error:
            refused = error.code
        else:
            return _redirect_after_joining(request, link, user, is_known=is_known)
    context = {
        "title": "You are invited",
        "link": link,
        "offer": OFFERS[Role(link.role)],
        "form": form,
        "is_known": is_known,
        "refused": refused,
        "openid": settings.OPENID,
        "passwords": settings.PASSWORD_SIGN_IN,
        "reason": str(InvitationError(refused)) if refused else "",
        "sign_in": f"{reverse('admin:login')}?next={request.path}",
    }
    # Gone (410) for a used or expired link, 409 if only this account cannot use it.
    status = 410 if link.state != "open" else 409 if refused else 400 if form.errors else 200
    return TemplateResponse(request, "admin/invitation_links/join.html", context, status=status)


def _find_or_create_account(request: HttpRequest, form: NewAccountForm) -> User:
    """Return the signed-in account, else the account created by a valid form."""
    account: Any = request.user if request.user.is_authenticated else form.save()
    return account


def _redirect_after_joining(
    request: HttpRequest, link: InvitationLink, user: User, *, is_known: bool
) -> HttpResponse:
    """Sign a new account in, and redirect to the question set or the overview."""
    if not is_known:
        login(request, user, BACKEND)
    messages.success(request, "You have joined.", "joined")
    if link.question_set is None:
        return redirect("admin:index")
    return redirect("admin:question-set", link.question_set.public_id)


def _mail_link_again(
    request: HttpRequest, question_set: QuestionSet | None, link_id: UUID
) -> HttpResponse:
    """Send a mailed link again and show the result; raise `Http404` for other links."""
    mailed_links = (
        select_invitation_links(question_set).exclude(email="").select_related("created_by")
    )
    link = get_object_or_404(mailed_links, public_id=link_id)
    recent = link.mailed_at is not None and link.mailed_at > timezone.now() - PAUSE
    no_more = count_mails_left(get_user_id(request)) == 0 and not is_operator(request.user)
    if not settings.SENDS_MAIL or recent or no_more:
        messages.error(request, "Not sent again yet: wait a minute, or a day.", "mail_too_soon")
        return _redirect_to_links(question_set)
    try:
        mailed = [mail_invitation_again(link, partial(_build_join_url, request))]
    except InvitationError as error:
        messages.error(request, str(error), error.code)
        return _redirect_to_links(question_set)
    return _handle_links_page(request, question_set, mailed)


def _redirect_to_links(question_set: QuestionSet | None) -> HttpResponse:
    """Return the redirect to a question set's links; for None, to those for requesters."""
    if question_set is None:
        return redirect("admin:requester-links")
    return redirect("admin:invitation-links", question_set.public_id)


def _build_join_url(request: HttpRequest, token: str) -> str:
    """Return the full URL of the page at which a token's owner joins."""
    return request.build_absolute_uri(reverse("admin:join", args=[token]))


def _handle_links_page(
    request: HttpRequest, question_set: QuestionSet | None, mailed: Sequence[MailResult] = ()
) -> HttpResponse:
    """Return the page of links; POST creates one and shows it once, or mails several.

    `mailed` are results of mails that were sent already.
    """
    is_sent = request.method == "POST" and not mailed
    form = InvitationLinkForm(request.user, question_set, request.POST if is_sent else None)
    address = ""
    if is_sent and form.is_valid():
        values = form.cleaned_data
        given = (get_user_id(request), values["role"], values["note"], question_set)
        if emails := values.get("emails"):
            mailed = invite_by_mail(*given, emails, partial(_build_join_url, request))
        else:
            _, token = create_invitation_link(*given)
            # Shown only here: the database has the token's hash, from which no link can be made.
            address = _build_join_url(request, token)
        form = InvitationLinkForm(request.user, question_set)
    links = list(select_invitation_links(question_set)[: MAX_LINKS_SHOWN + 1])
    if question_set is None:
        trail = [("Users", reverse("admin:auth_user_changelist"))]
    else:
        sharing = reverse("admin:sharing", args=[question_set.public_id])
        trail = [*build_breadcrumbs(question_set), ("Sharing", sharing)]
    context = {
        "title": "Invite by link",
        "subtitle": "Each link is for one person, who needs no account yet. It is valid for "
        f"{VALID_FOR.days} days.",
        "breadcrumbs": trail,
        "question_set": question_set,
        "form": form,
        "address": address,
        "mailed": mailed,
        "n_failed": sum(bool(one.error) for one in mailed),
        "sends_mail": settings.SENDS_MAIL,
        "links": links[:MAX_LINKS_SHOWN],
        "any_mail": any(link.email for link in links),
        "has_more": len(links) > MAX_LINKS_SHOWN,
    }
    status = 400 if form.errors else 200
    return TemplateResponse(request, "admin/invitation_links/links.html", context, status=status)


def _withdraw_link(request: HttpRequest, question_set: QuestionSet | None, link_id: UUID) -> None:
    """Delete an unused link; raise `Http404` if it is unknown.

    A link that was used meanwhile stays.
    """
    link = get_object_or_404(select_invitation_links(question_set), public_id=link_id)
    # One statement, so that a link used between the look-up and here is not deleted.
    n_deleted, _ = InvitationLink.objects.filter(pk=link.pk, used_at=None).delete()
    if n_deleted:
        messages.success(request, "The link does not work any more.", "link_withdrawn")
    else:
        messages.error(request, "This link was used before, so it stays.", "link_used")


def _require_operator(request: HttpRequest) -> None:
    """Raise PermissionDenied unless the user is an operator."""
    if not is_operator(request.user):
        raise PermissionDenied("Only operators invite requesters.")
