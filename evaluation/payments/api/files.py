"""REST API: files of decisions and statuses, and invitations of workers.

REST API: import many decisions at once, and statuses of submissions on Prolific. REST API: workers
to invite again: their number, the reasons of the others, ids and groups.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import StreamingHttpResponse
from django.utils.text import capfirst
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.exchange.reading.decisions import read_decisions
from annotations.exchange.reading.panel_statuses import read_statuses
from annotations.exchange.writing.formats import write_lines
from annotations.ledger.files import import_decisions
from annotations.models import Decision, PanelStatus
from annotations.panels.groups import load_requested_groups
from annotations.panels.statuses import import_statuses
from annotations.web.downloads import build_download_response, build_file_name
from annotations.web.query import parse_choice
from annotations.web.rest.base import ApiViewSet
from annotations.web.rest.bulk import (
    CSV,
    BulkViewSet,
    CsvParser,
    ImportOptionsSerializer,
    read_import_options,
)
from annotations.web.rest.idempotency import make_repeatable
from annotations.web.rest.negotiation import FileNegotiation
from annotations.web.rest.paging import build_slice_body, read_limit, read_start_index
from annotations.web.rest.problems import ApiProblem, build_parameter_problem
from annotations.web.rest.renamed_keys import add_renamed_keys
from annotations.web.rest.uploads import describe_bulk_upload
from annotations.web.size_limit import LARGEST
from evaluation.payments.api.decisions import VERSION, translate_payment_errors
from evaluation.payments.api.rules import FairnessSerializer, MoneyField, RoundField
from evaluation.payments.storage.evidence import (
    LARGEST_VERSION,
    get_payable_set,
    get_payable_version,
)
from evaluation.payments.storage.fairness import compare_rejections
from evaluation.payments.storage.invitations import (
    ENDS,
    LEFT_OUT,
    MOST,
    InvitedWorkers,
    ScoreThreshold,
    select_invited_workers,
)
from evaluation.payments.storage.rules import SCORE, RuleError
from evaluation.runs.raw_scores import RAW, SCORES
from evaluation.runs.rest.views import MessageField

DECISION_ROWS = [
    {"worker": "ada", "decision": "approve", "bonus": "1.50"},
    {"worker": "ben", "decision": "open"},
]
DECISIONS = {
    "version": 1,
    "n_rows": 2,
    "n_new": 2,
    "n_unchanged": 0,
    "by_decision": {"approve": 1, "open": 1},
    "bonuses": 1,
    "new_bonuses": 1,
    "total": "1.50",
    "currency": "GBP",
    "fairness": [],
    "warnings": [],
    "dry_run": False,
}
STATUS_ROWS = [
    {
        "Submission id": "66a0c5f1e2b3d4a5c6e7f801",
        "Participant id": "5f1e2b3d4a5c6e7f80166a0c",
        "Status": "AWAITING REVIEW",
        "Time taken": "840",
    }
]
STATUSES = {
    "version": 1,
    "n_rows": 1,
    "n_new": 1,
    "n_unchanged": 0,
    "by_status": {"AWAITING REVIEW": 1},
    "strangers": {},
    "missing": 0,
    "kept_aside": [],
    "warnings": [],
    "dry_run": False,
}


class PayFileOptionsSerializer(ImportOptionsSerializer):
    """Query option: the version number; by default the newest version with answers."""

    version = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST_VERSION)


class StatusOptionsSerializer(PayFileOptionsSerializer):
    """Query options: the version number, and whether an earlier file was of another study."""

    instead = serializers.BooleanField(
        default=False, help_text="The last file was of another study: these submissions count."
    )


class DecisionOptionsSerializer(PayFileOptionsSerializer):
    """Query options: the version number, and the round of the amounts in column `bonus`."""

    round = RoundField()


class DecisionImportSerializer(serializers.Serializer[Any]):
    """Result of a decision import, in rows; n_rows = n_new + n_unchanged."""

    version = serializers.IntegerField()
    n_rows = serializers.IntegerField()
    n_new = serializers.IntegerField()
    n_unchanged = serializers.IntegerField()
    by_decision = serializers.DictField(
        child=serializers.IntegerField(), help_text="Rows that approve, reject, open."
    )
    bonuses = serializers.IntegerField(help_text="Rows with an amount, which confirms it.")
    new_bonuses = serializers.IntegerField()
    total = MoneyField(help_text="Of these amounts.")
    currency = serializers.CharField()
    fairness = FairnessSerializer(
        many=True, help_text="Who is not rejected once this is decided; without rejections empty."
    )
    warnings = serializers.ListField(child=serializers.CharField())
    dry_run = serializers.BooleanField()


class StatusImportSerializer(serializers.Serializer[Any]):
    """Result of a status import, in rows; n_rows = n_new + n_unchanged + unmatched rows."""

    version = serializers.IntegerField()
    n_rows = serializers.IntegerField()
    n_new = serializers.IntegerField()
    n_unchanged = serializers.IntegerField()
    by_status = serializers.DictField(
        child=serializers.IntegerField(), help_text="Lines of people who took part here."
    )
    strangers = serializers.DictField(
        child=serializers.IntegerField(), help_text="Lines of other people, which are not stored."
    )
    missing = serializers.IntegerField(help_text="Participants without a line.")
    kept_aside = serializers.ListField(
        child=serializers.CharField(), help_text="Columns that are not stored."
    )
    warnings = serializers.ListField(child=serializers.CharField())
    dry_run = serializers.BooleanField()


class PayFileViewSet(BulkViewSet):
    """Base class of the imports about workers' pay: JSON rows, or an unchanged CSV file."""

    def get_parsers(self) -> list[BaseParser]:
        """Return the parsers of JSON rows and of an unchanged CSV file."""
        return [*super().get_parsers(), CsvParser()]

    def get_max_bytes(self, request: Request) -> int:
        """Return the size limit in bytes; CSV is streamed and may be larger than JSON."""
        kind = (request.content_type or "").partition(";")[0].strip().lower()
        return LARGEST if kind == CSV else super().get_max_bytes(request)


