"""Page of bonuses: try a rule, plan and confirm bonuses, and see the state of payments."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import capfirst
from django.views.decorators.http import require_http_methods

from annotations.exchange.money import parse_bonus_amount, parse_total_amount
from annotations.ledger import bonuses, confirmation, errors, parts, tallies
from annotations.ledger.decisions import WithdrawnError, load_decisions_where
from annotations.models import QuestionSetVersion
from evaluation.payments.storage.evidence import get_payable_version
from evaluation.payments.storage.rules import (
    KINDS,
    LOW,
    SCORE,
    BonusProposal,
    BonusRule,
    ProposalChangedError,
    RuleError,
    plan_proposed_bonuses,
    propose_bonuses,
)
from evaluation.payments.views.people import build_shared_context
from evaluation.runs.raw_scores import RAW, SCORES

MAX_LISTED = 200
"""Workers that the page lists by name."""
AMOUNT = {"inputmode": "decimal", "autocomplete": "off"}


class AmountField(forms.CharField):
    """Form field of an amount with at most two decimal places, such as 1.50."""

    def clean(self, value: Any) -> Any:
        """Return the amount as a Decimal; None for an empty optional field."""
        text = super().clean(value)
        if not text:
            return None
        try:
            return parse_bonus_amount(text)
        except ValueError as error:
            raise forms.ValidationError(f"{capfirst(str(error))}.", "amount") from None


class BonusRuleForm(forms.Form):
    """Form of a bonus rule and its round.

    `evaluation.payments.storage.rules` validates the rule.
    """

    kind = forms.ChoiceField(label="Who gets a bonus", choices=list(KINDS.items()))
    amount = AmountField(
        label="Amount",
        max_length=20,
        widget=forms.TextInput(attrs=AMOUNT),
        help_text="Such as 1.50: for each person, or for each answer.",
    )
    share = forms.FloatField(
        label="Best percent of people",
        required=False,
        min_value=0,
        max_value=100,
        help_text="For the best share: 20 is the best fifth. Who ties with the last gets it too.",
    )
    score = forms.ChoiceField(
        label="Compare people by",
        choices=[(name, capfirst(label)) for name, label in SCORES.items()],
        required=False,
        help_text="Question contrast pays nothing for text that fits every question.",
    )
    at_least = forms.FloatField(
        label="Least score", required=False, min_value=-1000, max_value=1000
    )
    end = forms.ChoiceField(
        label="What has to reach it",
        choices=[(SCORE, "the score"), (LOW, "the lower end of its interval")],
        required=False,
    )
    least = AmountField(
        label="Warn below this pay an hour",
        required=False,
        max_length=20,
        widget=forms.TextInput(attrs=AMOUNT),
    )
    round = forms.CharField(
        label="Name of the bonus",
        max_length=bonuses.LONGEST_ROUND,
        initial=bonuses.ROUND,
        help_text="Of a name everybody has one: one more bonus needs another name.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Browsers refuse decimals in a number field whose step is 1.
        for name in ("share", "at_least"):
            self.fields[name].widget.attrs["step"] = "any"

    def clean_round(self) -> str:
        """Return the round's name; the name reserved for partial payments is invalid."""
        try:
            return bonuses.validate_bonus_round(self.cleaned_data["round"])
        except errors.RoundError as error:
            sentence = str(error)
            raise forms.ValidationError(f"{capfirst(sentence)}.", "reserved_name") from None

    def build_rule(self) -> BonusRule:
        """Return the rule of a valid form, with the percentage converted to a share."""
        values = self.cleaned_data
        share = None if values["share"] is None else values["share"] / 100
        return BonusRule(
            *(values["kind"], values["amount"], share, values["at_least"]),
            end=values["end"] or SCORE,
            score=values["score"] or RAW,
        )


