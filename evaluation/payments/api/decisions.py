"""REST API: evidence and suggestions, payment decisions, appeals, and the log of decisions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.http import Http404
from django.utils.text import capfirst
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.exchange.prolific import CATEGORIES, DECISIONS
from annotations.ledger import appeals as appealing
from annotations.ledger import decisions as deciding
from annotations.ledger.bonuses import ENDED_STATES, STATES
from annotations.ledger.decisions import DecidedMeanwhileError, WithdrawnError
from annotations.ledger.errors import CurrencyError, OtherAmountError, OtherTotalError
from annotations.models import Appeal, Decision, QuestionSetVersion, Submission
from annotations.web.pages import AS_ADDED, load_page
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.filtering import build_sort_parameter, load_filtered_page
from annotations.web.rest.idempotency import make_repeatable
from annotations.web.rest.paging import build_page_body
from annotations.web.rest.problems import ApiProblem, build_field_problem
from annotations.web.rest.renamed_keys import add_renamed_keys
from annotations.web.rest.uploads import IDEMPOTENCY_KEY
from evaluation.core.options import API
from evaluation.payments.people_filter import PayFilter
from evaluation.payments.report import APPEALS, ENDED, PaymentRecords, PaymentRow
from evaluation.payments.storage.evidence import get_payable_version
from evaluation.payments.storage.rules import ACTIONS
from evaluation.runs.rest.views import build_conflict_problem

VERSION = OpenApiParameter(
    "version", int, description="Its number; without it the newest with participants."
)


@add_renamed_keys(at="decided_at")
class PayDecisionSerializer(serializers.Serializer[Any]):
    """One entry of the decision log; entries are added and never changed."""

    id = serializers.UUIDField(source="public_id")
    submission = serializers.UUIDField(source="submission.public_id")
    worker = serializers.CharField(source="submission.worker.external_id")
    panel = serializers.CharField(source="submission.worker.panel")
    decision = serializers.ChoiceField(choices=list(DECISIONS), source="kind")
    category = serializers.CharField(help_text="Of a rejection, the panel's; else empty.")
    reason = serializers.CharField(help_text="What the worker reads.")
    by = serializers.CharField(source="decided_by.username")
    at = serializers.DateTimeField(source="created_at")


@add_renamed_keys(said="message")
class PayEvidenceSerializer(serializers.Serializer[Any]):
    """Evidence for one category of rejection."""

    category = serializers.ChoiceField(choices=list(CATEGORIES))
    offered = serializers.BooleanField(help_text="Whether it is enough to offer the category.")
    said = serializers.SerializerMethodField()

    def get_said(self, one: Any) -> str:
        """Return a sentence with the counts of the evidence."""
        return API.format_message(one.said)


class PayScoreSerializer(serializers.Serializer[Any]):
    """The raw leave-one-out score with the 95% interval over the worker's answers."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n_answers = serializers.IntegerField()
    supported = serializers.BooleanField(help_text="Whether these are enough for a rank.")


@add_renamed_keys(at="answered_at")
class PayAppealAnswerSerializer(serializers.Serializer[Any]):
    """Answer to a worker's appeal."""

    text = serializers.CharField()
    approved = serializers.SerializerMethodField(help_text="Whether it approved the submission.")
    by = serializers.CharField(source="answered_by.username")
    at = serializers.DateTimeField(source="created_at")

    def get_approved(self, one: Any) -> bool:
        """Return whether the appeal led to an approval."""
        return one.approval_id is not None


@add_renamed_keys(at="appealed_at")
class PayAppealSerializer(serializers.Serializer[Any]):
    """Appeal of a worker against a rejection (one for each), with its answer."""

    decision = serializers.UUIDField(source="decision.public_id", help_text="The rejection.")
    text = serializers.CharField()
    noted_by = serializers.CharField(
        source="noted_by.username",
        default=None,
        allow_null=True,
        help_text="Who noted what they wrote elsewhere; null where they wrote it here.",
    )
    at = serializers.DateTimeField(source="created_at")
    answer = PayAppealAnswerSerializer(allow_null=True, default=None)


