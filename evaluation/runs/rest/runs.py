"""Serializers of runs, of run types, and of their options.

Build serializers of run options from their declarations, one field per option. Build the request
and response serializers of each run type from its declaration. Serialize runs for the REST API, in
a list and one by one.
"""

from __future__ import annotations

from functools import cache, partial, singledispatch
from typing import Any, ClassVar, get_type_hints

from django.urls import reverse
from drf_spectacular.utils import (
    PolymorphicProxySerializer,
    extend_schema_field,
    extend_schema_serializer,
)
from rest_framework import serializers

from annotations.web.rest.base import StrictSerializer
from annotations.web.rest.problems import ApiProblem, Fault
from annotations.web.rest.renamed_keys import add_renamed_keys
from annotations.web.rest.serializers import build_serializer
from evaluation.core.options import (
    API,
    ChoiceOption,
    FloatOption,
    IdsOption,
    IntegerOption,
    JsonOption,
    Option,
    OptionError,
    Parameters,
    Problem,
    SwitchOption,
    TextOption,
)
from evaluation.core.options.declaration import DATABASE
from evaluation.models import Run
from evaluation.models.runs import GRADING, LONGEST_NAME, LONGEST_NOTES
from evaluation.runs.background.exclusions import EXCLUDE
from evaluation.runs.background.progress import compute_progress
from evaluation.runs.background.runs import find_reserved_options
from evaluation.runs.rest.views import MessageField
from evaluation.runs.run_types import Kind, UnknownKindError, get_run_kind, list_run_kinds
from evaluation.runs.run_types.run_list import ListedRun, list_runs

WITHOUT_EXCLUDED = "Without it, the workers excluded from the set are left out."


class OptionSerializer(StrictSerializer):
    """The options of a new run; a missing option has its default."""

    options_of: ClassVar[type[Parameters]]

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the valid options; raise ValidationError with the problems by option."""
        options = self.options_of.get_options()
        checked = (options[name].find_problem(value) for name, value in values.items())
        wrong = [one for one in checked if one is not None]
        if not wrong:
            parameters = self.options_of(**values)
            user = self.context["request"].user
            wrong = find_reserved_options(user, parameters) or parameters.find_problems()
        if wrong:
            reasons: dict[str, list[str]] = {}
            for problem in wrong:
                reasons.setdefault(problem.option, []).append(self._format_problem(problem))
            raise serializers.ValidationError(reasons)
        return values

    def _format_problem(self, wrong: Problem) -> Any:
        """Return an option's problem as the API's sentence, with its code."""
        return serializers.ErrorDetail(API.format_field_problem(self.options_of, wrong), wrong.code)


def build_options_serializer(
    parameters: type[Parameters], name: str, description: str
) -> type[OptionSerializer]:
    """Return a serializer class with a field for each option; `name` is its name in the schema."""
    fields: dict[str, Any] = {}
    for key, option in parameters.get_options().items():
        if DATABASE not in option.places:
            continue
        fields[key] = build_serializer_field(option, _build_arguments(parameters, option))
    return type(
        name, (OptionSerializer,), {**fields, "options_of": parameters, "__doc__": description}
    )


def _build_arguments(parameters: type[Parameters], option: Option) -> dict[str, Any]:
    """Return the arguments of an option's serializer field that do not depend on its type."""
    help_text = API.describe_option(parameters, option.name)
    if isinstance(option, TextOption) and option.suggestions:
        help_text = (
            f"{help_text} One of {', '.join(option.suggestions)}, or another. {option.other_help}"
        )
    default: Any = option.default
    if isinstance(default, dict | tuple):  # a new one each time
        default = partial(type(default), default) if default else type(default)
    if option.name == EXCLUDE:  # without it people's decisions say who is left out
        return {"help_text": f"{help_text.strip()} {WITHOUT_EXCLUDED}", "required": False}
    common = {"help_text": help_text.strip(), "default": default}
    return common | ({"allow_null": True} if option.optional else {})


class IdsField(serializers.ListField):
    """Serializer field of a list of distinct ids."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the ids as a tuple without repetitions, as the option stores them."""
        return tuple(dict.fromkeys(map(str, super().to_internal_value(data))))


@singledispatch
def build_serializer_field(option: Option, _common: dict[str, Any]) -> Any:
    """Return the serializer field of an option. Raises TypeError for an unknown option type."""
    raise TypeError(f"no request has a field for {type(option).__name__}")


@build_serializer_field.register
def _(option: TextOption, common: dict[str, Any]) -> Any:
    return serializers.CharField(max_length=option.max_length, **common)


@build_serializer_field.register
def _(option: IntegerOption, common: dict[str, Any]) -> Any:
    lowest = 0 if option.or_zero else option.lowest
    return serializers.IntegerField(min_value=lowest, max_value=option.highest, **common)


@build_serializer_field.register
def _(option: FloatOption, common: dict[str, Any]) -> Any:
    kind: Any = serializers.FloatField
    if option.above is not None:
        described = {"type": "number", "format": "double", "exclusiveMinimum": option.above}
        if option.highest is not None:
            described["maximum"] = option.highest
        # A class of its own: an instance is made anew for each request, without what was set on it.
        kind = extend_schema_field(described)(type("AboveField", (serializers.FloatField,), {}))
    return kind(min_value=option.lowest, max_value=option.highest, **common)


@build_serializer_field.register
def _(_option: SwitchOption, common: dict[str, Any]) -> Any:
    return serializers.BooleanField(**common)


