"""Serialize runs for the REST API, in a list and one by one."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotations.web.rest.problems import ApiProblem, Fault
from annotations.web.rest.renamed_keys import rename_keys
from evaluation.core.options import API, OptionError
from evaluation.models import Run
from evaluation.runs.background.progress import compute_progress
from evaluation.runs.rest.message_field import SaidField
from evaluation.runs.rest.run_kinds import build_run_proxy
from evaluation.runs.run_types import Kind, UnknownKindError, get_run_kind
from evaluation.runs.run_types.run_list import ListedRun, list_runs


class ProgressSerializer(serializers.Serializer[Any]):
    """Progress of a run; `done` of `total` counts the steps of the stage `stage`."""

    stage = serializers.CharField(help_text="Such as embedding; empty before the first.")
    done = serializers.IntegerField()
    total = serializers.IntegerField(allow_null=True)
    percent = serializers.IntegerField(allow_null=True)
    rate = serializers.FloatField(allow_null=True, help_text="Steps a second.")
    seconds_left = serializers.FloatField(allow_null=True, help_text="Of the stage.")
    waiting = serializers.BooleanField(help_text="Nobody works on it: no worker is running.")


@rename_keys(called="label", of_record="is_official", kind="run_type")
class RunRowSerializer(serializers.ModelSerializer[Run]):
    """A run as an entry of a list, without its options and progress."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    question_set = serializers.UUIDField(source="version.question_set.public_id")
    version = serializers.IntegerField(source="version.number")
    embedder = serializers.CharField(allow_null=True)
    called = serializers.SerializerMethodField(
        help_text="Its name; without one what differs from the defaults, or its date."
    )
    differs = serializers.SerializerMethodField(
        help_text="What differs from the defaults, a few words each."
    )
    of_record = serializers.SerializerMethodField(
        help_text="Whether exports and overviews take it for the set."
    )

    class Meta:
        """Lists the fields of a run in a list, in the order of the response."""

        model = Run
        fields = (
            *("id", "name", "called", "differs", "of_record", "question_set", "version", "kind"),
            *("state", "embedder", "created_at", "started_at", "finished_at"),
        )
        read_only_fields = fields

    def get_called(self, run: Run) -> str:
        """Title of the run: its name, else its non-default options or date."""
        return self._listed(run).called.title

    def get_differs(self, run: Run) -> list[str]:
        """Options of the run that differ from the defaults, a few words each."""
        return list(self._listed(run).called.differs)

    def get_of_record(self, run: Run) -> bool:
        """Whether exports and overviews take this run for its question set."""
        return self._listed(run).is_of_record

    def _listed(self, run: Run) -> ListedRun:
        """Return the run with its title, from the context if the list has loaded it."""
        # A list looks all of them up at once, and every other answer shows one.
        known: dict[int, ListedRun] = self.context.get("listed", {})
        return known.get(run.pk) or list_runs([run])[0]


class RunSerializer(RunRowSerializer):
    """A run with options, progress and results; queued, running, done, failed and so on."""

    embedder = None  # type: ignore[assignment]
    parameters = serializers.SerializerMethodField()
    progress = serializers.SerializerMethodField()
    error = SaidField(help_text="Why it failed.")
    warnings = serializers.ListField(child=SaidField())
    results = serializers.SerializerMethodField(
        help_text="Address of the results; null while there are none."
    )

    class Meta:
        """Lists the fields of a run, in the order of the response."""

        model = Run
        fields = (
            *("id", "name", "notes", "called", "differs", "of_record", "question_set", "version"),
            *("kind", "state", "progress", "parameters"),
            *("signature", "input_hash", "error", "warnings", "results"),
            *("created_at", "started_at", "finished_at", "n_withdrawn"),
        )
        read_only_fields = fields

    def get_parameters(self, run: Run) -> dict[str, Any]:
        """All options of the run, including those left to their defaults."""
        try:
            return get_run_kind(run).options.completed(run.parameters)
        except UnknownKindError:
            return dict(run.parameters)

    @extend_schema_field(ProgressSerializer)
    def get_progress(self, run: Run) -> dict[str, Any]:
        """Stage, steps done, and remaining time of the run."""
        return dict(ProgressSerializer(compute_progress(run)).data)

    def get_results(self, run: Run) -> str | None:
        """URL of the run's results; null while the run is not done."""
        if run.state != Run.State.DONE:
            return None
        address = reverse("api:results-run", args=[run.public_id])
        return str(self.context["request"].build_absolute_uri(address))


RUN = build_run_proxy(RunSerializer)


def build_options_problem(kind: Kind, error: OptionError, code: str = "invalid") -> ApiProblem:
    """Return the API problem that lists what is wrong with a new run's options."""
    if any(one.code == "too_many_runs" for one in error.problems):
        code = "conflict"  # nothing is wrong with the request itself
    faults = [
        Fault(
            API.sentence(kind.options, one),
            pointer=f"#/parameters/{one.option}" if one.option else "#",
            code=one.code,
        )
        for one in error.problems
    ]
    return ApiProblem(code, " ".join(f"{fault.detail}." for fault in faults), faults)
