"""Pages of files for panels, and of invitations.

Downloads of lists for panels, and imports of decisions and panel statuses. Page to invite the best
workers again: count those above a threshold, and send their ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth import get_user_model
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import capfirst
from django.views.decorators.http import require_GET, require_POST

from annotations.exchange.problems import InputError
from annotations.exchange.reading.source import Readable
from annotations.exchange.writing.formats import write_lines
from annotations.ledger.decisions import find_answered_version
from annotations.ledger.errors import NothingToSendError
from annotations.ledger.files import import_decisions
from annotations.ledger.panel_lists import (
    BONUSES,
    EXTENSIONS,
    FORMATS,
    PAYMENT_LISTS,
    ListRequest,
    NoListError,
    build_list_name,
    claim_payments_of_list,
    format_payment_list,
)
from annotations.models import QuestionSet, QuestionSetVersion
from annotations.panels.groups import load_requested_groups
from annotations.panels.statuses import import_statuses
from annotations.web.downloads import build_download_response, build_file_name
from annotations.web.upload_kinds import UploadKind, register_upload_kind
from evaluation.core.options import SITE
from evaluation.payments.storage.evidence import get_payable_version
from evaluation.payments.storage.fairness import compare_rejections, format_group_rates
from evaluation.payments.storage.invitations import (
    ENDS,
    MOST,
    InvitedWorkers,
    ScoreThreshold,
    list_panels,
    select_invited_workers,
)
from evaluation.payments.storage.rules import SCORE, RuleError
from evaluation.payments.views.people import build_shared_context
from evaluation.runs.raw_scores import (
    CONTRAST,
    RAW,
    SCORES,
    compute_score_distribution,
    find_grading_run,
    load_worker_scores,
)


@require_GET
def send_panel_list(
    request: HttpRequest, set_id: UUID, name: str
) -> HttpResponse | StreamingHttpResponse:
    """Send a list for a panel as a file; a payment list needs `batch` in the query.

    Claiming a new payment list takes a POST (`send_new_payment_list`).
    """
    version = get_payable_version(request, set_id)
    batch = request.GET.get("batch") or None
    # A second download of a claimed list has the same lines, so no payment is sent twice.
    if name not in FORMATS or (name in PAYMENT_LISTS and batch is None):
        raise Http404("there is no such list")
    try:
        chunks, _ = FORMATS[name](version, ListRequest(batch, request.user))
    except NoListError as error:
        raise Http404(str(error)) from None
    return build_download_response(
        chunks, build_list_name(version, name), EXTENSIONS.get(name, "csv")
    )


@require_POST
def send_new_payment_list(
    request: HttpRequest, set_id: UUID
) -> HttpResponse | StreamingHttpResponse:
    """Claim the confirmed payments for one list and send it; no other list contains them.

    `list` in the request is the name of the list: bonuses (default) or parts of the pay.
    """
    version = get_payable_version(request, set_id)
    name = request.POST.get("list", BONUSES)
    if name not in PAYMENT_LISTS:
        raise Http404("there is no such list")
    try:
        batch = claim_payments_of_list(version, request.user, name)
    except NothingToSendError:
        # Two users may claim at once: the second one finds nothing left.
        code = "no_bonus_left" if name == BONUSES else "no_part_left"
        messages.warning(request, f"No confirmed {PAYMENT_LISTS[name]} was left to be sent.", code)
        query = build_shared_context(version, "")["kept"]
        return redirect(reverse("admin:paying-bonuses", args=[set_id]) + query)
    return build_download_response(
        format_payment_list(version, batch), build_list_name(version, name), "csv"
    )


@dataclass
class PaymentUploadReport:
    """Result of an import of decisions or statuses, for the upload pages.

    Attributes
    ----------
    report : result of the import. what : "decisions" or "statuses".
    notes : sentences about the result. counted : the numbers in the notes, by name.
    """

    report: Any
    what: str
    notes: list[str]
    counted: dict[str, Any]

    @property
    def changed(self) -> bool:
        """Whether the import stored any new row."""
        return bool(self.report.n_new or getattr(self.report, "n_new_bonuses", 0))

    def as_dict(self) -> dict[str, Any]:
        """Return the import result as the dict that every upload page shows."""
        return {
            "what": self.what,
            "version": self.report.version.rpartition(" ")[2],
            "n_rows": self.report.n_rows,
            "n_new": self.report.n_new,
            "n_unchanged": self.report.n_unchanged,
            "n_repeated": 0,
            "created": {},
            "warnings": self.report.warnings,
            "notes": self.notes,
            "counted": self.counted,
        }

    def lines(self) -> Iterator[str]:
        """Yield the import result as lines for a terminal."""
        yield from self.report.lines()


def import_uploaded_decisions(
    into: QuestionSet, source: Readable, *, dry_run: bool = False, imported_by: Any = None, **_: Any
) -> PaymentUploadReport:
    """Import the decisions of a file, every row or none; raise `InputError` if any is invalid.

    The notes compare how often groups of workers would not be rejected.
    """
    version, user = _get_answered_version(into), _load_user(imported_by)
    report = import_decisions(version, source, user, dry_run=dry_run)
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in sorted(report.n_by_kind.items()))
    notes = [f"Decisions: {kinds}."]
    if report.n_bonuses:
        notes.append(
            f"Bonuses: {report.n_bonuses:,}, {report.total_as_text} in all, "
            f"{report.n_new_bonuses:,} of them new. Importing confirms them, and sends nothing."
        )
    comparisons = compare_rejections(version, report.kinds)
    notes += [
        f"Not rejected, once this is decided, by {line}."
        for line in format_group_rates(comparisons)
    ]
    notes += [
        SITE.format_message(comparison.told)
        for comparison in comparisons
        if comparison.told is not None
    ]
    notes += [
        SITE.format_message(message)
        for comparison in comparisons
        for message in comparison.warnings
    ]
    counted: dict[str, Any] = dict(report.n_by_kind)
    if report.n_bonuses:
        counted |= {"bonuses": report.n_bonuses, "new_bonuses": report.n_new_bonuses}
        counted["total"] = report.total_as_text
    return PaymentUploadReport(report, "decisions", notes, counted)


def import_uploaded_statuses(
    into: QuestionSet, source: Readable, *, dry_run: bool = False, imported_by: Any = None, **_: Any
) -> PaymentUploadReport:
    """Import the statuses of a panel's export; raise `InputError` if any row is invalid."""
    report = import_statuses(
        _get_answered_version(into), source, _load_user(imported_by), dry_run=dry_run
    )
    notes = list(report.describe_outcomes())
    return PaymentUploadReport(report, "statuses", notes, dict(report.by_status))


