"""Forms that pages of several features share: run options, a run's name, stale decisions.

Detect that another user decided something after the page was opened. Start the form of a new run
with the settings of an earlier run. Build forms from declared run options: one field per option, in
groups, with its checks. Form part for the name and notes that users give to a run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.text import capfirst

from annotations.models import Decision, QuestionSet
from annotations.models.access import AnyUser
from evaluation.core.options import (
    SITE,
    ChoiceOption,
    FloatOption,
    IdsOption,
    IntegerOption,
    JsonOption,
    Option,
    OptionError,
    Parameters,
    Problem,
    RegisteredModelOption,
    RegisteredModelsOption,
    SwitchOption,
    TextOption,
    build_problem,
)
from evaluation.core.options.declaration import BASIC, DATABASE
from evaluation.models import LanguageModel, Run, WorkerVerdict
from evaluation.runs.background.exclusions import EXCLUDE
from evaluation.runs.background.runs import find_reserved_options
from evaluation.runs.reports.about import build_run_title
from evaluation.runs.run_types import Kind


def get_seen_decision_id(request: HttpRequest) -> UUID | None:
    """Return the id of the newest decision on the page that was posted; None without one."""
    try:
        return UUID(request.POST.get("seen", ""))
    except ValueError:
        return None


def format_decision_conflict(newest: Decision | WorkerVerdict, user: Any, what: str) -> str:
    """Return the message that the decision is not stored, because another came before it."""
    name = "You" if newest.decided_by_id == user.pk else newest.decided_by.get_username()
    return (
        f"{name} decided meanwhile: {what} ({newest.created_at:%-d %b %Y, %H:%M} UTC). What you "
        "chose is not stored; choose again."
    )


@dataclass(frozen=True)
class InitialSettings:
    """The options with which a form starts: those of an earlier run, or the defaults.

    Attributes
    ----------
    called : title of the run whose settings these are, "" for the defaults. unreadable : title of a
        run whose settings this version of the platform cannot read, so that the defaults are used.
    """

    parameters: Parameters
    called: str = ""
    unreadable: str = ""


def find_run_to_repeat(request: HttpRequest, question_set: QuestionSet, kind: Kind) -> Run | None:
    """Return the set's visible run with the id in the query parameter `like`; None without one."""
    try:
        run_id = UUID(request.GET.get("like", ""))
    except ValueError:
        return None
    runs = Run.objects.visible_to(request.user).filter(
        version__question_set=question_set, kind=kind.name
    )
    return runs.filter(public_id=run_id).first()


def get_initial_settings(
    request: HttpRequest, question_set: QuestionSet, kind: Kind
) -> InitialSettings:
    """Return the options of the run with the id in `like` (query parameter), else the defaults."""
    run = find_run_to_repeat(request, question_set, kind)
    if run is None:
        return InitialSettings(kind.options())
    title = build_run_title(run, kind.options).title
    try:
        return InitialSettings(kind.options.from_dict(run.parameters), title)
    except KeyError:  # it is of another version of the platform
        return InitialSettings(kind.options(), unreadable=title)


OTHER = "other"
OTHER_WORDS = "Another one, named below"


@dataclass(frozen=True)
class ExcludedField:
    """The form field of workers to leave out, with the number of excluded workers.

    Attributes
    ----------
    n : number of excluded workers; n_left_out : number of them in the field.
    """

    field: forms.BoundField
    n: int
    n_left_out: int


@dataclass(frozen=True)
class FieldGroup:
    """A group of fields that the form collapses; `is_open` if errors or presets are inside."""

    title: str
    fields: list[forms.BoundField]
    is_open: bool


