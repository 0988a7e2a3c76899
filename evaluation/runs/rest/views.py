"""Views and fields that features share: finished runs, notes, messages, conflicts.

Serialize messages as the API's sentences. Define the problem documents of requests that conflict
with the current state, by code. Find the users that a request names as experts. Serve the results
of finished runs, with long lists split into pages. Serve the notes that users write on workers and
language models.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.exchange.writing.formats import FORMATS
from annotations.models import Share
from annotations.sentences import Sentences
from annotations.web.notes import check_note_rights, create_note, delete_note
from annotations.web.rest.base import ApiViewSet, StrictModelSerializer
from annotations.web.rest.problems import ApiProblem, build_field_problem
from annotations.web.rest.serializers import PLAIN
from annotations.web.scope import get_user_id, get_visible_or_404
from evaluation.core.messages.message import Message
from evaluation.core.options import API
from evaluation.models import Run
from evaluation.runs.run_types import Kind, RunSummary, UnknownKindError, get_run_kind


class MessageField(serializers.CharField):
    """Serializer field that shows a message, also a stored one, as a sentence."""

    def to_representation(self, value: Any) -> str:
        """Return the API's sentence for a message."""
        return API.format_message(value)


PLAIN[Message] = MessageField


def _format_nothing_left(noun: str, held_back: str) -> str:
    """Return the sentence that no confirmed bonus or payment is left to send."""
    return f"No confirmed {noun} was left to be sent.{f' {held_back}.' if held_back else ''}"


CONFLICTS = Sentences(
    {
        "too_few_people": "{people:,} of the {needed} people that a grading needs have handed in.",
        "nobody_left": "There is no worker left to accept.",
        "people_changed": "The list has changed: read who would be accepted, and send the "
        "request again.",
        "nothing_to_take_back": "Nothing of it is left to take back.",
        "decided_meanwhile": "{by} decided meanwhile: {kind} ({decision}).",
        "nothing_to_answer": "They wrote nothing to answer to.",
        "answered": "Another answer was given before, and only one is possible.",
        "nothing_left": _format_nothing_left,
        "other_total": "You sent {said:.2f}, but the total is now {total:.2f}. Nothing was "
        "changed; check the list again.",
        "rule_changed": "Who gets the bonus has changed since: try the rule again.",
    }
)


def build_conflict_problem(
    code: str, more: Mapping[str, Any] | None = None, /, **values: Any
) -> ApiProblem:
    """Return the API problem of a conflict with a code of `CONFLICTS`; `more` is added to it."""
    text = CONFLICTS.text(code, **values)
    return ApiProblem("conflict", text, reason=code, **(more or {}))


def find_expert_keys(request: Request, run: Run, names: list[str], field: str = "") -> list[int]:
    """Return the primary keys of the set's experts with these user names. Raises `ApiProblem`.

    `field` is the request's field with a single name, for the error.
    """
    shares = Share.objects.filter_experts(run.version.question_set)
    known = dict(shares.filter(user__username__in=names).values_list("user__username", "user"))
    # Users may name themselves, also without a share as an expert.
    known[request.user.get_username()] = get_user_id(request)
    for index, name in enumerate(names):
        if name not in known:
            raise build_field_problem(
                field or f"experts/{index}", "The set is not shared with an expert of this name."
            )
    return [known[name] for name in names]


CURSOR = OpenApiParameter("cursor", str, description="From `next` of the page before.")
LIMIT = OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": 200, "default": 50})
FORMAT = OpenApiParameter("format", str, enum=list(FORMATS), default="jsonl")


class PageSerializer(serializers.Serializer[Any]):
    """One page of a list inside a report, with the URL of the next page."""

    next = serializers.URLField(allow_null=True, help_text="Address of the next page.")


class FinishedRunViewSet(ApiViewSet):
    """Base of the endpoints on a finished run; responds 409 for an unfinished run."""

    queryset = Run.objects.all()
    lookup_url_kwarg = "run_id"
    stored: type[RunSummary] = RunSummary

    def get_finished_run(
        self,
        request: Request,
        run_id: Any,
        among: Any = None,
        summary: type[RunSummary] | None = None,
    ) -> Run:
        """Return the finished run if the user may see it. Raises Http404 and `ApiProblem`.

        Runs of other types, which store another class of `summary` (by default `stored`), raise
        Http404; an unfinished run raises `ApiProblem`.
        """
        runs = Run.objects.all() if among is None else among
        run = get_visible_or_404(request, runs.select_related("version__question_set"), run_id)
        if not self.get_kind(run).stores_summary(summary or self.stored):
            raise Http404("no run of this kind has that")
        if run.state == Run.State.DONE:
            return run
        headers = {} if run.is_finished else {"Retry-After": str(SECONDS_BETWEEN_LOOKS)}
        raise ApiProblem("no-results", f"The run is {run.state}.", headers=headers, state=run.state)

    def get_kind(self, run: Run) -> Kind:
        """Return the run type of a run. Raises Http404 for an unknown type."""
        try:
            return get_run_kind(run)
        except UnknownKindError as error:
            raise Http404(str(error)) from error


SECONDS_BETWEEN_LOOKS = 2


class NoteSerializer(StrictModelSerializer):
    """A user's note on a worker or model; subclasses set the model class."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    author = serializers.CharField(source="author.username", read_only=True)
    text = serializers.CharField(max_length=4000)

    class Meta:
        """Lists the fields of a note, in the order of the response."""

        fields: tuple[str, ...] = ("id", "text", "author", "created_at")
        read_only_fields: tuple[str, ...] = ("created_at",)


class NotingViewSet(ApiViewSet):
    """Base of the endpoints for notes on a worker or model."""

    def store_note(self, request: Request, thing: Any) -> Response:
        """Store a note on a worker or model, and respond with it."""
        check_note_rights(request, thing)
        serializer: Any = self.serializer_class
        text = self.validate_body(serializer).validated_data["text"]
        note = create_note(request, thing, text)
        return Response(serializer(note).data, status.HTTP_201_CREATED)

    def delete_own_note(self, request: Request, thing: Any, note_id: UUID) -> Response:
        """Delete a note that the user wrote on a worker or model, and respond with 204."""
        delete_note(request, thing, note_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
