"""Build the request and response serializers of each run type from its declaration."""

from __future__ import annotations

from functools import cache
from typing import Any, get_type_hints

from drf_spectacular.utils import (
    PolymorphicProxySerializer,
    extend_schema_field,
    extend_schema_serializer,
)
from rest_framework import serializers

from annotations.web.rest.base import StrictSerializer
from annotations.web.rest.serializers import build_serializer
from evaluation.models.runs import GRADING, LONGEST_NAME, LONGEST_NOTES
from evaluation.runs.rest.option_serializer import OptionSerializer, build_options_serializer
from evaluation.runs.run_types import Kind, list_run_kinds

Made = type[serializers.Serializer[Any]]
Described = serializers.Serializer[Any] | Made


FORMER_NAME = "The former name of `run_type`, until the next release."


@extend_schema_serializer(deprecate_fields=["kind"])
class NewRunSerializer(StrictSerializer):
    """Request for a new run: question set, run type, options, and the run's label."""

    question_set = serializers.UUIDField()
    run_type = serializers.CharField(required=False)
    kind = serializers.CharField(required=False, help_text=FORMER_NAME)
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

    def validate_run_type(self, name: str) -> str:
        """Return the run type's name; ValidationError lists all if it is unknown."""
        if name not in list_run_kinds():
            raise serializers.ValidationError(f"There are {', '.join(list_run_kinds())}.")
        return name

    def validate_kind(self, name: str) -> str:
        """Return the run type's name, given under the former name of the field."""
        return self.validate_run_type(name)

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values with `run_type`; ValidationError if `kind` contradicts it."""
        former = values.pop("kind", None)
        run_type = values.setdefault("run_type", former or GRADING)
        if former not in (None, run_type):
            raise serializers.ValidationError({"kind": "It must equal run_type, or be left out."})
        return values


@cache
def build_parameters_serializer(kind: Kind) -> type[OptionSerializer]:
    """Return the serializer class of a run type's options."""
    told = f"How it is done: {kind.title}. What is left out has its default."
    return build_options_serializer(
        kind.options, f"{_build_class_name(kind)}ParametersSerializer", told
    )


@cache
def build_request_serializer(kind: Kind) -> type[NewRunSerializer]:
    """Return the serializer class of a request for a run of this type."""
    names: dict[str, Any] = {"choices": [kind.name], "required": False}
    fields = {
        "__doc__": kind.words,
        "run_type": serializers.ChoiceField(**names),
        "kind": serializers.ChoiceField(**names, help_text=FORMER_NAME),
        "parameters": build_parameters_serializer(kind)(required=False),
    }
    return type(f"New{_build_class_name(kind)}RunSerializer", (NewRunSerializer,), fields)


def find_request_serializer(body: Any) -> type[NewRunSerializer]:
    """Return the serializer class for a request's body, by the run type it names."""
    asked = body.get("run_type", body.get("kind", GRADING)) if isinstance(body, dict) else GRADING
    kind = list_run_kinds().get(asked) if isinstance(asked, str) else None
    return NewRunSerializer if kind is None else build_request_serializer(kind)


@cache
def _build_run_serializer(kind: Kind, base: Made) -> Made:
    """Return the serializer class of runs of one type, with their options."""

    @extend_schema_field(build_parameters_serializer(kind))
    def get_parameters(self: Any, run: Any) -> Any:
        """All options of the run, including those left to their defaults."""
        return base.get_parameters(self, run)  # type: ignore[attr-defined]

    fields = {
        "__doc__": f"A run: {kind.title}.",
        "kind": serializers.ChoiceField(choices=[kind.name]),
        "get_parameters": get_parameters,
    }
    return type(f"{_build_class_name(kind)}RunSerializer", (base,), fields)


def _build_report_serializer(kind: Kind) -> Made:
    """Return the serializer class of a run type's report, else of its summary."""
    found: Any = get_type_hints(kind.report)["return"] if kind.report else kind.summary
    return build_serializer(found)


def _build_request_serializers() -> dict[str, Described]:
    """Return the request serializers of all run types, by run type name."""
    return {name: build_request_serializer(kind) for name, kind in list_run_kinds().items()}


def _list_report_serializers() -> list[Described]:
    """Return the distinct report serializers of all run types."""
    return list(dict.fromkeys(_build_report_serializer(kind) for kind in list_run_kinds().values()))


NEW_RUN = PolymorphicProxySerializer("NewRun", _build_request_serializers, "run_type")
REPORT = PolymorphicProxySerializer("Report", _list_report_serializers, None)


def build_run_proxy(base: Made, many: bool = False) -> PolymorphicProxySerializer:
    """Return the API schema of runs of all types; `base` has the shared fields."""

    def of_kinds() -> dict[str, Described]:
        return {name: _build_run_serializer(kind, base) for name, kind in list_run_kinds().items()}

    return PolymorphicProxySerializer("Run", of_kinds, "run_type", many=many)


def _build_class_name(kind: Kind) -> str:
    """Return a run type's name in CamelCase, for names of serializer classes."""
    return kind.name.title().replace("-", "").replace("_", "")
