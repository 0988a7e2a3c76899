"""Base class of a run type's options, their part of a signature, and sentences on them.

The terminal names an option by its flag, the site by its label, the API by its key. Sentences
contain names of options in braces, ``{init}``, or with a value, ``{init:entailment}``; ``{nli:=}``
shows where the value goes, where that is usual.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

from evaluation.core.messages.catalogue import Catalogue
from evaluation.core.messages.run_sentences import build_language_warning_formatter
from evaluation.core.options.declaration import (
    ADVANCED,
    NOT_SIGNED,
    IdsOption,
    Option,
    Problem,
    RegisteredModelOption,
    RegisteredModelsOption,
    SwitchOption,
    build_problem,
    get_option_default,
)


@dataclass(frozen=True)
class Setting:
    """Label and value of one of a run's options, as texts for display."""

    name: str
    label: str
    value: str
    is_default: bool


_OPTIONS: dict[type[Parameters], Mapping[str, Option]] = {}


@dataclass(frozen=True)
class Parameters:
    """Base class of a run type's options; every field of a subclass declares one option.

    Attributes
    ----------
    sentences : sentences of the class's own problems by code, with options in braces, as in their
        help, and values by name.
    groups : titles of the groups of options that a form collapses, in order.
    """

    sentences: ClassVar[Mapping[str, str]] = {}
    groups: ClassVar[Mapping[str, str]] = {ADVANCED: "More settings"}

    def __post_init__(self) -> None:
        """Convert lists of ids, as JSON has them, into tuples."""
        for name, known in self.get_options().items():
            if isinstance(known, IdsOption):
                object.__setattr__(self, name, tuple(getattr(self, name)))

    @classmethod
    def get_options(cls) -> Mapping[str, Option]:
        """Return the class's options by field name, in the order of the fields."""
        if cls not in _OPTIONS:
            _OPTIONS[cls] = {
                entry.name: replace(
                    entry.metadata["option"], name=entry.name, default=get_option_default(entry)
                )
                for entry in fields(cls)
            }
        return _OPTIONS[cls]

    def find_problems(self) -> list[Problem]:
        """Return the problems of single values; without any, those of combinations."""
        checked = (
            known.find_problem(getattr(self, name)) for name, known in self.get_options().items()
        )
        problems = [wrong for wrong in checked if wrong is not None]
        # Checks between options rely on the types of the single values.
        return problems or [*self._find_idle_options(), *self.find_conflicts()]

    def find_conflicts(self) -> Iterator[Problem]:
        """Yield the problems of options that are valid alone but not together."""
        yield from ()

    def _find_idle_options(self) -> Iterator[Problem]:
        """Yield a problem for each option that has no effect because of another option's value."""
        for name, known in self.get_options().items():
            if known.only_with is None or getattr(self, name) == known.default:
                continue
            other, wanted = known.only_with
            if getattr(self, other) != wanted:
                yield build_problem("only_with", name, other=other, wanted=wanted)

    def find_reserved_values(self, models: Collection[str]) -> list[Problem]:
        """Return a problem for each value that only operators may use.

        `models` are the names of the models that all users may load.
        """
        names = []
        for name, known in self.get_options().items():
            value = getattr(self, name)
            if known.reserved and (what := known.reserved(value)):
                names.append(build_problem("operators_only", name, what=what))
            if known.loads and (model := known.loads(value)) and model not in models:
                # The same for a missing model: the problem must not reveal what the server has.
                names.append(_build_offer_problem(name, models))
        return names

    def as_dict(self) -> dict[str, Any]:
        """Return the option values as plain values by name, ready for JSON."""
        return {
            name: known.to_json_value(getattr(self, name))
            for name, known in self.get_options().items()
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Return the options stored by `as_dict`; missing ones have their default.

        Raises KeyError with the unknown names, if another version of the platform stored some.
        """
        known = cls.get_options()
        unknown = sorted(stored.keys() - known.keys())
        if unknown:
            raise KeyError(*unknown)
        return cls(**{name: known[name].from_json_value(value) for name, value in stored.items()})

    @classmethod
    def add_defaults(cls, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Return stored option values by name, with the defaults of missing options added.

        Values under unknown names stay unchanged.
        """
        return cls().as_dict() | dict(stored)

    @classmethod
    def list_settings(cls, stored: Mapping[str, Any]) -> list[Setting]:
        """Return the labels and values of all options of a run, for display."""
        known, result = cls.get_options(), []
        for name, value in cls.add_defaults(stored).items():
            if name not in known:
                result.append(Setting(name, name, str(value), False))
                continue
            kind = known[name]
            default = value == kind.to_json_value(kind.default)
            result.append(Setting(name, kind.label, kind.format_value(value), default))
        return result

    @classmethod
    def list_changed_settings(cls, stored: Mapping[str, Any]) -> list[Setting]:
        """Return the labels and values of a run's options that differ from their default."""
        return [setting for setting in cls.list_settings(stored) if not setting.is_default]

    @classmethod
    def summarize_changes(cls, stored: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
        """Return a short phrase for each stored option that differs from its default.

        Values under unknown names are left out.
        """
        differences_found = []
        for name, known in cls.get_options().items():
            value = stored.get(name, known.to_json_value(known.default))
            if value != known.to_json_value(known.default):
                differences_found.append(known.summarize_setting(value, names))
        return differences_found


# How many characters of a hash a signature shows.
SHORT = 12
NOTHING = "none"


def build_signature_parts(parameters: Parameters) -> dict[str, str]:
    """Return the texts of the option values in a run's signature, by key, in field order."""
    parts: dict[str, str] = {}
    gathered: dict[str, list[str]] = {}
    for name, option in parameters.get_options().items():
        key = name if option.signed_as is None else option.signed_as
        if key == NOT_SIGNED:
            continue
        if not option.gathered:
            if value := _format_value(option, parameters):
                parts[key] = value
            continue
        texts = gathered.setdefault(key, [])
        parts.setdefault(key, NOTHING)  # its place among the others
        value = getattr(parameters, name)
        if value != option.default:
            plain = value is True and option.sign is None
            texts.append(name if plain else f"{name}({_format_value(option, parameters)})")
    return parts | {key: "+".join(texts) for key, texts in gathered.items() if texts}


def compute_short_hash(texts: Sequence[str]) -> str:
    """Return the first 12 hexadecimal digits of one SHA-256 over several texts."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:SHORT]


def _build_offer_problem(name: str, models: Collection[str]) -> Problem:
    """Return the problem that an option names a model that is not open to all users."""
    if not models:
        return build_problem("none_offered", name)
    return build_problem("not_offered", name, offered=", ".join(sorted(models)))


def _format_value(option: Option, parameters: Parameters) -> str:
    """Return an option's value as text for a signature; lists and objects as hashes."""
    value: Any = getattr(parameters, option.name)
    if option.sign is not None:
        return option.sign(parameters)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        ids = sorted(value)
        return f"{len(ids)}-{compute_short_hash(ids)}"
    if isinstance(value, dict):
        return compute_short_hash([json.dumps(value, sort_keys=True)]) if value else NOTHING
    return NOTHING if value is None else str(value)


# Errors of a single value, by code; each is shown next to its option.
INVALID = {
    "text": "{given!r} is no text",
    "whole": "{given!r} is no whole number",
    "number": "{given!r} is no number",
    "finite": "{given} is no finite number",
    "switch": "{given!r} is neither yes nor no",
    "ids": "{given!r} is no list of ids",
    "id": "{given!r} is no id",
    "file": "{given!r} is no file",
    "object": "{given!r} is no JSON object",
}
OF_VALUES = {
    "null": "a value is needed",
    "max_length": "{given:,} are more than {most:,}",
    "max_value": "{given} is more than {highest}",
    "invalid_choice": "invalid choice: {given!r} (choose from {choices})",
}
SENTENCES = {
    "only_with": "{option} is only used with {setting}",
    "operators_only": "Only operators may use {what}: it opens a file of the server or calls "
    "another machine.",
    "not_offered": "Only operators may name any model here, others one of these: {offered}. Ask an "
    "operator to offer more.",
    "none_offered": "Only operators may name a model here. Ask an operator to offer some to all.",
    "too_many_runs": "You have {most} runs under way or paused, and more are not taken at a time: "
    "wait until one has ended, or cancel one",
}

# How a request and a command name what a form shows by its name.
BY_ID: Mapping[type[Option], str] = {
    RegisteredModelOption: "A registered language model, by its public id. ",
    RegisteredModelsOption: "Registered language models, by their public ids. ",
}


@dataclass(frozen=True, kw_only=True)
class InterfaceWording(Catalogue):
    """Wording of one interface (terminal, site or API): sentences on messages and options.

    Attributes
    ----------
    called : returns the interface's name of an option. with_value : returns the name with a value,
        or with a placeholder for None.
    """

    called: Callable[[Option], str]
    with_value: Callable[[Option, str | None], str]

    def fill_option_names(self, parameters: type[Parameters], text: str, **values: Any) -> str:
        """Return a text with the interface's names of the options, and with values, filled in."""
        mentioned = {
            name: _Mention(known, self) for name, known in parameters.get_options().items()
        }
        return text.format_map({**mentioned, **values})

    def format_help(self, parameters: type[Parameters], name: str) -> str:
        """Return an option's help text, with other options named as the interface names them."""
        return self.fill_option_names(parameters, parameters.get_options()[name].help)

    def describe_option(self, parameters: type[Parameters], name: str) -> str:
        """Return an option's label and help, for places that do not show the label."""
        option = parameters.get_options()[name]
        by = BY_ID.get(type(option), "")
        return f"{option.label}. {by}{self.format_help(parameters, name)}"

    def format_field_problem(self, parameters: type[Parameters], problem: Problem) -> str:
        """Return the sentence on a problem, to be shown at the option's own field.

        For a problem of a single value it omits the option's name.
        """
        values = dict(problem.values)
        template = _find_value_template(problem)
        if template is None:
            template = {**SENTENCES, **parameters.sentences}[problem.code]
            if problem.option:
                values["option"] = _Mention(parameters.get_options()[problem.option], self)
            if problem.code == "only_with":
                other = parameters.get_options()[values["other"]]
                values["setting"] = format(_Mention(other, self), str(values["wanted"]))
        elif problem.code == "invalid_choice":
            values["choices"] = ", ".join(map(repr, values["choices"]))
        return self.fill_option_names(parameters, template, **values)

    def format_problem(self, parameters: type[Parameters], problem: Problem) -> str:
        """Return the sentence on a problem, always with the option's name."""
        sentence = self.format_field_problem(parameters, problem)
        if _find_value_template(problem) is None:
            return sentence
        return f"{self.called(parameters.get_options()[problem.option])}: {sentence}"

    def format_problems(
        self, parameters: type[Parameters], problems: Iterable[Problem]
    ) -> list[str]:
        """Return the sentences on several problems, always with the options' names."""
        return [self.format_problem(parameters, problem) for problem in problems]


@dataclass(frozen=True)
class _Mention:
    """Option inside a sentence: `{option}` is its name in the interface, `{option:value}` both."""

    option: Option
    words: InterfaceWording

    def __format__(self, value: str) -> str:
        if not value:
            return self.words.called(self.option)
        return self.words.with_value(self.option, None if value == "=" else value)


def _find_value_template(problem: Problem) -> str | None:
    """Return the template for a problem of one value; None for one between options."""
    values: Mapping[str, Any] = problem.values
    if values.get("above") is not None and problem.code in ("min_value", "max_value"):
        bounds = "above {above:g}" + (
            "" if values["highest"] is None else " and at most {highest:g}"
        )
        return f"{{given:g}} must be {bounds}"
    if problem.code == "min_value":
        if values["why"]:
            return "{why}: 0, or {lowest} and more"
        return "{given} is less than {lowest}"
    if problem.code == "invalid":
        return INVALID[values["what"]]
    return OF_VALUES.get(problem.code)


def build_flag(option: Option) -> str:
    """Return the option's command-line flag, such as --max-tokens."""
    return f"--{option.name.replace('_', '-')}"


def _build_flag_with_value(option: Option, value: str | None) -> str:
    """Return the command-line flag with a value, or with the placeholder of one."""
    if isinstance(option, SwitchOption):
        return build_flag(option)
    return f"{build_flag(option)} {option.metavar if value is None else value}"


def _build_label_with_value(option: Option, value: str | None) -> str:
    """Return the label in quotation marks, with the value in words if given."""
    if value is None or isinstance(option, SwitchOption):
        return f"“{option.label}”"
    return f"“{option.label}: {option.format_value(value)}”"


def _build_key_with_value(option: Option, value: str | None) -> str:
    """Return the option's key in the REST API, with a value if given."""
    return (
        option.name
        if value is None or isinstance(option, SwitchOption)
        else f"{option.name} {value}"
    )


# Messages name options of a grading, as `AqerParameters` declares them; a test compares.
LABELS = {
    "anchors": "Use experts' grades",
    "camps": "Several right answers",
    "collapse_copies": "Collapse copies",
    "collapse_workers": "Only the groups of",
    "embedder": "How texts become vectors",
    "exclude_workers": "Exclude workers",
    "leave_one_out": "Leave one out",
    "max_iterations": "Most iterations",
    "judge_max_tokens": "Longest judgement",
    "max_tokens": "Longest reply",
    "rewriter_tokens": "Longest reply of the rewriter",
    "suggest_anchors": "Answers to suggest",
    "weight_cap": "Most weight of a worker",
}


def _quote_label(name: str) -> str:
    """Return the label of a grading's option in quotation marks, by the option's name."""
    return f"“{LABELS.get(name, name.replace('_', ' '))}”"


TERMINAL = InterfaceWording(
    option=lambda name: f"--{name.replace('_', '-')}",
    called=build_flag,
    with_value=_build_flag_with_value,
)
SITE = InterfaceWording(
    option=_quote_label,
    own={
        "english_only": build_language_warning_formatter(
            "a multilingual model (“Another embedder”, such as sentence-transformers:NAME) or "
            "groups of letters (TF-IDF)"
        )
    },
    called=lambda option: f"“{option.label}”",
    with_value=_build_label_with_value,
)
API = InterfaceWording(
    option=str, called=lambda option: option.name, with_value=_build_key_with_value
)