@extend_schema_view(
    create=describe_bulk_upload(
        "Decide of many submissions, all rows or none",
        "For who may change the set. `worker` is the panel's id, `decision` approve, reject (with "
        "`category` and `reason`) or open; `bonus`, an amount, is confirmed by it; `panel` where "
        "an id is there in two. The same rows again change nothing. No panel is notified.",
        DECISION_ROWS,
        DECISIONS,
        DecisionOptionsSerializer,
        answer=DecisionImportSerializer,
        files=True,
        operation_id="paying_decisions_send",
        tags=["paying"],
    )
)
class PayDecisionImportViewSet(PayFileViewSet):
    """API endpoint that imports decisions about many submissions: all rows or none."""

    queryset = Decision.objects.all()
    serializer_class = DecisionImportSerializer
    required_keys = ("worker", "decision")
    reader = staticmethod(read_decisions)

    @make_repeatable
    def create(self, request: Request, set_id: UUID) -> Response:
        """Store the decisions and return the import result."""
        version = get_payable_version(request, set_id)
        options = read_import_options(request, DecisionOptionsSerializer)
        with self.convert_row_errors(), translate_payment_errors():
            arguments = {"round_": options["round"], "dry_run": options["dry_run"]}
            report = import_decisions(version, self.build_source(), request.user, **arguments)
        comparisons = compare_rejections(version, report.kinds)
        warnings = [
            MessageField().to_representation(warning)
            for comparison in comparisons
            for warning in comparison.warnings
        ]
        body = {
            "version": version.number,
            "n_rows": report.n_rows,
            "n_new": report.n_new,
            "n_unchanged": report.n_unchanged,
            "by_decision": report.n_by_kind,
            "bonuses": report.n_bonuses,
            "new_bonuses": report.n_new_bonuses,
            "total": report.total,
            "currency": report.currency,
            "fairness": comparisons,
            "warnings": [*report.warnings, *warnings],
            "dry_run": report.dry_run,
        }
        return Response(DecisionImportSerializer(body).data)