class PartialPaymentSerializer(serializers.Serializer[Any]):
    """A partial payment that is neither failed nor cancelled."""

    amount = serializers.DecimalField(max_digits=12, decimal_places=2)
    currency = serializers.CharField()
    state = serializers.ChoiceField(
        choices=[name for name in STATES.values() if name not in ENDED_STATES]
    )


class PaySubmissionSerializer(serializers.Serializer[Any]):
    """A submission with the evidence for a payment decision and a non-binding suggestion."""

    id = serializers.UUIDField(source="submission.public_id")
    worker = serializers.CharField(source="name")
    panel = serializers.CharField(source="submission.worker.panel")
    state = serializers.CharField(source="submission.state")
    failed_checks = serializers.BooleanField(
        source="submission.failed_checks",
        help_text="Handed in with fewer attention checks right than were asked for.",
    )
    status = serializers.CharField(help_text="On the panel; empty where it is not known.")
    score = PayScoreSerializer(allow_null=True)
    seconds = serializers.FloatField(allow_null=True)
    alarms = serializers.SerializerMethodField()
    contradicted_facts = serializers.IntegerField(
        source="score.contradicted", default=None, allow_null=True, help_text="A notice only."
    )
    evidence = PayEvidenceSerializer(many=True)
    suggested = serializers.ChoiceField(choices=list(ACTIONS), source="suggestion.action")
    why = serializers.SerializerMethodField()
    decision = serializers.SerializerMethodField()
    part = PartialPaymentSerializer(
        allow_null=True, help_text="Of the pay, in place of the whole; null without one."
    )
    appeal = PayAppealSerializer(
        allow_null=True, help_text="Of the newest rejection that they wrote against."
    )

    def get_alarms(self, row: PaymentRow) -> list[str]:
        """Return the alarms and notices about the worker, as sentences."""
        return list(dict.fromkeys(mark.words for mark in row.marks))

    def get_why(self, row: PaymentRow) -> list[str]:
        """Return the reasons of the suggested action, as sentences."""
        return [API.format_message(message) for message in row.suggestion.why]

    @extend_schema_field(PayDecisionSerializer(allow_null=True))
    def get_decision(self, row: PaymentRow) -> Any:
        """Return the newest decision in the log; null without one."""
        return None if row.decision is None else PayDecisionSerializer(row.decision).data


class NewPayDecisionSerializer(StrictSerializer):
    """Request body with a payment decision about a submission."""

    decision = serializers.ChoiceField(choices=list(DECISIONS))
    category = serializers.ChoiceField(
        choices=list(CATEGORIES), required=False, help_text="Needed with reject."
    )
    reason = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=4_000,
        help_text="Of a rejection, 100 to 1,000 characters: the worker reads it.",
    )
    seen = serializers.UUIDField(
        required=False,
        allow_null=True,
        help_text="The id of the newest decision that you know, null for none: where another is "
        "the newest by now, 409. Left out, nothing is compared.",
    )


