"""REST API: bonuses by a rule, partial payments, and fields for money.

Fields for amounts of money, in requests and answers: decimal text with at most two places.

Numbers are refused, because a float cannot hold 0.10 exactly.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.text import capfirst
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.fields import empty
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.exchange.money import AmountError, parse_bonus_amount, parse_total_amount
from annotations.ledger import bonuses, confirmation, errors
from annotations.ledger.bonuses import PART, find_currency
from annotations.ledger.parts import PART_REASONS, find_owed_parts
from annotations.models import BonusPayment, QuestionSetVersion
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.idempotency import make_repeatable
from annotations.web.rest.problems import build_field_problem
from annotations.web.rest.uploads import IDEMPOTENCY_KEY
from evaluation.payments.api.decisions import VERSION, PayScoreSerializer, translate_payment_errors
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
from evaluation.runs.raw_scores import RAW, SCORES
from evaluation.runs.rest.views import MessageField, build_conflict_problem

PATTERN = r"^[0-9]{1,12}(\.[0-9]{1,2})?$"
AS_TEXT = 'Write it as text with a point and at most two places, such as "1.50".'


@extend_schema_field({"type": "string", "pattern": PATTERN})
class SumField(serializers.Field[Any, Any, Any, Any]):
    """Field of a requested sum of money, as text such as "12.50"."""

    def to_internal_value(self, data: Any) -> Decimal:
        """Return the sum as a Decimal; raise ValidationError for a JSON number or invalid text."""
        if not isinstance(data, str):
            raise serializers.ValidationError(AS_TEXT, "not_text")
        try:
            return self.parse(data)
        except AmountError as error:
            raise serializers.ValidationError(f"{capfirst(str(error))}.", error.code) from None

    def parse(self, text: str) -> Decimal:
        """Return a text as a sum of money; raise AmountError if it is invalid."""
        return parse_total_amount(text)


class AmountField(SumField):
    """Field of an amount from 0.01 to 10,000.00, as text such as "1.50"."""

    def parse(self, text: str) -> Decimal:
        """Return a text as an amount from 0.01 to 10,000.00; raise AmountError if it is invalid."""
        return parse_bonus_amount(text)


class MoneyField(serializers.DecimalField):
    """Field of an amount in a response, as decimal text."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_digits=14, decimal_places=2, **kwargs)


class RoundField(serializers.CharField):
    """Field of a bonus round's name; the name reserved for partial payments is invalid."""

    def __init__(self) -> None:
        super().__init__(
            default=bonuses.ROUND,
            max_length=bonuses.LONGEST_ROUND,
            help_text="Of a round everybody has one bonus: one more is another round.",
        )

    def run_validation(self, data: Any = empty) -> str:
        """Return the name of the round, normalised as it is stored."""
        try:
            return bonuses.validate_bonus_round(super().run_validation(data))
        except errors.RoundError as error:
            raise serializers.ValidationError(f"{capfirst(str(error))}.", error.code) from None


class BonusRuleSerializer(StrictSerializer):
    """Bonus rule: who gets it (best share, score threshold, or per answer) and the amount."""

    kind = serializers.ChoiceField(
        choices=list(KINDS),
        help_text="The best share of people, everybody whose score is at least so much, or so much "
        "for each answer.",
    )
    amount = AmountField(help_text="For each person, or for each answer: 0.01 to 10,000.00.")
    share = serializers.FloatField(
        required=False, allow_null=True, help_text="With quantile: above 0 to 1, .2 for a fifth."
    )
    at_least = serializers.FloatField(
        required=False, allow_null=True, help_text="With threshold: the least score."
    )
    score = serializers.ChoiceField(
        choices=list(SCORES),
        default=RAW,
        help_text="With quantile and threshold: by raw score or question contrast.",
    )
    end = serializers.ChoiceField(
        choices=[SCORE, LOW],
        default=SCORE,
        help_text="With threshold: what has to reach it, the score or its interval's lower end.",
    )
    least_hourly = AmountField(
        required=False, help_text="Warn below it; that of the collecting without it."
    )
    base_pay = AmountField(
        required=False, help_text="Pay without a bonus; that of the collecting without it."
    )
    round = RoundField()


class BonusPlanSerializer(BonusRuleSerializer):
    """Request body to plan bonuses: the rule, and the proposal that the user saw."""

    seen = serializers.CharField(
        max_length=64, help_text="What trying the rule answered: where others would get it, 409."
    )