@require_http_methods(["GET", "HEAD", "POST"])
def show_bonuses(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show all payments and try a rule; a POST plans, confirms or cancels payments.

    The rule is in the query while it is tried, so that a tried rule has a link.
    """
    version = get_payable_version(request, set_id)
    action = request.POST.get("do", "")
    if request.method == "POST" and action in ("confirm", "cancel"):
        return _confirm_or_cancel(request, version, action)
    if request.method == "POST" and action == "parts":
        return _plan_parts(request, version)
    data = request.POST if request.method == "POST" else request.GET
    form = BonusRuleForm(data) if "kind" in data else BonusRuleForm()
    proposal = _propose_bonuses(version, form) if form.is_bound and form.is_valid() else None
    problem, status = "", 400 if form.errors else 200
    if request.method == "POST" and proposal is not None:
        try:
            return _plan_bonuses(request, version, form, proposal)
        except ProposalChangedError:
            problem = "Who gets the bonus has changed since you looked. Look again, then plan it."
            status = 409
        except (errors.OtherAmountError, errors.CurrencyError, WithdrawnError) as error:
            problem, status = f"Nothing was planned: {error}.", 409
    return _render_page(request, version, form, proposal, problem, status)


def _propose_bonuses(version: QuestionSetVersion, form: BonusRuleForm) -> BonusProposal | None:
    """Return the proposal of the form's rule; None if it is invalid, with the error in the form."""
    try:
        return propose_bonuses(version, form.build_rule(), least=form.cleaned_data["least"])
    except RuleError as error:
        sentence = str(error)
        form.add_error(error.field, forms.ValidationError(f"{capfirst(sentence)}.", error.code))
        return None


def _plan_bonuses(
    request: HttpRequest, version: QuestionSetVersion, form: BonusRuleForm, proposal: BonusProposal
) -> HttpResponse:
    """Plan the bonuses of a proposal and redirect to the page of bonuses."""
    name, seen = form.cleaned_data["round"], request.POST.get("seen", "")
    n_new = plan_proposed_bonuses(proposal, request.user, name, seen=seen)
    sentence = f"{n_new:,} planned. They are paid only after you confirm them below."
    messages.success(request, sentence, "bonuses_planned")
    return redirect(_build_link(version))


def _plan_parts(request: HttpRequest, version: QuestionSetVersion) -> HttpResponse:
    """Plan the partial payments and redirect; 409 if their sum differs from the one shown."""
    try:
        batch = confirmation.plan_parts_of_total(version, request.user, _read_total(request))
    except errors.OtherTotalError:
        problem = "Who gets a part has changed since you looked, and nothing was planned."
        return _render_page(request, version, BonusRuleForm(), None, problem, 409)
    except errors.CurrencyError as error:
        problem = f"Nothing was planned: {error}."
        return _render_page(request, version, BonusRuleForm(), None, problem, 409)
    if not batch.payments:
        sentence = "No part is left to plan. Planned parts are listed below."
        messages.info(request, sentence, "no_parts_left")
        return redirect(_build_link(version))
    sentence = f"{len(batch.payments):,} planned. They are paid only after you confirm them below."
    messages.success(request, sentence, "parts_planned")
    return redirect(_build_link(version))


def _confirm_or_cancel(
    request: HttpRequest, version: QuestionSetVersion, action: str
) -> HttpResponse:
    """Confirm or cancel a round and redirect; 409 if its sum differs from the one shown."""
    name = request.POST.get("round", "")
    advance = confirmation.confirm_round if action == "confirm" else confirmation.cancel_round
    try:
        batch = advance(version, request.user, name, _read_total(request))
    except errors.OtherTotalError:
        problem = "The bonuses have changed since you looked, and nothing was done: look again."
        return _render_page(request, version, BonusRuleForm(), None, problem, 409)
    except errors.CurrencyError as error:
        problem = f"Nothing was done: {error}."
        return _render_page(request, version, BonusRuleForm(), None, problem, 409)
    outcome = "confirmed. Take their list to the panel" if action == "confirm" else "cancelled"
    n = len(batch.payments)
    noun = "bonus" if n == 1 else "bonuses"
    if name == bonuses.PART:
        noun = "part of the pay" if n == 1 else "parts of the pay"
    text = f"{n:,} {noun}, {batch.total} in all, {outcome}."
    messages.success(
        request, text, "bonuses_confirmed" if action == "confirm" else "bonuses_cancelled"
    )
    return redirect(_build_link(version))


def _render_page(
    request: HttpRequest,
    version: QuestionSetVersion,
    form: BonusRuleForm,
    proposal: BonusProposal | None,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render the page of bonuses: form, proposal of its rule, and all payments by round."""
    payments = bonuses.load_payments(version)
    log = load_decisions_where(bonuses.build_confirmed_condition(version)) if payments else {}
    sendable, held_back = bonuses.split_confirmed_payments(
        (payment for payment in payments if bonuses.is_in_round(payment, None)), log
    )
    rewarded = proposal.rewarded if proposal else []
    partial_payments = parts.find_owed_parts(version, payments)
    context = build_shared_context(version, "Bonuses") | {
        "form": form,
        "found": proposal if not form.errors else None,
        "people": rewarded[:MAX_LISTED],
        "more": max(0, len(rewarded) - MAX_LISTED),
        "rounds": tallies.group_by_round(payments),
        "parts": partial_payments,
        "n_confirmed": len(sendable) + len(parts.select_sendable_parts(version, payments)),
        "n_held": len(held_back),
        "currency": partial_payments.currency,
        "problem": problem,
    }
    return TemplateResponse(request, "evaluation/payments/bonuses.html", context, status=status)


def _read_total(request: HttpRequest) -> Decimal:
    """Return the posted sum that the page showed; NaN, which equals no sum, if it is invalid."""
    try:
        return parse_total_amount(request.POST.get("total", ""))
    except ValueError:
        return Decimal("NaN")


def _build_link(version: QuestionSetVersion) -> str:
    """Return the link to the page of bonuses, with the version unless it is the newest."""
    link = reverse("admin:paying-bonuses", args=[version.question_set.public_id])
    return link + str(build_shared_context(version, "")["kept"])