@extend_schema_view(
    create=describe_bulk_upload(
        "Import the statuses of submissions on Prolific, all rows or none",
        "For who may change the set. The columns of Prolific's export; what it knows of people "
        "besides is not stored. No decision changes. An export of another study is refused.",
        STATUS_ROWS,
        STATUSES,
        StatusOptionsSerializer,
        answer=StatusImportSerializer,
        files=True,
        operation_id="paying_statuses_send",
        tags=["paying"],
    )
)
class PayStatusImportViewSet(PayFileViewSet):
    """API endpoint that imports submissions' statuses from Prolific's export of a study."""

    queryset = PanelStatus.objects.all()
    serializer_class = StatusImportSerializer
    required_keys = ()
    reader = staticmethod(read_statuses)

    @make_repeatable
    def create(self, request: Request, set_id: UUID) -> Response:
        """Store the statuses and return the import result."""
        version = get_payable_version(request, set_id)
        options = read_import_options(request, StatusOptionsSerializer)
        arguments = {name: options[name] for name in ("instead", "dry_run")}
        with self.convert_row_errors():
            report = import_statuses(version, self.build_source(), request.user, **arguments)
        body = {
            "version": version.number,
            "n_rows": report.n_rows,
            "n_new": report.n_new,
            "n_unchanged": report.n_unchanged,
            "by_status": report.by_status,
            "strangers": report.strangers,
            "missing": report.n_missing,
            "kept_aside": report.kept_aside,
            "warnings": report.warnings,
            "dry_run": report.dry_run,
        }
        return Response(StatusImportSerializer(body).data)


THRESHOLD = [
    VERSION,
    OpenApiParameter(
        "at_least",
        {"type": "number", "minimum": -MOST, "maximum": MOST},
        required=True,
        description="On the scale of the scores of the grading that counts.",
    ),
    OpenApiParameter(
        "end",
        str,
        enum=list(ENDS),
        default=SCORE,
        description="What has to reach it: the score, or the lower end of its 95% interval.",
    ),
    OpenApiParameter(
        "score",
        str,
        enum=list(SCORES),
        default=RAW,
        description="Compare by raw leave-one-out score or by question contrast.",
    ),
    OpenApiParameter(
        "panel", str, description="Whose ids; that of the collecting, or the only one, without it."
    ),
]


@add_renamed_keys(said="message")
class NotInvitedCountSerializer(serializers.Serializer[Any]):
    """Number of workers not invited again for one reason.

    A worker counts at the first that applies.
    """

    why = serializers.ChoiceField(choices=list(LEFT_OUT))
    said = serializers.CharField()
    n = serializers.IntegerField()


class InvitationSummarySerializer(serializers.Serializer[Any]):
    """Numbers of workers who reach a score threshold, and of those left out."""

    run = serializers.UUIDField(source="run.public_id", help_text="The grading that counts.")
    panel = serializers.CharField(help_text="Whose ids; empty where files name no panel.")
    at_least = serializers.FloatField(source="line.at_least")
    end = serializers.ChoiceField(choices=list(ENDS), source="line.end")
    score = serializers.ChoiceField(choices=list(SCORES), source="line.score")
    people = serializers.IntegerField(source="n_people", help_text="Invited and left out.")
    invited = serializers.IntegerField(help_text="Ids in invited/ids/.")
    left_out = NotInvitedCountSerializer(many=True)