def _get_answered_version(question_set: QuestionSet) -> QuestionSetVersion:
    """Return the newest version with submissions; raise `InputError` if there is no version."""
    version = find_answered_version(question_set)
    if version is None:
        raise InputError.single("the question set", "it is empty", "It has no participants.")
    return version


def _load_user(key: Any) -> Any:
    """Return the user with a key, who imports a file."""
    return get_user_model().objects.get(pk=key)


PAYMENT_PAGE = ("admin:paying", "Pay people")

register_upload_kind(
    UploadKind(
        "decisions",
        "decisions",
        "One row for each worker: approve, reject (with the panel's category and a reason of at "
        "least 100 characters that the worker reads) or open, which takes back. A column bonus "
        "confirms an amount, written as 1.50. All rows are stored, or none.",
        "worker,decision,category,reason,bonus\nw1,approve,,,1.50\nw2,open,,,",
        "",
        str,
        import_uploaded_decisions,
        knows_who=True,
        return_link=PAYMENT_PAGE,
    )
)
register_upload_kind(
    UploadKind(
        "panel-statuses",
        "statuses from Prolific",
        "The file that Prolific exports for a study: with the status of each submission. Data "
        "about people (age, country ...) is not stored. Decisions do not change.",
        "Submission id,Participant id,Status,Started at,Completed at,Time taken\n"
        "66a...,5f1...,AWAITING REVIEW,2026-11-20T09:00:00Z,2026-11-20T09:14:00Z,840",
        "",
        str,
        import_uploaded_statuses,
        knows_who=True,
        return_link=PAYMENT_PAGE,
    )
)