class EarnerSerializer(serializers.Serializer[Any]):
    """A worker who would get a bonus."""

    submission = serializers.UUIDField(source="submission.public_id")
    worker = serializers.CharField(source="name")
    panel = serializers.CharField(source="submission.worker.panel")
    amount = MoneyField()
    score = PayScoreSerializer(allow_null=True)
    answers = serializers.IntegerField(source="n_answers")
    seconds = serializers.FloatField(allow_null=True)
    hourly = MoneyField(
        allow_null=True, help_text="Pay and bonus over the person's own time; null if not known."
    )


class GroupRateSerializer(serializers.Serializer[Any]):
    """Group of workers with a common property, and how many of them get the bonus."""

    name = serializers.CharField()
    hit = serializers.IntegerField()
    n = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True, help_text="Wilson's 95% interval of the share.")
    high = serializers.FloatField(allow_null=True)
    ratio = serializers.FloatField(
        allow_null=True, help_text="Over the group for which it turns out well most often."
    )
    ratio_low = serializers.FloatField(
        allow_null=True,
        help_text="95% interval of the ratio, wider for more groups since the best one is chosen.",
    )
    ratio_high = serializers.FloatField(allow_null=True)
    small = serializers.BooleanField(help_text="Too few for a verdict.")
    unfair = serializers.BooleanField(
        help_text="The ratio is below four fifths and its interval below 1."
    )
    unclear = serializers.BooleanField(
        help_text="The ratio is below four fifths and its interval is not below 1: too few for "
        "a verdict."
    )


class FairnessSerializer(serializers.Serializer[Any]):
    """Fairness comparison by one property: groups of workers, the largest first."""

    what = serializers.CharField()
    groups = GroupRateSerializer(many=True)


class BonusProposalSerializer(serializers.Serializer[Any]):
    """Effect of a bonus rule on the current data; nothing is stored."""

    rule = serializers.CharField(source="rule.said", help_text="As shown with each payment.")
    people = EarnerSerializer(many=True, source="rewarded")
    n = serializers.IntegerField(source="n_rewarded", help_text="People with a bonus.")
    considered = serializers.IntegerField(
        source="n_considered", help_text="Who handed in, did not withdraw and is not rejected."
    )
    rejected = serializers.IntegerField(source="n_rejected", help_text="Left out as rejected.")
    unscored = serializers.IntegerField(
        source="n_unscored", help_text="Without a score, or with too few answers for one."
    )
    total = MoneyField(help_text="Without the panel's fee.")
    currency = serializers.CharField(help_text="Empty if not given.")
    base_pay = MoneyField(source="base", allow_null=True)
    least_hourly = MoneyField(source="least", allow_null=True)
    hourly = MoneyField(
        allow_null=True, help_text="Pay and the middle bonus for the median time; null if unknown."
    )
    fairness = FairnessSerializer(many=True)
    warnings = serializers.ListField(child=MessageField())
    seen = serializers.CharField(help_text="Identifies this preview, for planning it.")


class PlannedBonusesSerializer(serializers.Serializer[Any]):
    """Payments of a round after a rule was planned."""

    round = serializers.CharField()
    n = serializers.IntegerField(help_text="Workers who meet the rule.")
    new = serializers.IntegerField(help_text="Planned by this request.")
    total = MoneyField()
    currency = serializers.CharField()


@extend_schema(tags=["paying"])
class BonusRuleViewSet(ApiViewSet):
    """API endpoints that propose bonuses by a rule, and plan them; confirmation is separate."""

    queryset = BonusPayment.objects.all()
    serializer_class = BonusProposalSerializer

    @extend_schema(
        operation_id="paying_bonus_rule",
        summary="Try a rule for bonuses",
        description="For who may change the set. Who would get how much, what that costs, what "
        "people earn in an hour then and who is left out. Nothing is stored.",
        parameters=[VERSION],
        request=BonusRuleSerializer,
        responses={200: BonusProposalSerializer},
    )
    def propose(self, request: Request, set_id: UUID) -> Response:
        """Return the bonuses that a rule gives, without storing anything."""
        version = get_payable_version(request, set_id)
        values = self.validate_body(BonusRuleSerializer).validated_data
        return Response(BonusProposalSerializer(_propose_bonuses(version, values)).data)

    @extend_schema(
        operation_id="paying_bonus_plan",
        summary="Plan the bonuses of a rule that was tried",
        description="Exactly those that `seen` identifies, or none (409). A second request "
        "plans nothing new. They are paid only after a user confirms them and takes their list "
        "to the panel.",
        parameters=[VERSION, IDEMPOTENCY_KEY],
        request=BonusPlanSerializer,
        responses={200: PlannedBonusesSerializer},
    )
    @make_repeatable
    def plan(self, request: Request, set_id: UUID) -> Response:
        """Plan the bonuses of a rule, and return how many are new."""
        version = get_payable_version(request, set_id)
        values = self.validate_body(BonusPlanSerializer).validated_data
        # Computed again from the current data: `seen` shows whether the user saw this proposal.
        proposal = _propose_bonuses(version, values)
        with translate_payment_errors():
            try:
                new = plan_proposed_bonuses(
                    proposal, request.user, values["round"], seen=values["seen"]
                )
            except ProposalChangedError:
                raise build_conflict_problem("rule_changed") from None
        values_planned = {
            "round": values["round"],
            "n": proposal.n_rewarded,
            "new": new,
            "total": proposal.total,
            "currency": proposal.currency,
        }
        return Response(PlannedBonusesSerializer(values_planned).data)


