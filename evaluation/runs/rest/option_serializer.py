"""Build serializers of run options from their declarations, one field per option."""

from __future__ import annotations

from functools import partial, singledispatch
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotations.web.rest.base import StrictSerializer
from evaluation.core.options import (
    API,
    Choice,
    Ids,
    JsonObject,
    Option,
    Parameters,
    Problem,
    Real,
    Switch,
    Text,
    Whole,
)
from evaluation.core.options.declaration import DATABASE
from evaluation.runs.background.exclusions import EXCLUDE
from evaluation.runs.background.reserved_options import find_reserved_options

WITHOUT_EXCLUDED = (
    "Where it is not sent, the workers whom people excluded from the set are left out."
)


class OptionSerializer(StrictSerializer):
    """The options of a new run; a missing option has its default."""

    options_of: ClassVar[type[Parameters]]

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return valid options; ValidationError lists the problems of each option."""
        options = self.options_of.options()
        checked = (options[name].check(value) for name, value in values.items())
        wrong = [one for one in checked if one is not None]
        if not wrong:
            asked = self.options_of(**values)
            user = self.context["request"].user
            wrong = find_reserved_options(user, asked) or asked.problems()
        if wrong:
            reasons: dict[str, list[str]] = {}
            for one in wrong:
                reasons.setdefault(one.option, []).append(self._reason(one))
            raise serializers.ValidationError(reasons)
        return values

    def _reason(self, wrong: Problem) -> Any:
        """Return the API's sentence on an option's problem, with the problem's code."""
        return serializers.ErrorDetail(API.sentence(self.options_of, wrong), wrong.code)


def build_options_serializer(
    of: type[Parameters], name: str, description: str
) -> type[OptionSerializer]:
    """Return the serializer class of an options class; `name` is its name in the schema."""
    fields: dict[str, Any] = {}
    for key, option in of.options().items():
        if DATABASE not in option.places:
            continue
        fields[key] = build_field(option, _build_arguments(of, option))
    return type(name, (OptionSerializer,), {**fields, "options_of": of, "__doc__": description})


def _build_arguments(of: type[Parameters], option: Option) -> dict[str, Any]:
    """Return the serializer field arguments that options of all types have."""
    help_text = API.described(of, option.name)
    if isinstance(option, Text) and option.suggestions:
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
        """Return the ids as the option stores them."""
        return tuple(dict.fromkeys(map(str, super().to_internal_value(data))))


@singledispatch
def build_field(option: Option, _common: dict[str, Any]) -> Any:
    """Return the serializer field of an option. Raises TypeError for an unknown option type."""
    raise TypeError(f"no request has a field for {type(option).__name__}")


@build_field.register
def _(option: Text, common: dict[str, Any]) -> Any:
    return serializers.CharField(max_length=option.max_length, **common)


@build_field.register
def _(option: Whole, common: dict[str, Any]) -> Any:
    lowest = 0 if option.or_zero else option.lowest
    return serializers.IntegerField(min_value=lowest, max_value=option.highest, **common)


@build_field.register
def _(option: Real, common: dict[str, Any]) -> Any:
    kind: Any = serializers.FloatField
    if option.above is not None:
        described = {"type": "number", "format": "double", "exclusiveMinimum": option.above}
        if option.highest is not None:
            described["maximum"] = option.highest
        # A class of its own: an instance is made anew for each request, without what was set on it.
        kind = extend_schema_field(described)(type("AboveField", (serializers.FloatField,), {}))
    return kind(min_value=option.lowest, max_value=option.highest, **common)


@build_field.register
def _(_option: Switch, common: dict[str, Any]) -> Any:
    return serializers.BooleanField(**common)


@build_field.register
def _(option: Choice, common: dict[str, Any]) -> Any:
    return serializers.ChoiceField(choices=list(option.choices), **common)


@build_field.register
def _(option: Ids, common: dict[str, Any]) -> Any:
    child = serializers.UUIDField() if option.uuids else serializers.CharField()
    return IdsField(child=child, max_length=option.most, **common)


@build_field.register
def _(_option: JsonObject, common: dict[str, Any]) -> Any:
    return serializers.DictField(**common)
