"""Archiving, restoring and deleting question sets, runs and language models."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.models import QuestionSet
from annotations.web.rest.base import ApiViewSet, StrictSerializer
from annotations.web.rest.problems import ApiProblem, build_field_problem
from annotations.web.rest.serializers import build_serializer
from annotations.web.scope import get_editable, get_manageable, get_user_id
from evaluation.deletion.storage import removals
from evaluation.deletion.storage.hanging import Hanging
from evaluation.deletion.storage.record import ForbiddenRemovalError
from evaluation.deletion.storage.removals import Thing
from evaluation.models import LanguageModel, Removal, Run

HangingSerializer = build_serializer(Hanging, "can_go")
RUNS = Run.objects.select_related("version__question_set")


class ArchivedSerializer(serializers.Serializer[Any]):
    """When it was archived; null if it is not."""

    archived_at = serializers.DateTimeField(allow_null=True)


class ConfirmedSerializer(StrictSerializer):
    """The name of the question set, so that nobody deletes another one."""

    name = serializers.CharField(max_length=300)


class ConfirmedModelSerializer(StrictSerializer):
    """The name of the model, so that nobody deletes another one."""

    name = serializers.CharField(max_length=255)


class RemovalSerializer(serializers.ModelSerializer[Removal]):
    """A deletion that goes on in the background: `done` of `total` rows are gone."""

    class Meta:
        """The fields, in their order."""

        model = Removal
        fields = ("name", "done", "total", "created_at", "finished_at")
        read_only_fields = fields


class _Removing(ApiViewSet):
    """What sets, runs and models have in common."""

    serializer_class = ArchivedSerializer

    def archived(self, request: Request, thing: Thing) -> Response:
        """Archive it; again changes nothing."""
        removals.archive(thing, get_user_id(request))
        return Response(ArchivedSerializer(thing).data)

    def restored(self, request: Request, thing: Thing) -> Response:
        """Restore it; again changes nothing."""
        if removals.being_deleted(thing):
            raise ApiProblem("conflict", "It is being deleted and cannot be restored.")
        removals.restore(thing, get_user_id(request))
        return Response(ArchivedSerializer(thing).data)

    def deleted(self, request: Request, thing: Thing) -> Response:
        """Ask for its deletion; again it is the same one."""
        try:
            removal = removals.delete(thing, get_user_id(request))
        except ForbiddenRemovalError as error:
            raise ApiProblem("conflict", str(error)) from None
        return Response(RemovalSerializer(removal).data, status.HTTP_202_ACCEPTED)


@extend_schema(tags=["question sets"])
class SetRemovalViewSet(_Removing):
    """Question sets that are put away."""

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
        """Hide a set."""
        return self.archived(request, get_editable(request, QuestionSet.objects.all(), set_id))

    @extend_schema(
        operation_id="question_sets_restore",
        summary="Restore an archived question set",
        request=None,
        responses=ArchivedSerializer,
    )
    def restore(self, request: Request, set_id: Any) -> Response:
        """Show a set again."""
        return self.restored(request, get_editable(request, QuestionSet.objects.all(), set_id))

    @extend_schema(
        operation_id="question_sets_deletion",
        summary="Tell what hangs on a question set, before it is deleted",
        responses=HangingSerializer,
    )
    def hanging(self, request: Request, set_id: Any) -> Response:
        """Tell what would go, and why it cannot where something is kept."""
        thing = get_manageable(request, QuestionSet.objects.all(), set_id)
        return Response(HangingSerializer(removals.hanging_on(thing)).data)

    @extend_schema(
        operation_id="question_sets_delete",
        summary="Delete a question set and all that hangs on it",
        description="In the background; hidden at once. 409 where payments or decisions are kept.",
        request=ConfirmedSerializer,
        responses={202: RemovalSerializer},
    )
    def delete_for_good(self, request: Request, set_id: Any) -> Response:
        """Delete a set whose name is confirmed."""
        thing = get_manageable(request, QuestionSet.objects.all(), set_id)
        if self.checked(ConfirmedSerializer).validated_data["name"].strip() != thing.name.strip():
            raise build_field_problem("name", "write the name of the question set, to confirm")
        return self.deleted(request, thing)


@extend_schema(tags=["runs"])
class RunRemovalViewSet(_Removing):
    """Runs that are put away."""

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
        """Hide a run."""
        return self.archived(request, get_editable(request, RUNS, run_id))

    @extend_schema(
        operation_id="runs_restore",
        summary="Restore an archived run",
        request=None,
        responses=ArchivedSerializer,
    )
    def restore(self, request: Request, run_id: Any) -> Response:
        """Show a run again."""
        return self.restored(request, get_editable(request, RUNS, run_id))

    @extend_schema(
        operation_id="runs_deletion",
        summary="Tell what hangs on a run, before it is deleted",
        responses=HangingSerializer,
    )
    def hanging(self, request: Request, run_id: Any) -> Response:
        """Tell what would go."""
        return Response(
            HangingSerializer(removals.hanging_on(get_editable(request, RUNS, run_id))).data
        )

    @extend_schema(
        operation_id="runs_delete",
        summary="Delete a run and its results",
        description="In the background; hidden and, if it works, cancelled at once.",
        request=None,
        responses={202: RemovalSerializer},
    )
    def delete_for_good(self, request: Request, run_id: Any) -> Response:
        """Delete a run."""
        return self.deleted(request, get_editable(request, RUNS, run_id))


@extend_schema(tags=["language models"])
class ModelRemovalViewSet(_Removing):
    """Language models that are put away."""

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
        """Hide a model."""
        return self.archived(request, self._own(request, model_id))

    @extend_schema(
        operation_id="language_models_restore",
        summary="Restore an archived language model",
        request=None,
        responses=ArchivedSerializer,
    )
    def restore(self, request: Request, model_id: Any) -> Response:
        """Show a model again."""
        return self.restored(request, self._own(request, model_id))

    @extend_schema(
        operation_id="language_models_deletion",
        summary="Tell what hangs on a language model, before it is deleted",
        responses=HangingSerializer,
    )
    def hanging(self, request: Request, model_id: Any) -> Response:
        """Tell what would go, and why it cannot where its answers are in sets of others."""
        hanging = removals.hanging_on(self._own(request, model_id))
        return Response(HangingSerializer(hanging).data)

    @extend_schema(
        operation_id="language_models_delete",
        summary="Delete a language model, its answers and its scores",
        description="In the background; hidden at once. Runs that scored it count how many of "
        "their answers are gone. 409 where it answered in sets that its owner may not change.",
        request=ConfirmedModelSerializer,
        responses={202: RemovalSerializer},
    )
    def delete_for_good(self, request: Request, model_id: Any) -> Response:
        """Delete a model whose name is confirmed."""
        thing = self._own(request, model_id)
        confirmed = self.checked(ConfirmedModelSerializer).validated_data["name"]
        if confirmed.strip() != thing.name.strip():
            raise build_field_problem("name", "write the name of the model, to confirm")
        return self.deleted(request, thing)

    def _own(self, request: Request, model_id: Any) -> LanguageModel:
        return get_editable(request, LanguageModel.objects.all(), model_id)
