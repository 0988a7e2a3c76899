"""REST API to archive, restore and delete, to erase what a worker wrote, and to undo imports."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.models import Import, QuestionSet, Worker
from annotations.web.paging import NEWEST
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.paging import build_page_body, load_page
from annotations.web.rest.problems import ApiProblem, build_field_problem
from annotations.web.rest.serializers import build_serializer
from annotations.web.scope import get_editable, get_manageable, get_set_with_answers, get_user_id
from evaluation.deletion.report import ImportRow, build_import_rows, select_imports
from evaluation.deletion.storage import erasing, removals, undoing
from evaluation.deletion.storage.record import DependentRows, ForbiddenRemovalError
from evaluation.deletion.storage.removals import Thing
from evaluation.models import LanguageModel, Removal, Run

DependentRowsSerializer = build_serializer(DependentRows, "can_go")
RUNS = Run.objects.select_related("version__question_set")


class ArchivedSerializer(serializers.Serializer[Any]):
    """Response body with the time of archiving; null if the object is not archived."""

    archived_at = serializers.DateTimeField(allow_null=True)


class ConfirmedSerializer(StrictSerializer):
    """Request body that confirms a deletion with the name of the question set."""

    name = serializers.CharField(max_length=300)


class ConfirmedModelSerializer(StrictSerializer):
    """Request body that confirms a deletion with the name of the model."""

    name = serializers.CharField(max_length=255)


class RemovalSerializer(serializers.ModelSerializer[Removal]):
    """Deletion in the background: `done` of `total` rows are deleted."""

    class Meta:
        """The fields, in their order."""

        model = Removal
        fields = ("name", "done", "total", "created_at", "finished_at")
        read_only_fields = fields


class _RemovalViewSet(ApiViewSet):
    """Base class of the archive and delete views of sets, runs and models."""

    serializer_class = ArchivedSerializer

    def archive_object(self, request: Request, thing: Thing) -> Response:
        """Archive the object; repeating has no effect."""
        removals.archive_object(thing, get_user_id(request))
        return Response(ArchivedSerializer(thing).data)

    def restore_object(self, request: Request, thing: Thing) -> Response:
        """Restore the object from the archive; repeating has no effect."""
        # `restore` returns False here as well as for an object that is not archived.
        if removals.is_being_deleted(thing):
            raise ApiProblem("conflict", "It is being deleted and cannot be restored.")
        removals.restore_object(thing, get_user_id(request))
        return Response(ArchivedSerializer(thing).data)

    def delete_object(self, request: Request, thing: Thing) -> Response:
        """Request the deletion of the object; a repeated request returns the same deletion."""
        try:
            removal = removals.request_deletion(thing, get_user_id(request))
        except ForbiddenRemovalError as error:
            raise ApiProblem("conflict", str(error)) from None
        return Response(RemovalSerializer(removal).data, status.HTTP_202_ACCEPTED)


@extend_schema(tags=["question sets"])
class SetRemovalViewSet(_RemovalViewSet):
    """Archiving and deletion of question sets."""

    queryset = QuestionSet.objects.all()
    lookup_url_kwarg = "set_id"

    @extend_schema(
        operation_id="question_sets_archive",
        summary="Archive a question set",
        description="It leaves the lists and nothing is started; everything stays.",
        request=None,
        responses=ArchivedSerializer,
    )
    def archive(self, request: Request, set_id: Any) -> Response:
        """Archive a question set: hide it from lists."""
        return self.archive_object(
            request, get_editable(request, QuestionSet.objects.all(), set_id)
        )

    @extend_schema(
        operation_id="question_sets_restore",
        summary="Restore an archived question set",
        request=None,
        responses=ArchivedSerializer,
    )
    def restore(self, request: Request, set_id: Any) -> Response:
        """Restore an archived question set."""
        return self.restore_object(
            request, get_editable(request, QuestionSet.objects.all(), set_id)
        )

    @extend_schema(
        operation_id="question_sets_deletion",
        summary="List what will be deleted with a question set",
        responses=DependentRowsSerializer,
    )
    def list_dependents(self, request: Request, set_id: Any) -> Response:
        """List what deleting a question set would delete, and what prevents it."""
        thing = get_manageable(request, QuestionSet.objects.all(), set_id)
        return Response(DependentRowsSerializer(removals.find_dependents(thing)).data)

    @extend_schema(
        operation_id="question_sets_delete",
        summary="Delete a question set with all its data",
        description="In the background; hidden at once. 409 if payments or decisions must stay "
        "stored.",
        request=ConfirmedSerializer,
        responses={202: RemovalSerializer},
    )
    def delete_for_good(self, request: Request, set_id: Any) -> Response:
        """Request the deletion of a question set, if the request confirms its name."""
        thing = get_manageable(request, QuestionSet.objects.all(), set_id)
        if (
            self.validate_body(ConfirmedSerializer).validated_data["name"].strip()
            != thing.name.strip()
        ):
            raise build_field_problem("name", "write the name of the question set, to confirm")
        return self.delete_object(request, thing)


@extend_schema(tags=["runs"])
class RunRemovalViewSet(_RemovalViewSet):
    """Archiving and deletion of runs."""

    queryset = Run.objects.all()
    lookup_url_kwarg = "run_id"

    @extend_schema(
        operation_id="runs_archive",
        summary="Archive a run",
        description="It leaves the lists and does not count for its set; everything stays.",
        request=None,
        responses=ArchivedSerializer,
    )
    def archive(self, request: Request, run_id: Any) -> Response:
        """Archive a run: hide it from lists."""
        return self.archive_object(request, get_editable(request, RUNS, run_id))

    @extend_schema(
        operation_id="runs_restore",
        summary="Restore an archived run",
        request=None,
        responses=ArchivedSerializer,
    )
    def restore(self, request: Request, run_id: Any) -> Response:
        """Restore an archived run."""
        return self.restore_object(request, get_editable(request, RUNS, run_id))

    @extend_schema(
        operation_id="runs_deletion",
        summary="List what will be deleted with a run",
        responses=DependentRowsSerializer,
    )
    def list_dependents(self, request: Request, run_id: Any) -> Response:
        """List what deleting a run would delete."""
        return Response(
            DependentRowsSerializer(
                removals.find_dependents(get_editable(request, RUNS, run_id))
            ).data
        )

    @extend_schema(
        operation_id="runs_delete",
        summary="Delete a run and its results",
        description="In the background; hidden and, if it works, cancelled at once.",
        request=None,
        responses={202: RemovalSerializer},
    )
    def delete_for_good(self, request: Request, run_id: Any) -> Response:
        """Request the deletion of a run, which happens in the background."""
        return self.delete_object(request, get_editable(request, RUNS, run_id))


@extend_schema(tags=["language models"])
class ModelRemovalViewSet(_RemovalViewSet):
    """Archiving and deletion of language models."""

    queryset = LanguageModel.objects.all()
    lookup_url_kwarg = "model_id"

    @extend_schema(
        operation_id="language_models_archive",
        summary="Archive a language model",
        description="It leaves the lists and no new run asks it; what it answered stays.",
        request=None,
        responses=ArchivedSerializer,
    )
    def archive(self, request: Request, model_id: Any) -> Response:
        """Archive a language model: hide it from lists."""
        return self.archive_object(request, self._get_model(request, model_id))

    @extend_schema(
        operation_id="language_models_restore",
        summary="Restore an archived language model",
        request=None,
        responses=ArchivedSerializer,
    )
    def restore(self, request: Request, model_id: Any) -> Response:
        """Restore an archived language model."""
        return self.restore_object(request, self._get_model(request, model_id))

    @extend_schema(
        operation_id="language_models_deletion",
        summary="List what will be deleted with a language model",
        responses=DependentRowsSerializer,
    )
    def list_dependents(self, request: Request, model_id: Any) -> Response:
        """List what deleting a model would delete, and what prevents it."""
        hanging = removals.find_dependents(self._get_model(request, model_id))
        return Response(DependentRowsSerializer(hanging).data)

    @extend_schema(
        operation_id="language_models_delete",
        summary="Delete a language model, its answers and its scores",
        description="In the background; hidden at once. Runs that scored it count how many of "
        "their answers are gone. 409 where it answered in sets that its owner may not change.",
        request=ConfirmedModelSerializer,
        responses={202: RemovalSerializer},
    )
    def delete_for_good(self, request: Request, model_id: Any) -> Response:
        """Request the deletion of a language model, if the request confirms its name."""
        thing = self._get_model(request, model_id)
        confirmed = self.validate_body(ConfirmedModelSerializer).validated_data["name"]
        if confirmed.strip() != thing.name.strip():
            raise build_field_problem("name", "write the name of the model, to confirm")
        return self.delete_object(request, thing)

    def _get_model(self, request: Request, model_id: Any) -> LanguageModel:
        """Return a model that the user may edit; Http404 for any other."""
        return get_editable(request, LanguageModel.objects.all(), model_id)


class ConfirmedWorkerSerializer(StrictSerializer):
    """Request body that confirms an erasure with the worker's own id."""

    worker = serializers.CharField(max_length=255)


