"""What a request and an answer say of each kind of run: made out of what the kinds declare."""

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
from evaluation.kinds import Kind, run_kinds
from evaluation.models.runs import GRADING, LONGEST_NAME, LONGEST_NOTES
from evaluation.rest.option_serializer import OptionSerializer, serializer_for

Made = type[serializers.Serializer[Any]]
Described = serializers.Serializer[Any] | Made


FORMER_NAME = "The former name of `run_type`, until the next release."


@extend_schema_serializer(deprecate_fields=["kind"])
class NewRunSerializer(StrictSerializer):
    """Question set, run type and options of a new run."""

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
        """Return the name of a run type; ValidationError for an unknown one lists all."""
        if name not in run_kinds():
            raise serializers.ValidationError(f"There are {', '.join(run_kinds())}.")
        return name

    def validate_kind(self, name: str) -> str:
        """Return the name of a run type, as `validate_run_type` does."""
        return self.validate_run_type(name)

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values with `run_type` alone; ValidationError where `kind` contradicts it."""
        former = values.pop("kind", None)
        run_type = values.setdefault("run_type", former or GRADING)
        if former not in (None, run_type):
            raise serializers.ValidationError({"kind": "It must equal run_type, or be left out."})
        return values


@cache
def parameters_of(kind: Kind) -> type[OptionSerializer]:
    """Return the serializer of the options of a kind."""
    told = f"How it is done: {kind.title}. What is left out has its default."
    return serializer_for(kind.options, f"{_class_name(kind)}ParametersSerializer", told)


@cache
def new_run_of(kind: Kind) -> type[NewRunSerializer]:
    """Return the serializer of a request for a run of a kind; AQER is meant where none is named."""
    names: dict[str, Any] = {"choices": [kind.name], "required": False}
    fields = {
        "__doc__": kind.words,
        "run_type": serializers.ChoiceField(**names),
        "kind": serializers.ChoiceField(**names, help_text=FORMER_NAME),
        "parameters": parameters_of(kind)(required=False),
    }
    return type(f"New{_class_name(kind)}RunSerializer", (NewRunSerializer,), fields)


def new_run_in(body: Any) -> type[NewRunSerializer]:
    """Return the serializer of a request's body, which may ask for a kind that there is not."""
    asked = body.get("run_type", body.get("kind", GRADING)) if isinstance(body, dict) else GRADING
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
    return build_serializer(found)


def _new_runs() -> dict[str, Described]:
    return {name: new_run_of(kind) for name, kind in run_kinds().items()}


def _reports() -> list[Described]:
    return list(dict.fromkeys(_report_of(kind) for kind in run_kinds().values()))


NEW_RUN = PolymorphicProxySerializer("NewRun", _new_runs, "run_type")
REPORT = PolymorphicProxySerializer("Report", _reports, None)


def described_runs(base: Made, many: bool = False) -> PolymorphicProxySerializer:
    """Return how a run is described, by its kind; `base` is what all kinds have."""

    def of_kinds() -> dict[str, Described]:
        return {name: _run_of(kind, base) for name, kind in run_kinds().items()}

    return PolymorphicProxySerializer("Run", of_kinds, "run_type", many=many)


def _class_name(kind: Kind) -> str:
    return kind.name.title().replace("-", "").replace("_", "")