@build_serializer_field.register
def _(option: ChoiceOption, common: dict[str, Any]) -> Any:
    return serializers.ChoiceField(choices=list(option.choices), **common)


@build_serializer_field.register
def _(option: IdsOption, common: dict[str, Any]) -> Any:
    child = serializers.UUIDField() if option.uuids else serializers.CharField()
    return IdsField(child=child, max_length=option.most, **common)


@build_serializer_field.register
def _(_option: JsonOption, common: dict[str, Any]) -> Any:
    return serializers.DictField(**common)


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
        """Return the name of the run type; raise ValidationError if it is unknown."""
        if name not in list_run_kinds():
            raise serializers.ValidationError(f"There are {', '.join(list_run_kinds())}.")
        return name

    def validate_kind(self, name: str) -> str:
        """Return the run type's name, sent under its former key; ValidationError if unknown."""
        return self.validate_run_type(name)

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values with `run_type`; raise ValidationError if `kind` contradicts it."""
        former = values.pop("kind", None)
        run_type = values.setdefault("run_type", former or GRADING)
        if former not in (None, run_type):
            raise serializers.ValidationError({"kind": "It must equal run_type, or be left out."})
        return values


@cache
def build_parameters_serializer(kind: Kind) -> type[OptionSerializer]:
    """Return the serializer class of a run type's options."""
    help_text = f"How it is done: {kind.title}. What is left out has its default."
    return build_options_serializer(
        kind.options, f"{_build_class_name(kind)}ParametersSerializer", help_text
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
    """Return the serializer class for the body of a request, by the run type in it."""
    name = body.get("run_type", body.get("kind", GRADING)) if isinstance(body, dict) else GRADING
    kind = list_run_kinds().get(name) if isinstance(name, str) else None
    return NewRunSerializer if kind is None else build_request_serializer(kind)


@cache
def _build_run_serializer(kind: Kind, base: Made) -> Made:
    """Return the serializer class of runs of one type, with the options of this type."""

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
    """Return the serializer class of a run type's report, or of its summary without one."""
    hint: Any = get_type_hints(kind.report)["return"] if kind.report else kind.summary
    return build_serializer(hint)


def _build_request_serializers() -> dict[str, Described]:
    """Return the request serializers of all run types, by run type name."""
    return {name: build_request_serializer(kind) for name, kind in list_run_kinds().items()}


def _list_report_serializers() -> list[Described]:
    """Return the distinct report serializers of all run types."""
    return list(dict.fromkeys(_build_report_serializer(kind) for kind in list_run_kinds().values()))


NEW_RUN = PolymorphicProxySerializer("NewRun", _build_request_serializers, "run_type")
REPORT = PolymorphicProxySerializer("Report", _list_report_serializers, None)


def build_run_proxy(base: Made, many: bool = False) -> PolymorphicProxySerializer:
    """Return the schema of runs of any type for the API; `base` has the shared fields."""

    def of_kinds() -> dict[str, Described]:
        return {name: _build_run_serializer(kind, base) for name, kind in list_run_kinds().items()}

    return PolymorphicProxySerializer("Run", of_kinds, "run_type", many=many)


def _build_class_name(kind: Kind) -> str:
    """Return a run type's name in CamelCase, for names of serializer classes."""
    return kind.name.title().replace("-", "").replace("_", "")


class ProgressSerializer(serializers.Serializer[Any]):
    """Progress of a run; `done` of `total` counts the steps of the stage `stage`."""

    stage = serializers.CharField(help_text="Such as embedding; empty before the first.")
    done = serializers.IntegerField()
    total = serializers.IntegerField(allow_null=True)
    percent = serializers.IntegerField(allow_null=True)
    rate = serializers.FloatField(allow_null=True, help_text="Steps a second.")
    seconds_left = serializers.FloatField(allow_null=True, help_text="Of the stage.")
    waiting = serializers.BooleanField(
        help_text="Not in progress: no background process is running."
    )


@add_renamed_keys(called="label", of_record="is_official", kind="run_type")
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
        return self._get_listed_run(run).called.title

    def get_differs(self, run: Run) -> list[str]:
        """Options of the run that differ from the defaults, a few words each."""
        return list(self._get_listed_run(run).called.differs)

    def get_of_record(self, run: Run) -> bool:
        """Whether the run is its set's official one, which exports and overviews use."""
        return self._get_listed_run(run).is_of_record

    def _get_listed_run(self, run: Run) -> ListedRun:
        """Return the run with its title, which a list view has loaded into the context."""
        # A list looks all of them up at once, and every other answer shows one.
        known: dict[int, ListedRun] = self.context.get("listed", {})
        return known.get(run.pk) or list_runs([run])[0]


class RunSerializer(RunRowSerializer):
    """A run with options, progress and results; queued, running, done, failed and so on."""

    embedder = None  # type: ignore[assignment]
    parameters = serializers.SerializerMethodField()
    progress = serializers.SerializerMethodField()
    error = MessageField(help_text="Why it failed.")
    warnings = serializers.ListField(child=MessageField())
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
            return get_run_kind(run).options.add_defaults(run.parameters)
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
    if any(problem.code == "too_many_runs" for problem in error.problems):
        code = "conflict"  # nothing is wrong with the request itself
    faults = [
        Fault(
            API.format_field_problem(kind.options, problem),
            pointer=f"#/parameters/{problem.option}" if problem.option else "#",
            code=problem.code,
        )
        for problem in error.problems
    ]
    return ApiProblem(code, " ".join(f"{fault.detail}." for fault in faults), faults)
