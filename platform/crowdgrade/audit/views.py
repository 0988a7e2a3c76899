"""Pages of the audit log, for operators: downloads, decisions and sign-ins, also as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import islice
from typing import Any, Final

from django import forms
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import reverse

from annotations.exchange.writing.formats import write_csv
from annotations.models import ExportRead, SignInEvent, is_operator
from annotations.web.downloads import build_download_response
from crowdgrade.audit.entries import (
    DecisionEntry,
    LogFilter,
    read_decisions,
    select_exports,
    select_sign_ins,
)

MOST_SHOWN: Final = 200
"""Entries of a page; the CSV file has all."""
KINDS: Final = {
    "payment_decision": "decision for a panel",
    "payment": "bonus",
    "worker_decision": "decision about a worker",
    "alarm_review": "review of an alarm",
    "official_run": "official run",
    "action": "archive, delete, erase, accept",
}
"""Label by the kind of a decision."""
EXPORT_COLUMNS: Final = (
    *("time", "user", "interface", "set", "set_id", "run_id", "address", "file", "lines", "bytes"),
    "complete",
)
DECISION_COLUMNS: Final = ("time", "user", "kind", "choice", "set", "subject")
SIGN_IN_COLUMNS: Final = ("time", "user", "event", "detail", "address")


class DayInput(forms.DateInput):
    """Widget for the browser's date field; empty if the posted text is not a date."""

    input_type = "date"

    def format_value(self, value: Any) -> str | None:
        """Return the date as YYYY-MM-DD; None without one."""
        # A browser shows nothing for another text either, and reports an error of the page.
        try:
            return date.fromisoformat(str(value)).isoformat()
        except ValueError:
            return None


class AuditFilterForm(forms.Form):
    """Filter of the audit log; empty fields do not filter."""

    use_required_attribute = False

    user = forms.CharField(label="User name", required=False, max_length=150)
    name = forms.CharField(label="Part of the question set's name", required=False, max_length=200)
    since = forms.DateField(label="From", required=False, widget=DayInput)
    until = forms.DateField(label="Until", required=False, widget=DayInput)


class DecisionFilterForm(AuditFilterForm):
    """Filter of decisions, also by kind of decision."""

    kind = forms.ChoiceField(
        label="Kind",
        required=False,
        choices=[("", "All"), *((kind, KINDS[kind]) for kind in KINDS)],
    )


class SignInFilterForm(AuditFilterForm):
    """Filter of sign-ins, which belong to no question set."""

    name = None  # type: ignore[assignment]
    event = forms.ChoiceField(
        label="Event", required=False, choices=[("", "All"), *SignInEvent.Event.choices]
    )


def show_exports(request: HttpRequest) -> HttpResponseBase:
    """Show who downloaded which file; `format=csv` sends all entries."""
    _require_operator(request)
    form = AuditFilterForm(request.GET)
    values = _read_filter_values(form)
    rows = select_exports(LogFilter(**values)) if values is not None else ExportRead.objects.none()
    if values is not None and request.GET.get("format") == "csv":
        return _build_csv_response(
            "downloads", EXPORT_COLUMNS, _format_export_rows(rows.iterator(2000))
        )
    return _render_log_page(request, "exports", form, rows[: MOST_SHOWN + 1])


def show_decisions(request: HttpRequest) -> HttpResponseBase:
    """Show who made which decision; `format=csv` sends all entries."""
    _require_operator(request)
    form = DecisionFilterForm(request.GET)
    values = _read_filter_values(form)
    rows: Iterator[DecisionEntry] = iter(())
    if values is not None:
        kind = values.pop("kind")
        rows = read_decisions(LogFilter(**values), kind)
        if request.GET.get("format") == "csv":
            lines = (
                [e.at.isoformat(), e.user, e.kind, e.choice, e.set_name, e.subject] for e in rows
            )
            return _build_csv_response("decisions", DECISION_COLUMNS, lines)
    return _render_log_page(request, "decisions", form, rows)


def show_sign_ins(request: HttpRequest) -> HttpResponseBase:
    """Show who signed in, who was refused, and changes; `format=csv` sends all entries."""
    _require_operator(request)
    form = SignInFilterForm(request.GET)
    values = _read_filter_values(form)
    rows: QuerySet[SignInEvent] = SignInEvent.objects.none()
    if values is not None:
        event = values.pop("event")
        rows = select_sign_ins(LogFilter(**values), event)
        if request.GET.get("format") == "csv":
            lines = (
                [e.created_at.isoformat(), e.name, e.event, e.detail, e.address or ""]
                for e in rows.iterator(2000)
            )
            return _build_csv_response("sign-ins", SIGN_IN_COLUMNS, lines)
    return _render_log_page(request, "sign-ins", form, rows[: MOST_SHOWN + 1])


def _render_log_page(
    request: HttpRequest, what: str, form: AuditFilterForm, rows: Iterable[Any]
) -> HttpResponse:
    """Return the page of downloads, decisions or sign-ins with the newest entries."""
    entries = list(islice(rows, MOST_SHOWN + 1))
    query = request.GET.copy()
    query["format"] = "csv"
    titles = {"exports": "Downloads", "decisions": "Decisions", "sign-ins": "Sign-ins"}
    subtitles = {
        "exports": "Files that signed-in users downloaded. Entries are deleted after "
        f"{settings.EXPORT_LOG_DAYS} days.",
        "decisions": "Decisions of users, without their reasons.",
        "sign-ins": "Sign-ins, refusals and changes of the ways to sign in. Entries are deleted "
        f"after {settings.EXPORT_LOG_DAYS} days.",
    }
    context = {
        "title": titles[what],
        "subtitle": subtitles[what],
        "breadcrumbs": [("Audit log", reverse("admin:audit-exports"))],
        "what": what,
        "form": form,
        "is_filtered": any(request.GET.get(name) for name in form.fields),
        "entries": entries[:MOST_SHOWN],
        "has_more": len(entries) > MOST_SHOWN,
        "most": MOST_SHOWN,
        "csv": f"?{query.urlencode()}",
        "kinds": KINDS,
    }
    status = 400 if form.errors else 200
    return TemplateResponse(request, "admin/audit/log.html", context, status=status)


def _read_filter_values(form: AuditFilterForm) -> dict[str, Any] | None:
    """Return the valid values of a filter; None for an invalid one."""
    return dict(form.cleaned_data) if form.is_valid() else None


def _format_export_rows(rows: Iterable[ExportRead]) -> Iterator[list[object]]:
    """Yield downloads as rows of a CSV file."""
    for row in rows:
        yield [
            row.created_at.isoformat(),
            row.user.get_username(),
            *(row.interface, row.set_name, row.set_id or "", row.run_id or "", row.address),
            *(row.file, "" if row.lines is None else row.lines, row.n_bytes),
            "yes" if row.is_complete else "no",
        ]


def _build_csv_response(
    name: str, columns: tuple[str, ...], rows: Iterable[Sequence[object]]
) -> HttpResponseBase:
    """Return the response that sends entries of the log as a CSV file."""
    return build_download_response(write_csv(columns, rows), f"audit-{name}", "csv")


def _require_operator(request: HttpRequest) -> None:
    """Raise PermissionDenied unless the user is an operator."""
    if not is_operator(request.user):
        raise PermissionDenied("Only operators read the audit log.")