class OptionForm(forms.Form):
    """Form of a run type's options; `get_parameters()` returns the options of a valid form."""

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
        """Fill the form with the options `like`, overridden by `preset` (from the URL).

        `excluded` are ids of workers excluded by decisions, which are added to the initial value of
        the field of workers to leave out.
        """
        self.options = list_database_options(self.options_of)
        self.preset = {
            name: value for name, value in (preset or {}).items() if name in self.options
        }
        initial = {**self._build_initial_values(like or self.options_of()), **self.preset}
        self._excluded = tuple(excluded) if EXCLUDE in self.options else ()
        if self._excluded:
            named = dict.fromkeys([*_split_ids(initial[EXCLUDE]), *self._excluded])
            initial[EXCLUDE] = "\n".join(named)
        kwargs["initial"] = initial
        super().__init__(*args, **kwargs)
        self._user = user
        choosers = [field for field in self.fields.values() if isinstance(field, ModelChooser)]
        self.askable = list(select_askable_models(user)) if choosers else []
        for chooser in choosers:
            chooser.offer_models(self.askable)

    def clean(self) -> dict[str, Any]:
        """Add an error for values out of bounds, reserved for operators, or contradictory."""
        values: dict[str, Any] = super().clean() or {}
        for name, option in self.options.items():
            field_name = self._get_field_name(name)
            if name in values and field_name not in self.errors:
                self._add_problem(field_name, option.find_problem(self._get_value(name)))
        if self.errors:
            return values
        parameters = self.get_parameters()
        for wrong in find_reserved_options(self._user, parameters):
            self._add_problem(self._get_field_name(wrong.option), wrong)
        if not self.errors:
            for wrong in parameters.find_problems():
                self._add_problem(None, wrong)
        return values

    def add_problems(self, error: OptionError) -> None:
        """Add problems that were found after validation to the errors of the form's fields."""
        for wrong in error.problems:
            self._add_problem(self._get_field_name(wrong.option) if wrong.option else None, wrong)

    def format_problems(self, error: OptionError) -> list[str]:
        """Return the problems of options as sentences, for a page that does not show the form."""
        return [
            _capitalise(SITE.format_field_problem(self.options_of, wrong))
            for wrong in error.problems
        ]

    def get_parameters(self) -> Any:
        """Return the options of a valid form, as an object of its options class."""
        return self.options_of(**{name: self._get_value(name) for name in self.options})

    def list_basic_fields(self) -> list[forms.BoundField]:
        """Return the fields of the basic options, those that choose models first."""
        return sorted(
            self._iterate_group(BASIC), key=lambda index: not isinstance(index.field, ModelChooser)
        )

    def list_field_groups(self) -> list[FieldGroup]:
        """Return the groups of the fields that are not basic; the page collapses them."""
        names = []
        for group, title in self.options_of.groups.items():
            fields = list(self._iterate_group(group))
            seen = any(field.errors or field.name in self.preset for field in fields)
            names.append(FieldGroup(title, fields, bool(self.non_field_errors()) or seen))
        return names

    @property
    def excluded(self) -> ExcludedField | None:
        """The field that leaves out excluded workers; None if no worker is excluded."""
        if not self._excluded:
            return None
        left_out = set(self._excluded).intersection(_split_ids(self[EXCLUDE].value()))
        return ExcludedField(self[EXCLUDE], len(self._excluded), len(left_out))

    @property
    def lacks_models(self) -> bool:
        """Whether a model must be chosen but no registered model can be asked."""
        needs = (
            field.required for field in self.fields.values() if isinstance(field, ModelChooser)
        )
        return any(needs) and not self.askable

    def list_preset_labels(self) -> list[str]:
        """Return the labels of the fields that the URL has preset."""
        return [str(self[name].label) for name in self.preset]

    def _iterate_group(self, group: str) -> Iterator[forms.BoundField]:
        """Yield the form fields of a group's options, each with its field for other values."""
        for name in self.fields:
            if name == EXCLUDE and self._excluded:
                continue  # it has a place of its own
            if self.options[name.removeprefix(f"{OTHER}_")].group == group:
                yield self[name]

    def _get_field_name(self, name: str) -> str:
        """Return the name of the field that holds an option's value: its own, or "other_NAME"."""
        other = f"{OTHER}_{name}"
        chosen = self.cleaned_data.get(name) == OTHER
        return other if chosen and other in self.fields else name

    def _get_value(self, name: str) -> Any:
        """Return an option's value from the valid form; None or the default for an empty field."""
        option, value = self.options[name], self.cleaned_data[self._get_field_name(name)]
        if value not in (None, ""):
            return value
        return None if option.optional else option.default if option.empty_is_default else ""

    def _add_problem(self, field: str | None, wrong: Problem | None) -> None:
        """Add an option's problem to the errors of a field, or of the whole form for None."""
        if wrong is not None:
            sentence = _capitalise(SITE.format_field_problem(self.options_of, wrong))
            self.add_error(field, ValidationError(sentence, wrong.code))

    def _build_initial_values(self, parameters: Parameters) -> dict[str, Any]:
        """Return the options as initial values of the form's fields."""
        values: dict[str, Any] = {}
        for name, option in self.options.items():
            value = values[name] = getattr(parameters, name)
            if (
                isinstance(option, TextOption)
                and option.suggestions
                and value not in option.suggestions
            ):
                values |= {name: OTHER, f"{OTHER}_{name}": value}
        return values