@extend_schema(tags=["workers"])
class ErasureViewSet(ApiViewSet):
    """Erasure of a worker's answers from all question sets."""

    queryset = Worker.objects.all()
    lookup_url_kwarg = "worker_id"
    serializer_class = RemovalSerializer

    @extend_schema(
        operation_id="workers_erasure",
        summary="List what an erasure of a worker's answers deletes",
        responses=DependentRowsSerializer,
    )
    def list_dependents(self, request: Request, worker_id: Any) -> Response:
        """List what an erasure of a worker's answers would delete, and what would stay."""
        worker = get_manageable(request, Worker.objects.all(), worker_id)
        return Response(DependentRowsSerializer(erasing.find_worker_dependents(worker)).data)

    @extend_schema(
        operation_id="workers_erase",
        summary="Erase what a worker wrote, in all question sets",
        description="With all copies of it, in the background. Grades and other numbers stay, and "
        "runs count how many of their answers are gone. Rows of the worker are refused afterwards.",
        request=ConfirmedWorkerSerializer,
        responses={202: RemovalSerializer},
    )
    def erase(self, request: Request, worker_id: Any) -> Response:
        """Request the erasure of a worker's answers, if the request confirms the worker's id."""
        worker = get_manageable(request, Worker.objects.all(), worker_id)
        confirmed = self.validate_body(ConfirmedWorkerSerializer).validated_data["worker"]
        if confirmed != worker.external_id:
            raise build_field_problem("worker", "write the worker's own id, to confirm")
        removal = erasing.request_erasure(worker, get_user_id(request))
        return Response(RemovalSerializer(removal).data, status.HTTP_202_ACCEPTED)