@extend_schema(tags=["paying"])
class PayDecisionViewSet(ApiViewSet):
    """API endpoints that list, decide on and log the submissions of a version."""

    queryset = Decision.objects.all()
    serializer_class = PaySubmissionSerializer

    @extend_schema(
        operation_id="paying_people",
        summary="List workers with the evidence for paying them",
        description="For who may change the set. `decided`, `appeal`, `suggested`, `status`, "
        "`ended` and `q` filter. How answers were written, and facts, are in no suggestion.",
        parameters=[
            VERSION,
            build_sort_parameter(PayFilter),
            OpenApiParameter("q", str, description="Part of the worker's id."),
            OpenApiParameter("decided", str, enum=["open", "approve", "reject"]),
            OpenApiParameter("appeal", str, enum=list(APPEALS), description="Who wrote back."),
            OpenApiParameter("suggested", str, enum=list(ACTIONS)),
            OpenApiParameter("ended", str, enum=list(ENDED), description="How their way ended."),
            OpenApiParameter("status", str, description="On the panel; unknown for none."),
        ],
        responses=PaySubmissionSerializer(many=True),
    )
    def list(self, request: Request, set_id: UUID) -> Response:
        """Return a page of the version's submissions, with evidence and suggestions."""
        desk = PaymentRecords(get_payable_version(request, set_id))
        page = load_filtered_page(request, PayFilter(request.query_params, desk))
        rows = PaySubmissionSerializer(desk.load_rows(page.rows), many=True).data
        return Response(build_page_body(request, rows, page.next))

    @extend_schema(
        operation_id="paying_person",
        summary="Read one submission with its evidence",
        parameters=[VERSION],
    )
    def retrieve(self, request: Request, set_id: UUID, submission_id: UUID) -> Response:
        """Return a submission with its evidence and suggestion."""
        return build_submission_response(get_payable_version(request, set_id), submission_id)

    @extend_schema(
        operation_id="paying_decide",
        summary="Approve, reject or open a submission",
        description="A row is added to the log; the same decision again changes nothing. It "
        "notifies no panel and pays no one.",
        parameters=[VERSION],
        request=NewPayDecisionSerializer,
    )
    def decide(self, request: Request, set_id: UUID, submission_id: UUID) -> Response:
        """Store a payment decision, and return the submission."""
        version = get_payable_version(request, set_id)
        submission = get_submission_or_404(version, submission_id)
        values: dict[str, Any] = dict(self.validate_body(NewPayDecisionSerializer).validated_data)
        kind = values.pop("decision")
        try:
            deciding.decide_on_submission(submission, request.user, kind, **values)
        except deciding.DecisionError as error:
            error_found = error.wrong[0]
            sentence = f"{error_found.why}. {error_found.remedy}"
            raise build_field_problem(error_found.field, sentence, error_found.code) from None
        except deciding.WithdrawnError as error:
            raise ApiProblem("conflict", f"{error}.", reason=error.code) from None
        except deciding.DecidedMeanwhileError as error:
            raise build_decision_conflict(error) from None
        return build_submission_response(version, submission_id)

    @extend_schema(
        operation_id="paying_log",
        summary="Read every decision of a version, in order",
        parameters=[VERSION],
        responses=PayDecisionSerializer(many=True),
    )
    def log(self, request: Request, set_id: UUID) -> Response:
        """Return a page of the decision log."""
        rows = Decision.objects.filter(submission__version=get_payable_version(request, set_id))
        rows = rows.select_related("submission__worker", "decided_by")
        page = load_page(request, rows, AS_ADDED)
        body = PayDecisionSerializer(page.rows, many=True).data
        return Response(build_page_body(request, body, page.next))


def get_submission_or_404(version: QuestionSetVersion, submission_id: UUID) -> Submission:
    """Return a submission of a version; raise Http404 if it is unknown."""
    submission = version.submissions.filter(public_id=submission_id).first()
    if submission is None:
        raise Http404("there is no such submission")
    return submission


def build_submission_response(version: QuestionSetVersion, submission_id: UUID) -> Response:
    """Return a submission with evidence and suggestion as a response; Http404 if unknown."""
    row = PaymentRecords(version).load_row(submission_id)
    if row is None:
        raise Http404("there is no such submission")
    return Response(PaySubmissionSerializer(row).data)


def build_decision_conflict(error: deciding.DecidedMeanwhileError) -> ApiProblem:
    """Return the 409 problem that another user decided: who, what, and the decision's id."""
    newest = error.newest
    username = newest.decided_by.get_username()
    return build_conflict_problem(
        "decided_meanwhile", by=username, kind=newest.kind, decision=newest.public_id
    )


@contextmanager
def translate_payment_errors() -> Iterator[None]:
    """Convert errors of the payment ledger in the `with` block into 409 problems."""
    try:
        yield
    except OtherTotalError as error:
        current = {"total": f"{error.total:.2f}"}
        raise build_conflict_problem(
            "other_total", current, said=error.said, total=error.total
        ) from None
    except (OtherAmountError, CurrencyError, deciding.WithdrawnError) as error:
        sentence = f"Nothing was done: {error}."
        # A wrong currency may also stop a confirmation; the other two stop planning only.
        if not isinstance(error, CurrencyError):
            sentence = f"Nothing was planned: {error}."
        raise ApiProblem("conflict", sentence, reason=error.code) from None


