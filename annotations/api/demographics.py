"""REST endpoints to join a demographic export to stored answers: upload, preview, confirm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.files import File
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.exchange.presets import LocatedTable, TableChoice, locate_table, read_head
from annotations.exchange.presets.demographics import DemographicMapping, StatusRule
from annotations.exchange.presets.joining import DemographicJoin
from annotations.exchange.problems import InputError
from annotations.models import QuestionSet, Upload
from annotations.web.demographic_uploads import (
    open_demographic_source,
    preview_demographic_join,
    propose_demographic_options,
)
from annotations.web.rest.base import StrictSerializer
from annotations.web.rest.bulk import CSV, LINES, BulkViewSet, CsvParser, read_import_options
from annotations.web.rest.idempotency import make_repeatable
from annotations.web.rest.problems import ApiProblem, build_field_problem
from annotations.web.rest.serializers import build_serializer
from annotations.web.rest.uploads import IDEMPOTENCY_KEY
from annotations.web.scope import get_editable, get_user_id, select_visible
from annotations.web.upload_kinds import DEMOGRAPHICS, KINDS
from annotations.web.uploads import FileGoneError, import_upload, stage_upload

MAX_ROLES = 1000
"""Most columns that a request may give a role."""
MAX_COLUMN = 1000
"""Longest name of a column, in characters."""
JoinSerializer = build_serializer(DemographicJoin, without=("statuses", "replaced", "file"))


class ColumnRolesSerializer(StrictSerializer):
    """Roles of the columns of a demographic export; columns without a role are not stored."""

    worker = serializers.CharField(max_length=MAX_COLUMN, help_text="Column of Prolific's ids.")
    status = serializers.CharField(
        max_length=MAX_COLUMN,
        allow_blank=True,
        help_text="Column of the submissions' statuses on Prolific; empty without one.",
    )
    extra = serializers.ListField(
        child=serializers.CharField(max_length=MAX_COLUMN),
        max_length=MAX_ROLES,
        help_text="Columns that are stored with the answers of each worker.",
    )

    def validate(self, attrs: Any) -> Any:
        """Refuse a column with two roles."""
        columns = [attrs["worker"], *filter(None, [attrs["status"]]), *attrs["extra"]]
        twice = {name for name in columns if columns.count(name) > 1}
        if twice:
            names = ", ".join(sorted(twice))
            raise serializers.ValidationError(f"Columns with two roles: {names}", "role_twice")
        return attrs


class JoinChoicesSerializer(StrictSerializer):
    """Choices for a join: the roles of the columns, and the rule for statuses."""

    mapping = ColumnRolesSerializer(required=False)
    statuses = serializers.ChoiceField(
        choices=[rule.value for rule in StatusRule],
        required=False,
        help_text="Answers of workers whose submission was returned, timed out or rejected: "
        "refuse the file, apply (they are flagged as rejected and left out of runs), or keep.",
    )
    keep_ids = serializers.BooleanField(
        required=False,
        help_text="Read 101 and 101.0 as two ids. Otherwise both are read as 101 if all ids of "
        "the column are whole numbers.",
    )


class JoinOptionsSerializer(serializers.Serializer[Any]):
    """Options in the URL query of an upload of a demographic export."""

    name = serializers.CharField(
        default="", max_length=200, allow_blank=True, help_text="Name of the file, as it is listed."
    )


class JoinPreviewSerializer(JoinSerializer):  # type: ignore[misc, valid-type]
    """Preview of a join, with the workers' ids; `replaced` counts changed values by column."""

    statuses = serializers.DictField(
        child=serializers.IntegerField(), help_text="Matched workers by status not approved."
    )
    replaced = serializers.DictField(
        child=serializers.IntegerField(), help_text="Workers with another value, by column."
    )


class JoinedWorkerSerializer(serializers.Serializer[Any]):
    """A matched worker, with the cells that will be stored; missing cells are empty."""

    worker = serializers.CharField()
    cells = serializers.DictField(child=serializers.CharField(allow_blank=True))