def _split_ids(value: Any) -> list[str]:
    """Return the ids in a field's value: a list, or text with one id per line."""
    lines = value.splitlines() if isinstance(value, str) else value or ()
    return [line.strip() for line in lines if line.strip()]


def list_database_options(parameters: type[Parameters]) -> dict[str, Option]:
    """Return the options that runs in the database have, by name."""
    return {
        name: option
        for name, option in parameters.get_options().items()
        if DATABASE in option.places
    }


_FORMS: dict[type[Parameters], type[OptionForm]] = {}


def get_option_form(parameters: type[Parameters]) -> type[OptionForm]:
    """Return the form class for a class of options; cached."""
    if parameters not in _FORMS:
        _FORMS[parameters] = _build_option_form(parameters)
    return _FORMS[parameters]


def _build_option_form(parameters: type[Parameters]) -> type[OptionForm]:
    """Return a new form class with a field for each option of a class of options."""
    fields: dict[str, forms.Field] = {}
    for name, option in list_database_options(parameters).items():
        field = fields[name] = build_form_field(option)
        field.label, field.initial = option.label, option.default
        field.help_text = SITE.format_help(parameters, name)
        if code := getattr(option, "needed", ""):
            sentence = _capitalise(SITE.format_field_problem(parameters, build_problem(code, name)))
            field.error_messages |= {"required": f"{sentence}."}
        if isinstance(field, ParsedField) and isinstance(option, IdsOption):
            field.help_text += " One on each line."
        if isinstance(option, TextOption) and option.suggestions:
            fields[f"{OTHER}_{name}"] = forms.CharField(
                label=option.other_label, help_text=option.other_help, required=False
            )
    return type(f"{parameters.__name__}Form", (OptionForm,), {**fields, "options_of": parameters})


class ParsedField(forms.CharField):
    """Multi-line field that an option parses: ids, one per line, or a JSON object."""

    widget = forms.Textarea(attrs={"rows": 3})

    def __init__(self, option: Option) -> None:
        super().__init__(required=False)
        self.option = option

    def to_python(self, value: Any) -> Any:
        """Return the option's value parsed from the posted text; its default for no text."""
        text = super().to_python(value)
        if not text:
            return self.option.default
        try:
            return self.option.parse(text)
        except OptionError as error:
            wrong = error.problems[0]
            raise ValidationError(
                SITE.format_field_problem(Parameters, wrong), wrong.code
            ) from error

    def prepare_value(self, value: Any) -> Any:
        """Return the value as text for the form: ids as lines, an object as JSON."""
        if isinstance(value, list | tuple):
            return "\n".join(value)
        return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value


def select_askable_models(user: AnyUser) -> QuerySet[LanguageModel]:
    """Return the registered models that the user may send requests to, by name."""
    return (
        LanguageModel.objects.editable_by(user)
        .filter(archived_at=None)
        .exclude(spec="")
        .order_by("name")
    )


class ModelChooser(forms.ChoiceField):
    """Field to choose one registered language model by name."""

    def offer_models(self, models: Sequence[LanguageModel]) -> None:
        """Set the models that the user may choose."""
        names = [(str(model.public_id), str(model)) for model in models]
        self.choices = names if self.required else [("", "none"), *names]


