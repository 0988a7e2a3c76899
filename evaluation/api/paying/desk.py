"""The payment desk: who gave what cause, what is decided of their work, and the log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.exchange.prolific import CATEGORIES, DECISIONS
from annotations.ledger import deciding
from annotations.ledger.bonuses import (
    OVER,
    STATES,
    CurrencyError,
    OtherAmountError,
    OtherTotalError,
)
from annotations.models import Decision, QuestionSetVersion, Submission
from annotations.web.pages import AS_ADDED, page_of
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.filtering import filtered_page, sort_parameter
from annotations.web.rest.paging import page_body
from annotations.web.rest.problems import ApiProblem, bad_field
from evaluation.api.conflicts import conflict
from evaluation.options import API
from evaluation.paying.scope import paid_version
from evaluation.reports.paying.people import APPEALS, ENDED, Desk, PayFilter, PayRow
from evaluation.reports.paying.suggestions import ACTIONS

VERSION = OpenApiParameter(
    "version", int, description="Its number; the newest in which somebody took part without it."
)


class PayDecisionSerializer(serializers.Serializer[Any]):
    """A row of the log of decisions, which is added and never changed."""

    id = serializers.UUIDField(source="public_id")
    submission = serializers.UUIDField(source="submission.public_id")
    worker = serializers.CharField(source="submission.worker.external_id")
    panel = serializers.CharField(source="submission.worker.panel")
    decision = serializers.ChoiceField(choices=list(DECISIONS), source="kind")
    category = serializers.CharField(help_text="Of a rejection, the panel's; else empty.")
    reason = serializers.CharField(help_text="What the worker reads.")
    by = serializers.CharField(source="decided_by.username")
    at = serializers.DateTimeField(source="created_at")


class PayEvidenceSerializer(serializers.Serializer[Any]):
    """What speaks for a category of a rejection."""

    category = serializers.ChoiceField(choices=list(CATEGORIES))
    offered = serializers.BooleanField(help_text="Whether it is enough to offer the category.")
    said = serializers.SerializerMethodField()

    def get_said(self, one: Any) -> str:
        """Return the counts in a sentence."""
        return API.said(one.said)


class PayScoreSerializer(serializers.Serializer[Any]):
    """The raw leave-one-out score with the 95% interval over the worker's answers."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n_answers = serializers.IntegerField()
    supported = serializers.BooleanField(help_text="Whether these are enough for a rank.")


class PayAnswerSerializer(serializers.Serializer[Any]):
    """What a worker was answered to an appeal."""

    text = serializers.CharField()
    approved = serializers.SerializerMethodField(help_text="Whether it approved the submission.")
    by = serializers.CharField(source="answered_by.username")
    at = serializers.DateTimeField(source="created_at")

    def get_approved(self, one: Any) -> bool:
        """Return whether a decision came of it."""
        return one.approval_id is not None


class PayAppealSerializer(serializers.Serializer[Any]):
    """What a worker wrote against a rejection, once, with its answer."""

    decision = serializers.UUIDField(source="decision.public_id", help_text="The rejection.")
    text = serializers.CharField()
    noted_by = serializers.CharField(
        source="noted_by.username",
        default=None,
        allow_null=True,
        help_text="Who noted what they wrote elsewhere; null where they wrote it here.",
    )
    at = serializers.DateTimeField(source="created_at")
    answer = PayAnswerSerializer(allow_null=True, default=None)


class PayPartSerializer(serializers.Serializer[Any]):
    """A part of the pay that is neither failed nor cancelled."""

    amount = serializers.DecimalField(max_digits=12, decimal_places=2)
    currency = serializers.CharField()
    state = serializers.ChoiceField(choices=[one for one in STATES.values() if one not in OVER])


class PaySubmissionSerializer(serializers.Serializer[Any]):
    """A submission with what speaks for a decision; a suggestion decides nothing."""

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
    part = PayPartSerializer(
        allow_null=True, help_text="Of the pay, in place of the whole; null without one."
    )
    appeal = PayAppealSerializer(
        allow_null=True, help_text="Of the newest rejection that they wrote against."
    )

    def get_alarms(self, row: PayRow) -> list[str]:
        """Return what alarms and notices say of the worker."""
        return list(dict.fromkeys(mark.words for mark in row.marks))

    def get_why(self, row: PayRow) -> list[str]:
        """Return the reasons of the suggestion."""
        return [API.said(message) for message in row.suggestion.why]

    @extend_schema_field(PayDecisionSerializer(allow_null=True))
    def get_decision(self, row: PayRow) -> Any:
        """Return the newest row of the log, null without one."""
        return None if row.decision is None else PayDecisionSerializer(row.decision).data


