"""Pages of webhooks: list, form, and a webhook with its deliveries."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotations.models import QuestionSet
from annotations.models.access import AnyUser
from annotations.web.pages import NEWEST_FIRST, Breadcrumbs, load_page
from annotations.web.scope import get_editable, require_requester, select_visible
from annotations.web.texts import mark_code
from evaluation.models import Delivery, Webhook
from evaluation.models.webhooks import LONGEST_URL
from evaluation.runs.background.progress import HOW_TO_START, is_any_process_running
from evaluation.webhooks.messages import EVENT_TYPES, FAILURES, LABELS, TEST, WebhookError
from evaluation.webhooks.storage import (
    SECONDS,
    create_webhook,
    edit_webhook,
    queue_delivery_again,
    queue_test_event,
    renew_secret,
    set_webhook_state,
)
from evaluation.webhooks.turns import MOST_FAILURES, PAUSES

SETS_OFFERED = 200
SECONDS_BETWEEN_LOOKS = 3
"""Seconds until a page with a delivery that is due is loaded again."""


class WebhookForm(forms.Form):
    """Form of a webhook: name, address, events and question set."""

    name = forms.CharField(label="Name", max_length=100, help_text="For yourself, such as Lab bot.")
    url = forms.CharField(
        label="Address",
        max_length=LONGEST_URL,
        help_text="Events are sent to it by POST, such as https://example.org/crowdgrade.",
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off"}),
    )
    events = forms.MultipleChoiceField(
        label="Events",
        choices=list(EVENT_TYPES.items()),
        widget=forms.CheckboxSelectMultiple,
    )
    question_set = forms.ChoiceField(label="Question set", required=False)

    def __init__(self, owner: AnyUser, webhook: Webhook | None, *args: Any, **kwargs: Any) -> None:
        """Offer the sets that the owner edits; fill the form from `webhook`, None for a new one."""
        if webhook is not None:
            chosen = webhook.question_set.public_id if webhook.question_set else ""
            values = {"name": webhook.name, "url": webhook.url, "events": webhook.events}
            kwargs["initial"] = {**values, "question_set": str(chosen)}
        super().__init__(*args, **kwargs)
        sets = QuestionSet.objects.editable_by(owner).filter(archived_at=None).order_by("-id")
        choices = [(str(row.public_id), row.name) for row in sets[:SETS_OFFERED]]
        if webhook is not None and webhook.question_set is not None:
            present = (str(webhook.question_set.public_id), webhook.question_set.name)
            choices = [present, *(choice for choice in choices if choice != present)]
        field = self.fields["question_set"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", "All that you own or edit in a team"), *choices]

    def read_values(self) -> dict[str, Any]:
        """Return the arguments of `create_webhook` and `edit_webhook` from the valid form."""
        values = dict(self.cleaned_data)
        chosen = values["question_set"]
        return values | {"question_set": UUID(chosen) if chosen else None}


def show_webhooks(request: HttpRequest) -> HttpResponse:
    """Show the list of the user's webhooks, newest first; an operator sees all."""
    require_requester(request)
    rows = select_visible(request, Webhook.objects.select_related("owner", "question_set"))
    context = {
        "title": "Webhooks",
        "subtitle": "Crowdgrade sends events of your question sets to an address of yours.",
        "page": load_page(request, rows, NEWEST_FIRST),
        "labels": LABELS,
    }
    return TemplateResponse(request, "evaluation/webhooks/list.html", context)


