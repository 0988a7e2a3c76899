"""What a request and an answer say of each kind of run: made out of what the kinds declare."""

from __future__ import annotations

from functools import cache
from typing import Any, get_type_hints

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from annotations.web.rest.base import StrictSerializer
from annotations.web.rest.serializers import serializer_of
from evaluation.api.option_serializer import OptionSerializer, serializer_for
from evaluation.kinds import Kind, run_kinds
from evaluation.models.runs import GRADING, LONGEST_NAME, LONGEST_NOTES

Made = type[serializers.Serializer[Any]]
Described = serializers.Serializer[Any] | Made


class NewRunSerializer(StrictSerializer):
    """What a run is of, and how it is done."""

    question_set = serializers.UUIDField()
    kind = serializers.CharField(default=GRADING)
    version = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text="Number of the version; the latest that will do, if it is left out.",
    )
    parameters = serializers.DictField(required=False)
    name = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=LONGEST_NAME,
        help_text="What you call the run.",
    )
    notes = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=LONGEST_NOTES,
        help_text="Why it is made, for people.",
    )

    def validate_kind(self, name: str) -> str:
        """Refuse a kind that there is not."""
        if name not in run_kinds():
            raise serializers.ValidationError(f"There are {', '.join(run_kinds())}.")
        return name


@cache
def parameters_of(kind: Kind) -> type[OptionSerializer]:
    """Return the serializer of the options of a kind."""
    told = f"How it is done: {kind.title}. What is left out has its default."
    return serializer_for(kind.options, f"{_class_name(kind)}ParametersSerializer", told)


@cache
def new_run_of(kind: Kind) -> type[NewRunSerializer]:
    """Return the serializer of a request for a run of a kind; AQER is meant where none is named."""
    of_kind: dict[str, Any] = {"default": kind.name} if kind.name == GRADING else {}
    fields = {
        "__doc__": kind.words,
        "kind": serializers.ChoiceField(choices=[kind.name], **of_kind),
        "parameters": parameters_of(kind)(required=False),
    }
    return type(f"New{_class_name(kind)}RunSerializer", (NewRunSerializer,), fields)


def new_run_in(body: Any) -> type[NewRunSerializer]:
    """Return the serializer of a request's body, which may ask for a kind that there is not."""
    asked = body.get("kind", GRADING) if isinstance(body, dict) else GRADING
    kind = run_kinds().get(asked) if isinstance(asked, str) else None
    return NewRunSerializer if kind is None else new_run_of(kind)


@cache
def _run_of(kind: Kind, base: Made) -> Made:
    """Return how a run of a kind is described."""

    @extend_schema_field(parameters_of(kind))
    def get_parameters(self: Any, run: Any) -> Any:
        """All parameters, also those that were left to their defaults."""
        return base.get_parameters(self, run)  # type: ignore[attr-defined]

    fields = {
        "__doc__": f"A run: {kind.title}.",
        "kind": serializers.ChoiceField(choices=[kind.name]),
        "get_parameters": get_parameters,
    }
    return type(f"{_class_name(kind)}RunSerializer", (base,), fields)


def _report_of(kind: Kind) -> Made:
    found: Any = get_type_hints(kind.report)["return"] if kind.report else kind.summary
    return serializer_of(found)


def _new_runs() -> dict[str, Described]:
    return {name: new_run_of(kind) for name, kind in run_kinds().items()}


def _reports() -> list[Described]:
    return list(dict.fromkeys(_report_of(kind) for kind in run_kinds().values()))


NEW_RUN = PolymorphicProxySerializer("NewRun", _new_runs, "kind")
REPORT = PolymorphicProxySerializer("Report", _reports, None)


def described_runs(base: Made, many: bool = False) -> PolymorphicProxySerializer:
    """Return how a run is described, by its kind; `base` is what all kinds have."""

    def of_kinds() -> dict[str, Described]:
        return {name: _run_of(kind, base) for name, kind in run_kinds().items()}

    return PolymorphicProxySerializer("Run", of_kinds, "kind", many=many)


def _class_name(kind: Kind) -> str:
    return kind.name.title().replace("-", "").replace("_", "")