@add_renamed_keys(at="requested_at")
class ParticipantGroupSerializer(serializers.Serializer[Any]):
    """A participant group requested from the panel, and the user who requested it."""

    name = serializers.CharField()
    people = serializers.IntegerField(source="n_people")
    key = serializers.CharField(help_text="The panel's id of it; empty where no answer came.")
    by = serializers.CharField()
    at = serializers.DateTimeField()


@extend_schema(tags=["paying"])
class InvitationViewSet(ApiViewSet):
    """API endpoints for workers whose scores are high enough for the next study; none stores."""

    queryset = Decision.objects.all()
    serializer_class = InvitationSummarySerializer
    content_negotiation_class = FileNegotiation

    @extend_schema(
        operation_id="paying_invited",
        summary="Count who scored enough to be asked again",
        description="For who may change the set: of those who handed in, did not withdraw and are "
        "not rejected, who has a raw leave-one-out score, or a question contrast, of at least "
        "so much. 409 without a grading.",
        parameters=THRESHOLD,
    )
    def retrieve(self, request: Request, set_id: UUID) -> Response:
        """Return the numbers of workers to invite and to leave out."""
        invited_workers = self._select_invited(request, set_id)
        left_out = [
            {"why": reason, "said": LEFT_OUT[reason], "n": n}
            for reason, n in invited_workers.left_out.items()
        ]
        body = {
            "run": invited_workers.run,
            "panel": invited_workers.panel,
            "line": invited_workers.line,
            "n_people": invited_workers.n_people,
            "invited": len(invited_workers.ids),
            "left_out": left_out,
        }
        return Response(InvitationSummarySerializer(body).data)

    @extend_schema(
        operation_id="paying_invited_ids",
        summary="Take away the ids of who scored enough to be asked again",
        description="The panel's ids, one a line, as custom allow lists take them; may be "
        "empty. It contains no scores.",
        parameters=THRESHOLD,
        responses={(200, "text/plain"): {"type": "string", "format": "binary"}},
    )
    def ids(self, request: Request, set_id: UUID) -> StreamingHttpResponse:
        """Send the list of the invited workers' panel ids."""
        invited_workers = self._select_invited(request, set_id)
        version = invited_workers.run.version
        name = build_file_name(version.question_set.name, f"version {version.number}", "invite")
        return build_download_response(write_lines(invited_workers.ids), name, "txt")

    @extend_schema(
        operation_id="paying_groups",
        summary="List the groups that a panel was asked to make of these people",
        description="Of all versions of the set, the newest first; not what the panel refused. "
        "Groups are asked for on the command line only.",
        responses=ParticipantGroupSerializer(many=True),
    )
    def groups(self, request: Request, set_id: UUID) -> Response:
        """Return a page of the participant groups requested from the panel."""
        groups = load_requested_groups(get_payable_set(request, set_id))
        start = read_start_index(request, "groups")
        rows = ParticipantGroupSerializer(
            groups[start : start + read_limit(request)], many=True
        ).data
        return Response(build_slice_body(request, "groups", rows, start, len(groups)))

    def _select_invited(self, request: Request, set_id: UUID) -> InvitedWorkers:
        """Return the workers who reach the threshold of the query; raise 400 or 409 without one."""
        version = get_payable_version(request, set_id)
        query = request.query_params
        try:
            least = float(query.get("at_least", ""))
        except ValueError:
            raise build_parameter_problem(
                "at_least", "Give the lowest score, such as 0.6."
            ) from None
        # `float` also reads "nan"; `select_invited_workers` refuses it.
        threshold = ScoreThreshold(
            *(least, parse_choice(query, "end", ENDS, SCORE), query.get("panel", "")),
            score=parse_choice(query, "score", SCORES, RAW),
        )
        try:
            return select_invited_workers(version, threshold)
        except RuleError as error:
            sentence = f"{capfirst(str(error))}."
            if not error.field:
                raise ApiProblem("conflict", sentence) from None
            raise build_parameter_problem(error.field, sentence) from None
