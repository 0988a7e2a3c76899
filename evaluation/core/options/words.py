"""Build the sentences on options, their problems and help, as an interface words them.

The terminal names an option by its flag, the site by its label, the API by its key. Sentences
contain names of options in braces, ``{init}``, or with a value, ``{init:entailment}``; ``{nli:=}``
shows where the value goes, where that is usual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.core.messages.catalogue import Catalogue
from evaluation.core.messages.run_sentences import build_english_warning
from evaluation.core.options.declaration import (
    Option,
    Problem,
    RegisteredModel,
    RegisteredModels,
    Switch,
)
from evaluation.core.options.parameters import Parameters

# What is wrong with a value by itself; it stands beside the option it is about.
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
    RegisteredModel: "A registered language model, by its public id. ",
    RegisteredModels: "Registered language models, by their public ids. ",
}


@dataclass(frozen=True, kw_only=True)
class Words(Catalogue):
    """The sentences of one interface (terminal, site or API) on messages and on options.

    Attributes
    ----------
    called : from an option to its name in the interface. with_value : the same with a value; None
        shows a placeholder.
    """

    called: Callable[[Option], str]
    with_value: Callable[[Option, str | None], str]

    def text(self, parameters: type[Parameters], text: str, **values: Any) -> str:
        """Return a text with options named as the interface names them, and values filled in."""
        mentioned = {name: _Mention(known, self) for name, known in parameters.options().items()}
        return text.format_map({**mentioned, **values})

    def help(self, parameters: type[Parameters], name: str) -> str:
        """Return an option's help text in the words of the interface."""
        return self.text(parameters, parameters.options()[name].help)

    def described(self, parameters: type[Parameters], name: str) -> str:
        """Return an option's label and help, for places that do not show the label."""
        option = parameters.options()[name]
        by = BY_ID.get(type(option), "")
        return f"{option.label}. {by}{self.help(parameters, name)}"

    def sentence(self, parameters: type[Parameters], problem: Problem) -> str:
        """Return the sentence on a problem; problems of one value omit the option's name."""
        values = dict(problem.values)
        template = _find_value_template(problem)
        if template is None:
            template = {**SENTENCES, **parameters.sentences}[problem.code]
            if problem.option:
                values["option"] = _Mention(parameters.options()[problem.option], self)
            if problem.code == "only_with":
                other = parameters.options()[values["other"]]
                values["setting"] = format(_Mention(other, self), str(values["wanted"]))
        elif problem.code == "invalid_choice":
            values["choices"] = ", ".join(map(repr, values["choices"]))
        return self.text(parameters, template, **values)

    def format_problem(self, parameters: type[Parameters], problem: Problem) -> str:
        """Return the sentence on a problem, always with the option's name."""
        sentence = self.sentence(parameters, problem)
        if _find_value_template(problem) is None:
            return sentence
        return f"{self.called(parameters.options()[problem.option])}: {sentence}"

    def format_problems(
        self, parameters: type[Parameters], problems: Iterable[Problem]
    ) -> list[str]:
        """Return the sentences on several problems, always with the options' names."""
        return [self.format_problem(parameters, problem) for problem in problems]


@dataclass(frozen=True)
class _Mention:
    """An option inside a sentence; formats as the interface's name of it, or with a value."""

    option: Option
    words: Words

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
    if isinstance(option, Switch):
        return build_flag(option)
    return f"{build_flag(option)} {option.metavar if value is None else value}"


def _build_label_with_value(option: Option, value: str | None) -> str:
    """Return the label in quotation marks, with the value in words if given."""
    if value is None or isinstance(option, Switch):
        return f"“{option.label}”"
    return f"“{option.label}: {option.words(value)}”"


def _build_key_with_value(option: Option, value: str | None) -> str:
    """Return the option's key in the REST API, with a value if given."""
    return option.name if value is None or isinstance(option, Switch) else f"{option.name} {value}"


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


TERMINAL = Words(
    option=lambda name: f"--{name.replace('_', '-')}",
    called=build_flag,
    with_value=_build_flag_with_value,
)
SITE = Words(
    option=_quote_label,
    own={
        "english_only": build_english_warning(
            "a multilingual model (“Another embedder”, such as sentence-transformers:NAME) or "
            "groups of letters (TF-IDF)"
        )
    },
    called=lambda option: f"“{option.label}”",
    with_value=_build_label_with_value,
)
API = Words(option=str, called=lambda option: option.name, with_value=_build_key_with_value)
