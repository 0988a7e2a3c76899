"""Bonuses by a rule: tried first, planned, confirmed by a person, and where each stands."""

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

from annotations.exchange.money import amount_of, sum_of
from annotations.ledger import bonuses, confirming, parts, tallies
from annotations.ledger.deciding import WithdrawnError
from annotations.models import QuestionSetVersion
from evaluation.paying.planning import ChangedError, plan_proposed
from evaluation.paying.rule_errors import RuleError
from evaluation.paying.rules import KINDS, LOW, SCORE, Proposal, Rule, propose
from evaluation.paying.scope import paid_version
from evaluation.site.paying.frame import frame

NAMED = 200
"""People who are named; of the others their number is told."""
AMOUNT = {"inputmode": "decimal", "autocomplete": "off"}


class AmountField(forms.CharField):
    """An amount such as 1.50, as files of decisions have it."""

    def clean(self, value: Any) -> Any:
        """Return the amount, None for an empty field that may be empty."""
        text = super().clean(value)
        if not text:
            return None
        try:
            return amount_of(text)
        except ValueError as error:
            raise forms.ValidationError(f"{capfirst(str(error))}.", "amount") from None


class RuleForm(forms.Form):
    """Who gets how much; what is missing `evaluation.paying.rules` says, field by field."""

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
    at_least = forms.FloatField(
        label="Least raw score", required=False, min_value=-1000, max_value=1000
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
        for name in ("share", "at_least"):
            self.fields[name].widget.attrs["step"] = "any"

    def clean_round(self) -> str:
        """Return the name; that of parts of the pay is not to be had."""
        try:
            return bonuses.of_bonus(self.cleaned_data["round"])
        except bonuses.RoundError as error:
            said = str(error)
            raise forms.ValidationError(f"{capfirst(said)}.", "reserved_name") from None

    def rule(self) -> Rule:
        """Return the rule of a form that is valid."""
        of = self.cleaned_data
        share = None if of["share"] is None else of["share"] / 100
        return Rule(of["kind"], of["amount"], share, of["at_least"], of["end"] or SCORE)


@require_http_methods(["GET", "HEAD", "POST"])
def rule(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show where bonuses stand, and what a rule would do; what is posted is planned, or confirmed.

    The rule stands in the address while it is tried.
    """
    version = paid_version(request, set_id)
    do = request.POST.get("do", "")
    if request.method == "POST" and do in ("confirm", "cancel"):
        return _advance(request, version, do)
    if request.method == "POST" and do == "parts":
        return _plan_parts(request, version)
    asked = request.POST if request.method == "POST" else request.GET
    form = RuleForm(asked) if "kind" in asked else RuleForm()
    found = _proposal(version, form) if form.is_bound and form.is_valid() else None
    problem, status = "", 400 if form.errors else 200
    if request.method == "POST" and found is not None:
        try:
            return _plan(request, version, form, found)
        except ChangedError:
            problem = "Who gets the bonus has changed since you looked. Look again, then plan it."
            status = 409
        except (bonuses.OtherAmountError, bonuses.CurrencyError, WithdrawnError) as error:
            problem, status = f"Nothing was planned: {error}.", 409
    return _page(request, version, form, found, problem, status)


def _proposal(version: QuestionSetVersion, form: RuleForm) -> Proposal | None:
    try:
        return propose(version, form.rule(), least=form.cleaned_data["least"])
    except RuleError as error:
        said = str(error)
        form.add_error(error.field, forms.ValidationError(f"{capfirst(said)}.", error.code))
        return None


def _plan(
    request: HttpRequest, version: QuestionSetVersion, form: RuleForm, found: Proposal
) -> HttpResponse:
    name, seen = form.cleaned_data["round"], request.POST.get("seen", "")
    new = plan_proposed(found, request.user, name, seen=seen)
    said = f"{new:,} planned. Nobody is paid before they are confirmed below."
    messages.success(request, said, "bonuses_planned")
    return redirect(_here(version))


def _plan_parts(request: HttpRequest, version: QuestionSetVersion) -> HttpResponse:
    """Plan the parts of the pay; refused where their sum is another than the one that was shown."""
    try:
        done = confirming.plan_parts(version, request.user, _shown(request))
    except bonuses.OtherTotalError:
        problem = "Who gets a part has changed since you looked, and nothing was planned."
        return _page(request, version, RuleForm(), None, problem, 409)
    except bonuses.CurrencyError as error:
        problem = f"Nothing was planned: {error}."
        return _page(request, version, RuleForm(), None, problem, 409)
    if not done.payments:
        said = "No part was left to plan: those that were planned stand below."
        messages.info(request, said, "no_parts_left")
        return redirect(_here(version))
    said = f"{len(done.payments):,} planned. Nobody is paid before they are confirmed below."
    messages.success(request, said, "parts_planned")
    return redirect(_here(version))


def _advance(request: HttpRequest, version: QuestionSetVersion, do: str) -> HttpResponse:
    """Confirm or cancel a round; refused where its sum is another than the one that was shown."""
    name = request.POST.get("round", "")
    act = confirming.confirm if do == "confirm" else confirming.cancel
    try:
        done = act(version, request.user, name, _shown(request))
    except bonuses.OtherTotalError:
        problem = "The bonuses have changed since you looked, and nothing was done: look again."
        return _page(request, version, RuleForm(), None, problem, 409)
    except bonuses.CurrencyError as error:
        problem = f"Nothing was done: {error}."
        return _page(request, version, RuleForm(), None, problem, 409)
    said = "confirmed. Take their list to the panel" if do == "confirm" else "cancelled"
    n = len(done.payments)
    noun = "bonus" if n == 1 else "bonuses"
    if name == bonuses.PART:
        noun = "part of the pay" if n == 1 else "parts of the pay"
    text = f"{n:,} {noun}, {done.total} in all, {said}."
    messages.success(request, text, "bonuses_confirmed" if do == "confirm" else "bonuses_cancelled")
    return redirect(_here(version))


def _page(
    request: HttpRequest,
    version: QuestionSetVersion,
    form: RuleForm,
    found: Proposal | None,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    payments = bonuses.payments_of(version)
    waiting = bonuses.confirmed(one for one in payments if bonuses.is_of(one, None))
    people = found.rewarded if found else []
    context = frame(version, "Bonuses") | {
        "form": form,
        "found": found if not form.errors else None,
        "people": people[:NAMED],
        "more": max(0, len(people) - NAMED),
        "rounds": tallies.by_round(payments),
        "parts": parts.parts_of(version),
        "n_confirmed": len(waiting.sendable) + len(parts.to_send(version)),
        "n_held": len(waiting.held_back),
        "currency": bonuses.currency_of(version),
        "problem": problem,
    }
    return TemplateResponse(request, "evaluation/paying/bonuses.html", context, status=status)


def _shown(request: HttpRequest) -> Decimal:
    """Return the sum that the page showed; what is none is equal to no sum."""
    try:
        return sum_of(request.POST.get("total", ""))
    except ValueError:
        return Decimal("NaN")


def _here(version: QuestionSetVersion) -> str:
    link = reverse("admin:paying-bonuses", args=[version.question_set.public_id])
    return link + str(frame(version, "")["kept"])