ImportSerializer = build_serializer(ImportRow)


@extend_schema(tags=["answers"])
class ImportViewSet(ApiViewSet):
    """Imported files of a question set."""

    queryset = Import.objects.all()
    lookup_url_kwarg = "import_id"
    serializer_class = ImportSerializer

    @extend_schema(
        operation_id="question_sets_imports",
        summary="List the imports into a question set, newest first",
        description="Files of answers, of models' answers, of questions, of passages and of "
        "demographic data, with what is still there of each. What was imported before imports were "
        "recorded belongs to none.",
        responses=ImportSerializer(many=True),
    )
    def list(self, request: Request, set_id: Any) -> Response:
        """List the imports of a question set."""
        page = load_page(request, select_imports(get_set_with_answers(request, set_id)), NEWEST)
        body = ImportSerializer(build_import_rows(page), many=True).data
        return Response(build_page_body(request, body, page.next))

    @extend_schema(
        operation_id="question_sets_import_undoing",
        summary="List what undoing an import deletes",
        responses=DependentRowsSerializer,
    )
    def list_dependents(self, request: Request, set_id: Any, import_id: Any) -> Response:
        """List what undoing an import would delete, and what prevents it."""
        brought = self._get_import(request, set_id, import_id)
        return Response(DependentRowsSerializer(undoing.find_import_dependents(brought)).data)

    @extend_schema(
        operation_id="question_sets_import_undo",
        summary="Undo an import",
        description="In the background, once no run uses the version. Repeating has no further "
        "effect. Undoing demographic data puts the values back that were stored before. "
        "409 where nothing of it can go, such as questions of a published version.",
        request=None,
        responses={202: RemovalSerializer},
    )
    def undo(self, request: Request, set_id: Any, import_id: Any) -> Response:
        """Request that an import is undone, which happens in the background."""
        brought = self._get_import(request, set_id, import_id)
        try:
            removal = undoing.request_undo(brought, get_user_id(request))
        except ForbiddenRemovalError as error:
            raise ApiProblem("conflict", str(error)) from None
        return Response(RemovalSerializer(removal).data, status.HTTP_202_ACCEPTED)

    def _get_import(self, request: Request, set_id: Any, import_id: Any) -> Import:
        """Return an import that the user may edit, of a set whose answers the user may read."""
        return get_editable(
            request, select_imports(get_set_with_answers(request, set_id)), import_id
        )