class PayDecideSerializer(StrictSerializer):
    """What somebody decides of a submission."""

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
class PayingViewSet(ApiViewSet):
    """Who is paid: the people of a set's version, decided one by one, in a log."""

    queryset = Decision.objects.all()
    serializer_class = PaySubmissionSerializer

    @extend_schema(
        operation_id="paying_people",
        summary="List people with what speaks for paying them",
        description="For who may change the set. `decided`, `appeal`, `suggested`, `status`, "
        "`ended` and `q` filter. How answers were written, and facts, are in no suggestion.",
        parameters=[
            VERSION,
            sort_parameter(PayFilter),
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
        """Return a page of them."""
        desk = Desk(paid_version(request, set_id))
        page = filtered_page(request, PayFilter(request.query_params, desk))
        rows = PaySubmissionSerializer(desk.rows(page.rows), many=True).data
        return Response(page_body(request, rows, page.next))

    @extend_schema(
        operation_id="paying_person",
        summary="Read one submission with its evidence",
        parameters=[VERSION],
    )
    def retrieve(self, request: Request, set_id: UUID, submission_id: UUID) -> Response:
        """Return it."""
        return told_of(paid_version(request, set_id), submission_id)

    @extend_schema(
        operation_id="paying_decide",
        summary="Approve, reject or open a submission",
        description="A row is added to the log; the same once more changes nothing. No panel is "
        "told and nobody is paid by it.",
        parameters=[VERSION],
        request=PayDecideSerializer,
    )
    def decide(self, request: Request, set_id: UUID, submission_id: UUID) -> Response:
        """Keep the decision, and return the submission."""
        version = paid_version(request, set_id)
        about = paid_submission(version, submission_id)
        values: dict[str, Any] = dict(self.checked(PayDecideSerializer).validated_data)
        kind = values.pop("decision")
        try:
            deciding.decide(about, request.user, kind, **values)
        except deciding.DecisionError as error:
            wrong = error.wrong[0]
            said = f"{wrong.why}. {wrong.remedy}"
            raise bad_field(wrong.field, said, wrong.code) from None
        except deciding.WithdrawnError as error:
            raise ApiProblem("conflict", f"{error}.", reason=error.code) from None
        except deciding.DecidedMeanwhileError as error:
            raise decided_meanwhile(error) from None
        return told_of(version, submission_id)

    @extend_schema(
        operation_id="paying_log",
        summary="Read every decision of a version, in order",
        parameters=[VERSION],
        responses=PayDecisionSerializer(many=True),
    )
    def log(self, request: Request, set_id: UUID) -> Response:
        """Return a page of the log."""
        rows = Decision.objects.filter(submission__version=paid_version(request, set_id))
        rows = rows.select_related("submission__worker", "decided_by")
        page = page_of(request, rows, AS_ADDED)
        shown = PayDecisionSerializer(page.rows, many=True).data
        return Response(page_body(request, shown, page.next))


def paid_submission(version: QuestionSetVersion, submission_id: UUID) -> Submission:
    """Return a submission of a version; raises Http404."""
    found = version.submissions.filter(public_id=submission_id).first()
    if found is None:
        raise Http404("there is no such submission")
    return found


def told_of(version: QuestionSetVersion, submission_id: UUID) -> Response:
    """Return a submission with what speaks for a decision; raises Http404."""
    desk = Desk(version)
    found = desk.people().filter(public_id=submission_id).first()
    if found is None:
        raise Http404("there is no such submission")
    return Response(PaySubmissionSerializer(desk.rows([found])[0]).data)


def decided_meanwhile(error: deciding.DecidedMeanwhileError) -> ApiProblem:
    """Return the problem of somebody who decided before: who, what, and the id of it."""
    newest = error.newest
    by = newest.decided_by.get_username()
    return conflict("decided_meanwhile", by=by, kind=newest.kind, decision=newest.public_id)


@contextmanager
def refused_payment() -> Iterator[None]:
    """Tell what does not go with where payments of the block stand by now as a conflict."""
    try:
        yield
    except OtherTotalError as error:
        now = {"total": f"{error.total:.2f}"}
        raise conflict("other_total", now, said=error.said, total=error.total) from None
    except (OtherAmountError, CurrencyError, deciding.WithdrawnError) as error:
        said = f"Nothing was done: {error}."
        if not isinstance(error, CurrencyError):
            said = f"Nothing was planned: {error}."
        raise ApiProblem("conflict", said, reason=error.code) from None