class NewAppealAnswerSerializer(StrictSerializer):
    """Request body with the answer to an appeal, and whether it approves the work."""

    answer = serializers.CharField(
        max_length=appealing.LONGEST, help_text="Given once, and read by the worker."
    )
    approve = serializers.BooleanField(
        help_text="Approve the submission by it, or leave it rejected."
    )


class NewAppealSerializer(StrictSerializer):
    """Request body with an appeal that a worker of an imported file sent outside Crowdgrade."""

    text = serializers.CharField(
        max_length=appealing.LONGEST, help_text="Word for word; stored once for each rejection."
    )


@extend_schema(tags=["paying"])
class AppealViewSet(ApiViewSet):
    """API endpoints that answer the newest appeal of a submission, or store one sent elsewhere."""

    queryset = Appeal.objects.all()
    serializer_class = PaySubmissionSerializer

    @extend_schema(
        operation_id="paying_appeal_answer",
        summary="Answer an appeal, once",
        description="The same again changes nothing. 409 if there is no message, another answer "
        "was given, or the rejection is no longer the current decision.",
        parameters=[VERSION, IDEMPOTENCY_KEY],
        request=NewAppealAnswerSerializer,
        responses={200: PaySubmissionSerializer},
    )
    @make_repeatable
    def answer(self, request: Request, set_id: UUID, submission_id: UUID) -> Response:
        """Store the answer to an appeal, and return the submission."""
        version = get_payable_version(request, set_id)
        submission = get_submission_or_404(version, submission_id)
        values: dict[str, Any] = self.validate_body(NewAppealAnswerSerializer).validated_data
        appeal = appealing.load_newest_appeals([submission.pk]).get(submission.pk)
        if appeal is None:
            raise build_conflict_problem("nothing_to_answer")
        try:
            appealing.answer_appeal(
                appeal, request.user, values["answer"], approve=values["approve"]
            )
        except WithdrawnError as error:
            sentence = f"{capfirst(str(error))}: nothing was sent."
            raise ApiProblem("conflict", sentence, reason=error.code) from None
        except DecidedMeanwhileError as error:
            raise build_decision_conflict(error) from None
        except appealing.AppealError as error:
            if error.code == "answered":
                raise build_conflict_problem("answered") from None
            sentence = f"Write 1 to {appealing.LONGEST:,} characters."
            raise build_field_problem("answer", sentence, error.code) from None
        return build_submission_response(version, submission_id)

    @extend_schema(
        operation_id="paying_appeal_note",
        summary="Note what a worker wrote elsewhere against their rejection",
        description="For workers of an imported file, who have no page here, once for each "
        "rejection. Repeating has no further effect. 409 if the work is not rejected, another text "
        "is stored, or the worker has a page here.",
        parameters=[VERSION, IDEMPOTENCY_KEY],
        request=NewAppealSerializer,
        responses={200: PaySubmissionSerializer},
    )
    @make_repeatable
    def note(self, request: Request, set_id: UUID, submission_id: UUID) -> Response:
        """Store the text of an appeal sent elsewhere, and return the submission."""
        version = get_payable_version(request, set_id)
        submission = get_submission_or_404(version, submission_id)
        values: dict[str, Any] = self.validate_body(NewAppealSerializer).validated_data
        try:
            appealing.create_appeal(submission, values["text"], request.user)
        except WithdrawnError as error:
            sentence = f"{capfirst(str(error))}: nothing was noted."
            raise ApiProblem("conflict", sentence, reason=error.code) from None
        except appealing.AppealError as error:
            if reason := appealing.NOT_STORED_REASONS.get(error.code):
                sentence = f"{reason} Nothing was noted."
                raise ApiProblem("conflict", sentence, reason=error.code) from None
            sentence = f"Write 1 to {appealing.LONGEST:,} characters."
            raise build_field_problem("text", sentence, error.code) from None
        return build_submission_response(version, submission_id)