class JoinableSetSerializer(serializers.Serializer[Any]):
    """Another question set in which participants answered, and how many of them."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    n = serializers.IntegerField()


class JoinProblemSerializer(serializers.Serializer[Any]):
    """Reason why the file cannot be joined with these choices, and what to do."""

    code = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    column = serializers.CharField(allow_null=True)
    reason = serializers.CharField()
    remedy = serializers.CharField(allow_blank=True)


class DemographicUploadSerializer(serializers.Serializer[Any]):
    """Uploaded demographic export with its choices, preview, problems and result."""

    id = serializers.UUIDField(source="public_id")
    file = serializers.CharField(source="name")
    state = serializers.ChoiceField(
        choices=["mapping", "checked", "done"],
        help_text="mapping: other choices are needed. checked: it can be confirmed. done: joined.",
    )
    created_at = serializers.DateTimeField()
    columns = serializers.ListField(child=serializers.CharField(), help_text="Of the file.")
    mapping = ColumnRolesSerializer()
    statuses = serializers.ChoiceField(choices=[rule.value for rule in StatusRule])
    keep_ids = serializers.BooleanField(help_text="Whether ids such as 101.0 are read as typed.")
    version = serializers.IntegerField(allow_null=True, help_text="Whose answers get the facts.")
    preview = JoinPreviewSerializer(allow_null=True)
    examples = JoinedWorkerSerializer(many=True)
    other_sets = JoinableSetSerializer(many=True)
    notes = serializers.ListField(
        child=serializers.CharField(),
        help_text="On ids that are read in another form than in the file.",
    )
    problems = JoinProblemSerializer(many=True)
    n_new = serializers.IntegerField(
        allow_null=True, help_text="Workers whose stored facts change; null if not checked."
    )
    n_flagged = serializers.IntegerField(
        allow_null=True, help_text="Answers newly flagged as rejected; null if not checked."
    )
    brought_by = serializers.UUIDField(
        allow_null=True, help_text="The import, which can be undone; null before it is confirmed."
    )


ROW = {"type": "object", "additionalProperties": True}
BODIES = {
    "application/json": {
        "type": "object",
        "properties": {"rows": {"type": "array", "minItems": 1, "items": ROW}},
        "required": ["rows"],
        "additionalProperties": False,
        "example": {"rows": [{"Participant id": "5f1e0a1b2c3d4e5f6a7b8c9d", "Age": "31"}]},
    },
    LINES: {"type": "string", "format": "binary"},
    CSV: {"type": "string", "format": "binary"},
}


@extend_schema(tags=["answers"])
class DemographicViewSet(BulkViewSet):
    """API endpoints that upload, preview and join demographic exports."""

    queryset = Upload.objects.all()
    lookup_url_kwarg = "upload_id"
    serializer_class = DemographicUploadSerializer
    required_keys = ()

    def get_parsers(self) -> list[BaseParser]:
        """Return the parsers of request bodies; JSON Lines and CSV only for uploads."""
        parsers = super().get_parsers()
        return [*parsers, CsvParser()] if len(parsers) > 1 else parsers

    @extend_schema(
        operation_id="demographics_upload",
        summary="Upload a demographic export and preview its join",
        description="A file of participants with facts about them (Prolific's demographic export), "
        "as CSV, as JSON Lines or as rows. Roles of its columns are proposed. Nothing is joined "
        "before the upload is confirmed. An upload is deleted after a day.",
        parameters=[JoinOptionsSerializer, IDEMPOTENCY_KEY],
        request=BODIES,
        responses={201: DemographicUploadSerializer},
    )
    @make_repeatable
    def create(self, request: Request, set_id: Any) -> Response:
        """Store an uploaded demographic export, and return the preview of its join."""
        question_set = get_editable(request, QuestionSet.objects.all(), set_id)
        name = read_import_options(request, JoinOptionsSerializer)["name"]
        with self.convert_row_errors():
            arranged = locate_table(self.build_source(), TableChoice())
            options = propose_demographic_options(arranged, read_head(arranged.source))
        staged = self._store_upload(question_set, arranged, name, options, get_user_id(request))
        body = self._serialize_upload(request, question_set, staged)
        address = request.build_absolute_uri(f"{staged.public_id}/")
        return Response(body, status.HTTP_201_CREATED, headers={"Location": address})

    @extend_schema(
        operation_id="demographics_preview", summary="Read the preview of a demographic export"
    )
    def retrieve(self, request: Request, set_id: Any, upload_id: Any) -> Response:
        """Return the upload with its choices, preview and problems."""
        question_set, staged = self._load_upload(request, set_id, upload_id)
        return Response(self._serialize_upload(request, question_set, staged))

    @extend_schema(
        operation_id="demographics_choose",
        summary="Change the choices of a demographic export and preview its join",
        request=JoinChoicesSerializer,
        responses=DemographicUploadSerializer,
    )
    def partial_update(self, request: Request, set_id: Any, upload_id: Any) -> Response:
        """Store roles and rule of an upload that is not joined yet, and return its preview."""
        question_set, staged = self._load_upload(request, set_id, upload_id)
        values = self.validate_body(JoinChoicesSerializer).validated_data
        if staged.state == Upload.State.DONE or not staged.file:
            raise ApiProblem("conflict", "It is joined already, or would change nothing.")
        mapping = staged.options["mapping"]
        if "mapping" in values:
            roles = dict(values["mapping"])
            known = read_head(open_demographic_source(staged)).header
            used = [roles["worker"], roles["status"], *roles["extra"]]
            if unknown := next((name for name in used if name and name not in known), None):
                raise build_field_problem("mapping", f"the file has no column {unknown!r}")
            mapping = DemographicMapping.from_dict(roles).as_dict()
        rule = values.get("statuses", staged.options["statuses"])
        keep_ids = values.get("keep_ids", staged.options.get("keep_ids", False))
        chosen = {"mapping": mapping, "statuses": rule, "keep_ids": keep_ids}
        staged.options = {**staged.options, **chosen}
        import_upload(staged, question_set, KINDS[DEMOGRAPHICS], dry_run=True)
        return Response(self._serialize_upload(request, question_set, staged))

    @extend_schema(operation_id="demographics_discard", summary="Discard a demographic export")
    def destroy(self, request: Request, set_id: Any, upload_id: Any) -> Response:
        """Delete an upload; facts that were joined stay."""
        self._load_upload(request, set_id, upload_id)[1].delete()
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="demographics_confirm",
        summary="Join a checked demographic export to the answers",
        description="In one transaction. Repeating it returns the same result. The import is "
        "`brought_by`; it is listed with the imports of the question set and can be undone there. "
        "409 if a problem is open or the file would change nothing.",
        request=None,
        responses=DemographicUploadSerializer,
    )
    def confirm(self, request: Request, set_id: Any, upload_id: Any) -> Response:
        """Join the facts of a checked upload to the answers."""
        question_set, staged = self._load_upload(request, set_id, upload_id)
        if staged.state == Upload.State.CHECKED and staged.file:
            try:
                import_upload(staged, question_set, KINDS[DEMOGRAPHICS], dry_run=False)
            except FileGoneError:
                raise Http404("it was discarded") from None
            staged.refresh_from_db()
        if staged.state != Upload.State.DONE:
            reasons = " ".join(
                f"{problem['reason']}. {problem['remedy']}" for problem in staged.problems
            )
            raise ApiProblem("conflict", reasons or "The file would change nothing.")
        return Response(self._serialize_upload(request, question_set, staged))

    def _store_upload(
        self,
        question_set: QuestionSet,
        arranged: LocatedTable,
        name: str,
        options: dict[str, Any],
        owner: int,
    ) -> Upload:
        """Store the body of the request as an upload with its proposed options."""
        source = arranged.source
        # The ending tells readers the format, which is that of the body.
        title = f"{Path(name).stem or 'demographics'}{source.suffix}"
        with source.open() as opened:
            kind = KINDS[DEMOGRAPHICS]
            return stage_upload(question_set, kind, File(opened), title, options, owner)

    def _load_upload(
        self, request: Request, set_id: Any, upload_id: Any
    ) -> tuple[QuestionSet, Upload]:
        """Return a question set and the user's own upload of an export into it; or Http404."""
        question_set = get_editable(request, QuestionSet.objects.all(), set_id)
        uploads = question_set.uploads.filter(kind=DEMOGRAPHICS, owner_id=get_user_id(request))
        staged = uploads.filter(public_id=upload_id).first()
        if staged is None:
            raise Http404("it was discarded, or a day has passed")
        return question_set, staged

    def _serialize_upload(
        self, request: Request, question_set: QuestionSet, staged: Upload
    ) -> dict[str, Any]:
        """Return an upload as JSON data; without its file there is no preview."""
        report = staged.report or {}
        body: dict[str, Any] = {
            "columns": [],
            "preview": None,
            "examples": [],
            "other_sets": [],
            "notes": [],
            "version": report.get("version") or None,
        }
        if staged.file:
            body |= self._serialize_preview(request, question_set, staged)
        values = {
            **{name: getattr(staged, name) for name in ("public_id", "name", "created_at")},
            "state": staged.state,
            **{name: staged.options[name] for name in ("mapping", "statuses")},
            "keep_ids": staged.options.get("keep_ids", False),
            "problems": staged.problems,
            "n_new": report.get("n_new"),
            "n_flagged": report.get("n_flagged"),
            "brought_by": report.get("import"),
            **body,
        }
        return dict(DemographicUploadSerializer(values).data)

    def _serialize_preview(
        self, request: Request, question_set: QuestionSet, staged: Upload
    ) -> dict[str, Any]:
        """Return the values of a stored file's preview, and the file's columns."""
        sets: Any = select_visible(request, QuestionSet.objects.exclude(pk=question_set.pk))
        editable = sets.filter(archived_at=None).annotate_right_to_change(request.user)
        preview = preview_demographic_join(staged, question_set, editable.filter(may_change=True))
        try:
            columns = [name for name in read_head(open_demographic_source(staged)).header if name]
        except InputError:
            columns = []
        return {
            "columns": list(dict.fromkeys(columns)),
            "preview": preview.join,
            "examples": [
                {"worker": worker, "cells": dict(cells)} for worker, cells in preview.examples
            ],
            "other_sets": [
                {"id": one.public_id, "name": one.name, "n": n} for one, n in preview.others
            ],
            "notes": preview.notes,
            "version": preview.version.number if preview.version else None,
        }
