"""Build command-line arguments from declared options: one flag per option."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Mapping
from functools import singledispatch
from pathlib import Path
from typing import Any, TypeVar

from django.core.management.base import CommandError

from evaluation.core.messages.console import BAD_INPUT, remove_control_characters
from evaluation.core.options import (
    TERMINAL,
    ChoiceOption,
    IdsOption,
    Option,
    OptionError,
    Parameters,
    RegisteredModelOption,
    RegisteredModelsOption,
    SwitchOption,
    TextOption,
)
from evaluation.core.options.declaration import DATABASE, FILES
from evaluation.core.options.parameters import build_flag

ParametersT = TypeVar("ParametersT", bound=Parameters)


def add_option_arguments(
    parser: argparse.ArgumentParser,
    parameters: type[Parameters],
    *,
    files: bool,
    groups: Mapping[str, str] | None = None,
    without: Collection[str] = (),
) -> None:
    """Add an argument to a parser for each option of a parameter class.

    Parameters
    ----------
    files : whether the command works on files, not on the database.
    without : options for which the command has its own arguments.
    groups : groups of options that the help lists separately, with a sentence for each.
    """
    apart = {
        group: parser.add_argument_group(group, text) for group, text in (groups or {}).items()
    }
    for name, option in parameters.get_options().items():
        if (FILES if files else DATABASE) in option.places and name not in without:
            text = _build_argument_help(parameters, option)
            more = build_argument_keywords(option, _build_text_parser(parameters, option), files)
            apart.get(option.group, parser).add_argument(
                build_flag(option), dest=name, **{"help": text, **more}
            )


def read_options(
    options_type: type[ParametersT], options: Mapping[str, Any], *, files: bool
) -> ParametersT:
    """Return the options that the arguments choose; CommandError (exit status 2) if invalid.

    Ids in files and models are left out, because the command reads them later. Options for the
    other kind of command (files or database) have their defaults, even if an argument has the same
    name.
    """
    here = FILES if files else DATABASE
    known = {name: one for name, one in options_type.get_options().items() if here in one.places}
    values = {name: options[name] for name in known if name in options}
    for name, option in known.items():
        if isinstance(option, IdsOption):
            values[name] = ()
        elif isinstance(option, RegisteredModelOption):
            values[name] = None
        elif isinstance(option, SwitchOption) and name in options:
            values[name] = bool(options[name])
    parameters = options_type(**values)
    if problems := tuple(parameters.find_problems()):
        reasons = "\n".join(TERMINAL.format_problems(options_type, problems))
        raise CommandError(
            remove_control_characters(reasons), returncode=BAD_INPUT
        ) from OptionError(problems)
    return parameters


class BadArgumentError(argparse.ArgumentTypeError):
    """Error for an argument with an invalid value; `problem` is the reason."""

    def __init__(self, message: str, error: OptionError) -> None:
        super().__init__(message)
        self.problem = error.problems[0]


def _build_text_parser(parameters: type[Parameters], option: Option) -> Callable[[str], Any]:
    """Return a function that parses an argument's text as this option."""

    def parse_text(text: str) -> Any:
        """Return the option's value; raise BadArgumentError for an invalid text."""
        try:
            return option.parse(text)
        except OptionError as error:
            raise BadArgumentError(
                TERMINAL.format_field_problem(parameters, error.problems[0]), error
            ) from error

    return parse_text


def _build_argument_help(parameters: type[Parameters], option: Option) -> str:
    """Return the help text of an argument, with its default."""
    text = TERMINAL.describe_option(parameters, option.name)
    if isinstance(option, TextOption) and option.suggestions:
        text = f"{text} See below."
    default = option.default
    if isinstance(option, SwitchOption):
        default = ("on" if default else "off") if option.negatable else None
    suffix = "" if default in (None, "", (), {}) else f" (default: {default})"
    # argparse formats help texts with %.
    return f"{text}{suffix}".replace("%", "%%")


@singledispatch
def build_argument_keywords(
    option: Option, read: Callable[[str], Any], _files: bool
) -> dict[str, Any]:
    """Return the keyword arguments of `add_argument` for an option."""
    return {"type": read, "metavar": option.metavar, "default": option.default}


@build_argument_keywords.register
def _build_switch_keywords(
    option: SwitchOption, _read: Callable[[str], Any], files: bool
) -> dict[str, Any]:
    """Return the keyword arguments of a flag: a file, on or off, or on only."""
    if files and option.file:
        return {"type": Path, "metavar": "FILE", "help": option.file}
    if option.negatable:
        return {"action": argparse.BooleanOptionalAction, "default": option.default}
    return {"action": "store_true"}


@build_argument_keywords.register
def _build_choice_keywords(
    option: ChoiceOption, read: Callable[[str], Any], _files: bool
) -> dict[str, Any]:
    """Return the keyword arguments of a choice, whose value may be left out if one is implied."""
    found = {"type": read, "choices": tuple(option.choices), "default": option.default}
    if option.implied is None:
        return found
    return {**found, "nargs": "?", "const": option.implied, "metavar": option.metavar}


@build_argument_keywords.register
def _build_ids_keywords(
    option: IdsOption, _read: Callable[[str], Any], _files: bool
) -> dict[str, Any]:
    """Return the keyword arguments of an option that takes ids or a file of ids."""
    found = {"type": str, "metavar": option.metavar}
    return {**found, "help": option.file} if option.file else found


@build_argument_keywords.register
def _build_models_keywords(
    option: RegisteredModelsOption, _read: Callable[[str], Any], _files: bool
) -> dict[str, Any]:
    """Return the keyword arguments of an option that takes the names of several models."""
    return {"nargs": "+", "metavar": "NAME", "default": []}


@build_argument_keywords.register
def _build_model_keywords(
    option: RegisteredModelOption, _read: Callable[[str], Any], _files: bool
) -> dict[str, Any]:
    """Return the keyword arguments of an option that takes the name of one model."""
    return {"metavar": "NAME", "default": None}