class ModelsChooser(ModelChooser, forms.MultipleChoiceField):
    """Field to choose several registered language models, with a checkbox each."""

    widget = forms.CheckboxSelectMultiple

    def offer_models(self, models: Sequence[LanguageModel]) -> None:
        """Set the models that the user may choose."""
        self.choices = [(str(model.public_id), str(model)) for model in models]


@singledispatch
def build_form_field(option: Option) -> forms.Field:
    """Return the form field of an option; the form checks the bounds, not the field."""
    raise TypeError(f"no form has a field for {type(option).__name__}")


@build_form_field.register
def _(option: TextOption) -> forms.Field:
    if option.suggestions:
        return forms.ChoiceField(choices=[*option.suggestions.items(), (OTHER, OTHER_WORDS)])
    attributes = {"maxlength": option.max_length}
    widget: forms.Widget = forms.TextInput(attributes)
    if option.rows:
        widget = forms.Textarea({**attributes, "rows": option.rows})
    return forms.CharField(required=not option.optional, widget=widget)


@build_form_field.register
def _(option: RegisteredModelOption) -> forms.Field:
    return ModelChooser(required=bool(option.needed))


@build_form_field.register
def _(option: RegisteredModelsOption) -> forms.Field:
    return ModelsChooser(required=bool(option.needed))


@build_form_field.register
def _(option: IntegerOption) -> forms.Field:
    bounds = {"min": 0 if option.or_zero else option.lowest, "max": option.highest}
    attributes = {name: value for name, value in bounds.items() if value is not None}
    widget = forms.NumberInput(attrs=attributes)
    return forms.IntegerField(required=_is_required(option), widget=widget)


@build_form_field.register
def _(option: FloatOption) -> forms.Field:
    widget = forms.TextInput(attrs={"inputmode": "decimal"})
    return forms.FloatField(required=_is_required(option), widget=widget)


@build_form_field.register
def _(_option: SwitchOption) -> forms.Field:
    return forms.BooleanField(required=False)


@build_form_field.register
def _(option: ChoiceOption) -> forms.Field:
    choices = [(value, words or value) for value, words in option.choices.items()]
    if option.optional:
        choices.insert(0, ("", option.none))
    return forms.ChoiceField(required=not option.optional, choices=choices)


@build_form_field.register(IdsOption)
@build_form_field.register(JsonOption)
def _(option: Option) -> forms.Field:
    return ParsedField(option)


def _capitalise(sentence: str) -> str:
    """Return a sentence with a capital first letter."""
    return capfirst(sentence)


def _is_required(option: Option) -> bool:
    """Return whether the form must have a value for an option."""
    return not (option.optional or option.empty_is_default)


def format_refusal(parameters: type[Parameters], error: OptionError) -> str:
    """Return the problems of options in one message that says why no run was started."""
    return " ".join(f"{SITE.format_problem(parameters, wrong)}." for wrong in error.problems)


def hash_options(options: Parameters) -> str:
    """Return a SHA-256 of the options; a form sends it to prove that the user saw their cost."""
    # Sorted: equal options must have one hash, in whatever order a form or request has them.
    written = json.dumps(options.as_dict(), sort_keys=True)
    return hashlib.sha256(written.encode()).hexdigest()


if TYPE_CHECKING:
    LabelForm = forms.ModelForm[Run]
else:
    LabelForm = forms.ModelForm


class RunLabelForm(LabelForm):
    """Form of a run's name and notes, shown with the form of its options."""

    prefix = "label"

    class Meta:
        """Declares the fields `name` and `notes` of the model `Run`, in this order."""

        model = Run
        fields = ("name", "notes")
        labels: ClassVar = {"name": "Name of the run", "notes": "Notes"}
        widgets: ClassVar = {"notes": forms.Textarea(attrs={"rows": 2})}

    def get_labels(self) -> dict[str, Any]:
        """Return the name and notes of a valid form, by field name."""
        return {field: self.cleaned_data[field] for field in self.Meta.fields}
