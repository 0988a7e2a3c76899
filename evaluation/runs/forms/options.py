"""Forms out of declared options: a field each, grouped, explained, refused in the form's words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.text import capfirst

from annotations.models.access import AnyUser
from evaluation.core.options import (
    SITE,
    Choice,
    Ids,
    JsonObject,
    Option,
    OptionError,
    Parameters,
    Problem,
    Real,
    RegisteredModel,
    RegisteredModels,
    Switch,
    Text,
    Whole,
    build_problem,
)
from evaluation.core.options.declaration import BASIC, DATABASE
from evaluation.models import LanguageModel
from evaluation.runs.background.exclusions import EXCLUDE
from evaluation.runs.background.reserved_options import find_reserved_options

OTHER = "other"
OTHER_WORDS = "Another one, named below"


@dataclass(frozen=True)
class ExcludedField:
    """The field of workers to leave out, where people excluded some of them from the set.

    Attributes
    ----------
    n : how many are excluded; `n_left_out` of them are in the field.
    """

    field: forms.BoundField
    n: int
    n_left_out: int


@dataclass(frozen=True)
class FieldGroup:
    """Fields that a form folds away; `is_open` says that something in them needs to be seen."""

    title: str
    fields: list[forms.BoundField]
    is_open: bool


class OptionForm(forms.Form):
    """Everything that a kind of run may be asked to do; `parameters()` is a valid form's answer."""

    options_of: ClassVar[type[Parameters]]

    def __init__(
        self,
        user: AnyUser,
        *args: Any,
        like: Parameters | None = None,
        preset: Mapping[str, str] | None = None,
        excluded: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        """Begin with the parameters of `like`; `preset` are fields that an address set on top.

        `excluded` are ids of workers whom people excluded: their field begins with these as well.
        """
        self.options = options_on(self.options_of)
        self.preset = {
            name: value for name, value in (preset or {}).items() if name in self.options
        }
        initial = {**self._initial(like or self.options_of()), **self.preset}
        self._excluded = tuple(excluded) if EXCLUDE in self.options else ()
        if self._excluded:
            named = dict.fromkeys([*_ids(initial[EXCLUDE]), *self._excluded])
            initial[EXCLUDE] = "\n".join(named)
        kwargs["initial"] = initial
        super().__init__(*args, **kwargs)
        self._user = user
        choosers = [field for field in self.fields.values() if isinstance(field, ModelChooser)]
        self.askable = list(askable_models(user)) if choosers else []
        for chooser in choosers:
            chooser.offer(self.askable)

    def clean(self) -> dict[str, Any]:
        """Refuse values out of bounds, what is for operators, and what contradicts itself."""
        values: dict[str, Any] = super().clean() or {}
        for name, option in self.options.items():
            at = self._field_of(name)
            if name in values and at not in self.errors:
                self._refuse(at, option.check(self._value(name)))
        if self.errors:
            return values
        asked = self.parameters()
        for wrong in find_reserved_options(self._user, asked):
            self._refuse(self._field_of(wrong.option), wrong)
        if not self.errors:
            for wrong in asked.problems():
                self._refuse(None, wrong)
        return values

    def refuse(self, error: OptionError) -> None:
        """Show what was found wrong after the form itself had found nothing."""
        for wrong in error.problems:
            self._refuse(self._field_of(wrong.option) if wrong.option else None, wrong)

    def sentences(self, error: OptionError) -> list[str]:
        """Return what is wrong, where the form itself is not filled in yet."""
        return [_capital(SITE.sentence(self.options_of, wrong)) for wrong in error.problems]

    def parameters(self) -> Any:
        """Return what was asked for, an object of the class of options."""
        return self.options_of(**{name: self._value(name) for name in self.options})

    def basic(self) -> list[forms.BoundField]:
        """Return the fields that everybody should look at, whom to ask before how."""
        return sorted(self._in_group(BASIC), key=lambda at: not isinstance(at.field, ModelChooser))

    def folded(self) -> list[FieldGroup]:
        """Return the other groups, in order."""
        found = []
        for group, title in self.options_of.groups.items():
            fields = list(self._in_group(group))
            seen = any(field.errors or field.name in self.preset for field in fields)
            found.append(FieldGroup(title, fields, bool(self.non_field_errors()) or seen))
        return found

    @property
    def excluded(self) -> ExcludedField | None:
        """The field that leaves out excluded workers; None where nobody is excluded."""
        if not self._excluded:
            return None
        left_out = set(self._excluded).intersection(_ids(self[EXCLUDE].value()))
        return ExcludedField(self[EXCLUDE], len(self._excluded), len(left_out))

    @property
    def lacks_models(self) -> bool:
        """Whether a model has to be chosen, and none is registered that could be asked."""
        needs = (
            field.required for field in self.fields.values() if isinstance(field, ModelChooser)
        )
        return any(needs) and not self.askable

    def preset_labels(self) -> list[str]:
        """Return the labels of what an address set beforehand."""
        return [str(self[name].label) for name in self.preset]

    def _in_group(self, group: str) -> Iterator[forms.BoundField]:
        for name in self.fields:
            if name == EXCLUDE and self._excluded:
                continue  # it has a place of its own
            if self.options[name.removeprefix(f"{OTHER}_")].group == group:
                yield self[name]

    def _field_of(self, name: str) -> str:
        """Return the field that holds an option: its own, or that of another value."""
        other = f"{OTHER}_{name}"
        chosen = self.cleaned_data.get(name) == OTHER
        return other if chosen and other in self.fields else name

    def _value(self, name: str) -> Any:
        option, value = self.options[name], self.cleaned_data[self._field_of(name)]
        if value not in (None, ""):
            return value
        return None if option.optional else option.default if option.empty_is_default else ""

    def _refuse(self, field: str | None, wrong: Problem | None) -> None:
        if wrong is not None:
            said = _capital(SITE.sentence(self.options_of, wrong))
            self.add_error(field, ValidationError(said, wrong.code))

    def _initial(self, parameters: Parameters) -> dict[str, Any]:
        """Return parameters as the form shows them."""
        values: dict[str, Any] = {}
        for name, option in self.options.items():
            value = values[name] = getattr(parameters, name)
            if isinstance(option, Text) and option.suggestions and value not in option.suggestions:
                values |= {name: OTHER, f"{OTHER}_{name}": value}
        return values


def _ids(value: Any) -> list[str]:
    """Return the ids of a field of them, which holds a text of lines or a list."""
    lines = value.splitlines() if isinstance(value, str) else value or ()
    return [line.strip() for line in lines if line.strip()]


def options_on(of: type[Parameters]) -> dict[str, Option]:
    """Return the options that a form or a request has: those of the database."""
    return {name: option for name, option in of.options().items() if DATABASE in option.places}


_FORMS: dict[type[Parameters], type[OptionForm]] = {}


def form_for(of: type[Parameters]) -> type[OptionForm]:
    """Return the form of a class of options; made once."""
    if of not in _FORMS:
        _FORMS[of] = _made_form(of)
    return _FORMS[of]


def _made_form(of: type[Parameters]) -> type[OptionForm]:
    fields: dict[str, forms.Field] = {}
    for name, option in options_on(of).items():
        field = fields[name] = field_of(option)
        field.label, field.initial = option.label, option.default
        field.help_text = SITE.help(of, name)
        if code := getattr(option, "needed", ""):
            said = _capital(SITE.sentence(of, build_problem(code, name)))
            field.error_messages |= {"required": f"{said}."}
        if isinstance(field, ReadField) and isinstance(option, Ids):
            field.help_text += " One on each line."
        if isinstance(option, Text) and option.suggestions:
            fields[f"{OTHER}_{name}"] = forms.CharField(
                label=option.other_label, help_text=option.other_help, required=False
            )
    return type(f"{of.__name__}Form", (OptionForm,), {**fields, "options_of": of})


class ReadField(forms.CharField):
    """A text of several lines that the option reads: ids, one on each line, or a JSON object."""

    widget = forms.Textarea(attrs={"rows": 3})

    def __init__(self, option: Option) -> None:
        super().__init__(required=False)
        self.option = option

    def to_python(self, value: Any) -> Any:
        """Return what the text says."""
        text = super().to_python(value)
        if not text:
            return self.option.default
        try:
            return self.option.read(text)
        except OptionError as error:
            wrong = error.problems[0]
            raise ValidationError(SITE.sentence(Parameters, wrong), wrong.code) from error

    def prepare_value(self, value: Any) -> Any:
        """Return the value as it is shown."""
        if isinstance(value, list | tuple):
            return "\n".join(value)
        return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value


def askable_models(user: AnyUser) -> QuerySet[LanguageModel]:
    """Return the registered models that a user may have asked, by name."""
    return (
        LanguageModel.objects.editable_by(user)
        .filter(archived_at=None)
        .exclude(spec="")
        .order_by("name")
    )


class ModelChooser(forms.ChoiceField):
    """One of the models that somebody registered, by its name."""

    def offer(self, models: Sequence[LanguageModel]) -> None:
        """Say which there are, for the person who fills in the form."""
        names = [(str(model.public_id), str(model)) for model in models]
        self.choices = names if self.required else [("", "none"), *names]


class ModelsChooser(ModelChooser, forms.MultipleChoiceField):
    """Any number of them, with a box to tick for each."""

    widget = forms.CheckboxSelectMultiple

    def offer(self, models: Sequence[LanguageModel]) -> None:
        """Say which there are."""
        self.choices = [(str(model.public_id), str(model)) for model in models]


@singledispatch
def field_of(option: Option) -> forms.Field:
    """Return the field of an option, which reads a value; its bounds are checked by the form."""
    raise TypeError(f"no form has a field for {type(option).__name__}")


@field_of.register
def _(option: Text) -> forms.Field:
    if option.suggestions:
        return forms.ChoiceField(choices=[*option.suggestions.items(), (OTHER, OTHER_WORDS)])
    attributes = {"maxlength": option.max_length}
    widget: forms.Widget = forms.TextInput(attributes)
    if option.rows:
        widget = forms.Textarea({**attributes, "rows": option.rows})
    return forms.CharField(required=not option.optional, widget=widget)


@field_of.register
def _(option: RegisteredModel) -> forms.Field:
    return ModelChooser(required=bool(option.needed))


@field_of.register
def _(option: RegisteredModels) -> forms.Field:
    return ModelsChooser(required=bool(option.needed))


@field_of.register
def _(option: Whole) -> forms.Field:
    bounds = {"min": 0 if option.or_zero else option.lowest, "max": option.highest}
    attributes = {name: value for name, value in bounds.items() if value is not None}
    widget = forms.NumberInput(attrs=attributes)
    return forms.IntegerField(required=_is_required(option), widget=widget)


@field_of.register
def _(option: Real) -> forms.Field:
    widget = forms.TextInput(attrs={"inputmode": "decimal"})
    return forms.FloatField(required=_is_required(option), widget=widget)


@field_of.register
def _(_option: Switch) -> forms.Field:
    return forms.BooleanField(required=False)


@field_of.register
def _(option: Choice) -> forms.Field:
    choices = [(value, words or value) for value, words in option.choices.items()]
    if option.optional:
        choices.insert(0, ("", option.none))
    return forms.ChoiceField(required=not option.optional, choices=choices)


@field_of.register(Ids)
@field_of.register(JsonObject)
def _(option: Option) -> forms.Field:
    return ReadField(option)


def _capital(sentence: str) -> str:
    return capfirst(sentence)


def _is_required(option: Option) -> bool:
    return not (option.optional or option.empty_is_default)


def refusal(of: type[Parameters], error: OptionError) -> str:
    """Return why a run was not started, for a message on a page."""
    return " ".join(f"{SITE.told(of, wrong)}." for wrong in error.problems)