MAX_LISTED = 100
"""Workers that the page lists by name."""


class ThresholdForm(forms.Form):
    """Form of the score threshold, with a choice of the panel if workers came from several."""

    score = forms.ChoiceField(
        label="Compare people by",
        choices=[(name, capfirst(label)) for name, label in SCORES.items()],
        required=False,
        help_text="Question contrast pays nothing for text that fits every question.",
    )
    at_least = forms.FloatField(label="Least score", min_value=-MOST, max_value=MOST)
    end = forms.ChoiceField(
        label="What has to reach it",
        choices=list(ENDS.items()),
        required=False,
        help_text="The lower end admits only workers who reach the score beyond chance.",
    )
    panel = forms.ChoiceField(label="Ids of which panel")

    def __init__(self, panels: list[str], data: Any = None) -> None:
        super().__init__(data)
        # Browsers refuse decimals in a number field whose step is 1.
        self.fields["at_least"].widget.attrs["step"] = "any"
        if len(panels) < 2:
            del self.fields["panel"]
        else:
            panel_field: Any = self.fields["panel"]
            panel_field.choices = [(name, name) for name in panels]

    def build_threshold(self) -> ScoreThreshold:
        """Return the threshold of a valid form."""
        values = self.cleaned_data
        return ScoreThreshold(
            *(values["at_least"], values["end"] or SCORE, values.get("panel", "")),
            score=values["score"] or RAW,
        )


@require_GET
def show_invited_workers(
    request: HttpRequest, set_id: UUID
) -> HttpResponse | StreamingHttpResponse:
    """Show how many workers reach a threshold; `take=list` in the query sends their ids."""
    version = get_payable_version(request, set_id)
    run = find_grading_run(version)
    form = ThresholdForm(list_panels(version), request.GET if "at_least" in request.GET else None)
    invited_workers = (
        _select_invited(version, form) if run is not None and form.is_valid() else None
    )
    # A GET may send the list, because it changes nothing and names no score.
    if invited_workers is not None and invited_workers.ids and request.GET.get("take") == "list":
        name = build_file_name(version.question_set.name, f"version {version.number}", "invite")
        return build_download_response(write_lines(invited_workers.ids), name, "txt")
    query = request.GET.copy()
    query["take"] = "list"
    context = build_shared_context(version, "Invite the best again") | {
        "run": run,
        "spread": compute_score_distribution(load_worker_scores(run)),
        "spread_of_contrast": compute_score_distribution(load_worker_scores(run, score=CONTRAST)),
        "form": form,
        "found": invited_workers,
        "named": invited_workers.ids[:MAX_LISTED] if invited_workers else [],
        "more": max(0, len(invited_workers.ids) - MAX_LISTED) if invited_workers else 0,
        "link": f"?{query.urlencode()}",
        "groups": load_requested_groups(version.question_set),
    }
    status = 400 if form.errors else 200
    return TemplateResponse(request, "evaluation/payments/invite.html", context, status=status)


def _select_invited(version: QuestionSetVersion, form: ThresholdForm) -> InvitedWorkers | None:
    """Return the workers who reach the form's threshold; None after an error, added to the form."""
    try:
        return select_invited_workers(version, form.build_threshold())
    except RuleError as error:
        sentence = str(error)
        form_error = forms.ValidationError(f"{capfirst(sentence)}.", error.code)
        form.add_error(error.field or None, form_error)
        return None