# No cache may keep a page that shows a secret.
@never_cache
def add_webhook(request: HttpRequest) -> HttpResponse:
    """Show the form of a new webhook; POST creates it and shows its secret, only this time."""
    require_requester(request)
    form = WebhookForm(request.user, None, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            webhook, secret = create_webhook(request.user, **form.read_values())
        except WebhookError as error:
            _add_form_error(form, error)
        else:
            return _render_webhook_page(request, webhook, secret)
    return _render_webhook_form(request, form, "New webhook", None)


def change_webhook(request: HttpRequest, webhook_id: UUID) -> HttpResponse:
    """Show the form of a webhook; POST changes it."""
    webhook = _find_webhook(request, webhook_id)
    form = WebhookForm(webhook.owner, webhook, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            edit_webhook(webhook, **form.read_values())
        except WebhookError as error:
            _add_form_error(form, error)
        else:
            messages.success(request, "Saved.", "saved")
            return redirect("admin:webhook", webhook.public_id)
    return _render_webhook_form(request, form, f"Edit {webhook.name}", webhook)


def show_webhook(request: HttpRequest, webhook_id: UUID) -> HttpResponse:
    """Show a webhook with its deliveries."""
    return _render_webhook_page(request, _find_webhook(request, webhook_id))


@require_POST
def send_test_event(request: HttpRequest, webhook_id: UUID) -> HttpResponse:
    """Queue a test event for a webhook, and redirect to its page."""
    webhook = _find_webhook(request, webhook_id)
    queue_test_event(webhook)
    messages.success(request, "A test event is queued.", "test_queued")
    return redirect("admin:webhook", webhook.public_id)


@never_cache
@require_POST
def renew_webhook_secret(request: HttpRequest, webhook_id: UUID) -> HttpResponse:
    """Replace a webhook's secret and show the new one, only this time."""
    webhook = _find_webhook(request, webhook_id)
    return _render_webhook_page(request, webhook, renew_secret(webhook))


@require_POST
def switch_webhook(request: HttpRequest, webhook_id: UUID) -> HttpResponse:
    """Switch a webhook on (`on`=1) or off."""
    webhook = _find_webhook(request, webhook_id)
    set_webhook_state(webhook, on=request.POST.get("on") == "1")
    text, code = ("Switched on.", "on") if webhook.is_on else ("Switched off.", "off")
    messages.success(request, text, code)
    return redirect("admin:webhook", webhook.public_id)


def delete_webhook(request: HttpRequest, webhook_id: UUID) -> HttpResponse:
    """Ask whether to delete a webhook with its deliveries; POST deletes it."""
    webhook = _find_webhook(request, webhook_id)
    if request.method == "POST":
        webhook.delete()
        messages.success(request, f"The webhook “{webhook.name}” is deleted.", "deleted")
        return redirect("admin:webhooks")
    context = {
        "title": f"Delete {webhook.name}?",
        "breadcrumbs": _build_breadcrumbs(webhook),
        "webhook": webhook,
        "n_deliveries": webhook.deliveries.count(),
    }
    return TemplateResponse(request, "evaluation/webhooks/delete.html", context)


@require_POST
def send_delivery_again(request: HttpRequest, webhook_id: UUID, delivery_id: UUID) -> HttpResponse:
    """Queue a delivery of an event again, and redirect to the webhook's page."""
    webhook = _find_webhook(request, webhook_id)
    delivery = get_object_or_404(webhook.deliveries, public_id=delivery_id)
    if queue_delivery_again(delivery):
        messages.success(request, "The event is queued again.", "queued_again")
    else:
        messages.info(request, "The event waits already.", "waits")
    return redirect("admin:webhook", webhook.public_id)


def _render_webhook_page(
    request: HttpRequest, webhook: Webhook, secret: str | None = None
) -> HttpResponse:
    """Return the page of a webhook; while a delivery is due, it loads itself again."""
    deliveries = webhook.deliveries.select_related("event__question_set", "event__run")
    page = load_page(request, deliveries, NEWEST_FIRST)
    failures = {code: text.format(seconds=SECONDS) for code, text in FAILURES.items()}
    is_sending = any(
        row.state == Delivery.State.WAITING
        and not row.tries
        and (webhook.is_on or row.event.type == TEST)
        for row in page
    )
    context = {
        "title": webhook.name,
        "subtitle": "Webhook",
        "breadcrumbs": _build_breadcrumbs(),
        "webhook": webhook,
        "secret": secret,
        "events": [LABELS[event] for event in webhook.events],
        "page": page,
        "rows": [(row, LABELS[row.event.type], failures.get(row.error, row.error)) for row in page],
        "is_sending": is_sending,
        "how_to_start": ""
        if not is_sending or is_any_process_running()
        else mark_code(HOW_TO_START),
        "most_attempts": len(PAUSES) + 1,
        "most_failures": MOST_FAILURES,
        "seconds": SECONDS_BETWEEN_LOOKS,
    }
    response = TemplateResponse(request, "evaluation/webhooks/webhook.html", context)
    if is_sending and request.method == "GET":
        response.headers["Refresh"] = str(SECONDS_BETWEEN_LOOKS)
    return response


def _render_webhook_form(
    request: HttpRequest, form: WebhookForm, title: str, webhook: Webhook | None
) -> HttpResponse:
    """Return the page with the form of a webhook, None for a new one."""
    context = {
        "title": title,
        "breadcrumbs": _build_breadcrumbs(webhook),
        "form": form,
        "webhook": webhook,
    }
    status = 400 if form.errors else 200
    return TemplateResponse(request, "evaluation/webhooks/form.html", context, status=status)


def _add_form_error(form: WebhookForm, error: WebhookError) -> None:
    """Add the error of an invalid webhook to its form field, or to the whole form."""
    form.add_error(error.field or None, ValidationError(str(error), error.code))


def _find_webhook(request: HttpRequest, webhook_id: UUID) -> Webhook:
    """Return a webhook that the user may change, with owner and question set; else Http404."""
    return get_editable(
        request, Webhook.objects.select_related("owner", "question_set"), webhook_id
    )


def _build_breadcrumbs(webhook: Webhook | None = None) -> Breadcrumbs:
    """Return the breadcrumbs of a page of webhooks, with the page of `webhook` if it is given."""
    trail = [("Webhooks", reverse("admin:webhooks"))]
    if webhook is not None:
        trail.append((webhook.name, reverse("admin:webhook", args=[webhook.public_id])))
    return trail