def _propose_bonuses(version: QuestionSetVersion, values: dict[str, Any]) -> BonusProposal:
    """Return the proposal of a request's rule; raise `ApiProblem` at the rule's invalid field."""
    rule = BonusRule(
        *(values["kind"], values["amount"], values.get("share"), values.get("at_least")),
        end=values["end"],
        score=values["score"],
    )
    try:
        return propose_bonuses(
            version, rule, least=values.get("least_hourly"), base=values.get("base_pay")
        )
    except RuleError as error:
        sentence = str(error)
        raise build_field_problem(error.field, f"{capfirst(sentence)}.") from None


class OwedPartSerializer(serializers.Serializer[Any]):
    """A worker who is owed a partial payment."""

    worker = serializers.CharField(source="person.name")
    panel = serializers.CharField(source="person.panel")
    why = serializers.ChoiceField(choices=list(PART_REASONS), source="kind")
    amount = MoneyField()
    status = serializers.CharField(
        source="person.status", help_text="On the panel; empty where it is not known."
    )


class OwedPartsSerializer(serializers.Serializer[Any]):
    """Workers who can get a partial payment now, and counts of the others by reason."""

    people = OwedPartSerializer(many=True, source="owed", help_text="Nothing is planned of them.")
    total = MoneyField(help_text="What planning them asks for; without the panel's fee.")
    currency = serializers.CharField()
    unknown = serializers.IntegerField(
        source="n_unknown", help_text="Of them, those whose status on the panel is unknown."
    )
    without = serializers.IntegerField(
        source="n_without", help_text="Not owed one: the settings have no part for them."
    )
    decided = serializers.IntegerField(
        source="n_decided", help_text="Not owed one: they are approved or rejected."
    )
    settled = serializers.IntegerField(
        source="n_settled", help_text="Not owed one: the panel has settled what they get."
    )
    there = serializers.IntegerField(source="n_there", help_text="Have one already.")


class OwedPartsTotalSerializer(StrictSerializer):
    """Request body to plan partial payments: the sum that the user saw."""

    total = SumField(help_text="As reading has it: where it is another by now, 409.")


@extend_schema(tags=["paying"])
class PartViewSet(ApiViewSet):
    """API endpoints of partial payments, for workers who failed practice or attention checks."""

    queryset = BonusPayment.objects.all()
    serializer_class = OwedPartsSerializer

    @extend_schema(
        operation_id="paying_parts",
        summary="Read who is owed a part of the pay",
        description="For who may change the set; the collection's settings give the amount.",
        parameters=[VERSION],
        responses=OwedPartsSerializer,
    )
    def retrieve(self, request: Request, set_id: UUID) -> Response:
        """Return the workers who are owed a partial payment."""
        return Response(
            OwedPartsSerializer(find_owed_parts(get_payable_version(request, set_id))).data
        )

    @extend_schema(
        operation_id="paying_parts_plan",
        summary="Plan a part of the pay for everybody who is owed one",
        description="409 where their sum is not `total`; again it plans nothing. They are "
        "confirmed and cancelled as a round of bonuses is.",
        parameters=[VERSION, IDEMPOTENCY_KEY],
        request=OwedPartsTotalSerializer,
        responses={200: PlannedBonusesSerializer},
    )
    @make_repeatable
    def plan(self, request: Request, set_id: UUID) -> Response:
        """Plan the partial payments, and return their number."""
        version = get_payable_version(request, set_id)
        total = self.validate_body(OwedPartsTotalSerializer).validated_data["total"]
        with translate_payment_errors():
            batch = confirmation.plan_parts_of_total(version, request.user, total)
        n = len(batch.payments)
        values = {"round": PART, "n": n, "new": n, "total": batch.total}
        return Response(
            PlannedBonusesSerializer(values | {"currency": find_currency(version)}).data
        )
