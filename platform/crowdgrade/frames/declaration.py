"""Keyword arguments of the Python interface, from the declarations of the commands.

Each function runs a command ``evaluate NAME``. Its arguments are those of the command: they
are parsed by the command's own parser, so that names, defaults, bounds and messages are the same.
"""

from __future__ import annotations

import argparse
import csv
import difflib
import io
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, NoReturn

from crowdgrade.frames.errors import OptionsError, WrittenFile
from crowdgrade.frames.inputs import FileFormat, write_input
from evaluation.core.options import IdsOption, OptionError
from evaluation.runs.run_types.kind import Kind

# Files that are no tables; a DataFrame or list for one is written in its form.
FORMS = {
    ("aqer", "exclude_workers"): FileFormat.TEXT,
    ("aqer", "collapse_workers"): FileFormat.TEXT,
    ("umwp", "problems"): FileFormat.LINES,
    ("umwp", "templates"): FileFormat.TEXT,
    ("maqa", "questions"): FileFormat.JSON,
    ("maqa", "replies"): FileFormat.LINES,
    ("eloquent", "prompts"): FileFormat.JSON,
}
HIDDEN = ("help", "output")
FLAG = re.compile(r"--(?:no-)?([a-z][a-z-]*)")


class CommandArguments:
    """Arguments of one ``evaluate`` command, under their names in Python."""

    def __init__(self, function: str, command: str) -> None:
        kinds = _load_run_types()
        from evaluation.management.file_commands import add_run_type_parsers

        self.function, self.command = function, command
        self.kind: Kind = kinds[command]
        parser = _Parser(prog=function)
        self._parser = add_run_type_parsers(parser, {command: (self.kind, self.kind.evaluate)})[
            command
        ]
        self.actions = {
            action.dest: action for action in self._parser._actions if action.dest not in HIDDEN
        }

    @property
    def column_names(self) -> dict[str, str]:
        """Standard names of the columns of answers, by role; empty if none can be renamed."""
        names = self._parser.get_default("columns")
        found = asdict(names) if is_dataclass(names) and not isinstance(names, type) else {}
        return {role: name for role, name in found.items() if isinstance(name, str)}

    def takes_file(self, name: str) -> bool:
        """Return whether an argument takes a file: its path, or that of a list of ids."""
        is_list = isinstance(self.kind.options.get_options().get(name), IdsOption)
        return self.actions[name].type is Path or is_list

    def describe_arguments(self) -> str:
        """Return a line for each argument: its name, default, help text and choices."""
        lines = []
        for name, action in self.actions.items():
            help_text = (action.help or "") % {**vars(action), "prog": self.function}
            help_text = re.sub(r" \(default: [^)]*\)", "", help_text)
            choices = f" ({', '.join(map(str, action.choices))})" if action.choices else ""
            default = "" if action.required else f" = {_convert_default(action.default)!r}"
            lines.append(f"{name}{default}: {_convert_flag_names(help_text)}{choices}")
        return "\n".join(lines)

    def parse_values(
        self, values: Mapping[str, Any], folder: Path, output: Path
    ) -> tuple[Any, dict[str, Any], list[WrittenFile]]:
        """Return (options, all arguments by name, files written for DataFrames).

        Raises TypeError for an unknown argument, `OptionsError` for an invalid value, `InputError`
        for a DataFrame that cannot be written.
        """
        # Only here: it imports Django's commands.
        from django.core.management.base import CommandError

        from evaluation.management.option_arguments import read_options

        roles = self.column_names | dict(values.get("columns") or {})
        files: list[WrittenFile] = []
        flags, positional = [f"--output={output}"], {}
        for name, value in values.items():
            if value is None:
                continue
            action = self._find_argument(name)
            if self.takes_file(name):
                value = self._write_argument(folder, name, value, roles, files)
            if action.option_strings:
                flags += _format_flags(name, action, value)
            else:
                positional[name] = value
        order = [name for name, action in self.actions.items() if not action.option_strings]
        paths = [positional[name] for name in order if name in positional]
        arguments = vars(self._parser.parse_args([*flags, "--", *paths]))
        try:
            return read_options(self.kind.options, arguments, files=True), arguments, files
        except CommandError as error:
            cause = error.__cause__
            problems = cause.problems if isinstance(cause, OptionError) else ()
            codes = [problem.code for problem in problems]
            raise OptionsError(_convert_flag_names(str(error)), codes) from error

    def _find_argument(self, name: str) -> argparse.Action:
        """Return the argument with this name; raise `TypeError` if there is none."""
        action = self.actions.get(name)
        if action is None:
            near = difflib.get_close_matches(name, self.actions, 1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{self.function}() has no argument {name!r}{meant}")
        return action

    def _write_argument(
        self,
        folder: Path,
        name: str,
        value: Any,
        roles: Mapping[str, str],
        files: list[WrittenFile],
    ) -> Any:
        """Write a value to a file and return its path, or the paths of several.

        The file is recorded in `files`.
        """
        form = FORMS.get((self.command, name), FileFormat.TABLE)
        if form is FileFormat.TEXT and isinstance(value, str):
            return value  # ids, parted by commas, or the path of their file
        takes_several = isinstance(self.actions[name], argparse._AppendAction)
        if takes_several and isinstance(value, (list, tuple)):
            return [
                self._record_file(write_input(folder, f"{name}_{index}", one, form, roles), files)
                for index, one in enumerate(value)
            ]
        path = self._record_file(write_input(folder, name, value, form, roles), files)
        return [path] if takes_several else path

    @staticmethod
    def _record_file(file: WrittenFile, files: list[WrittenFile]) -> str:
        """Add a written file to `files` and return its path."""
        files.append(file)
        return str(file.path)


class _Parser(argparse.ArgumentParser):
    """Argument parser that raises `OptionsError` and does not end the process."""

    def error(self, message: str) -> NoReturn:
        """Raise `OptionsError` with the message, and with the problem's code if there is one."""
        current = sys.exception()
        problem = getattr(current and current.__context__, "problem", None)
        codes = [] if problem is None else [problem.code]
        raise OptionsError(_convert_flag_names(message), codes) from current


def _load_run_types() -> Mapping[str, Kind]:
    """Return the run types by command; load the site's apps first if needed.

    The logging of the process is unchanged. Raises RuntimeError in a process that is
    configured for another Django project.
    """
    from django.apps import apps
    from django.conf import settings

    if not settings.configured:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdgrade.settings")
    if "evaluation" not in settings.INSTALLED_APPS:
        raise RuntimeError(
            "This process is configured for another Django project. Call crowdgrade in a process "
            "of its own, without DJANGO_SETTINGS_MODULE."
        )
    apps.populate(settings.INSTALLED_APPS)
    from evaluation.runs.run_types import list_kinds

    return list_kinds()


def _convert_default(default: Any) -> Any:
    """Return an option's default as a plain Python value."""
    if is_dataclass(default) and not isinstance(default, type):
        return asdict(default)
    return getattr(default, "value", default)


def _format_flags(name: str, action: argparse.Action, value: Any) -> list[str]:
    """Return an argument's value as on the command line; raise `OptionsError` for a wrong type."""
    flag = action.option_strings[0]
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise OptionsError(f"{name}: {value!r} is not True or False")
        if isinstance(action, argparse.BooleanOptionalAction):
            return [flag if value else f"--no-{flag.removeprefix('--')}"]
        return [flag] if value else []
    if name == "columns":
        return [f"{flag}={_format_columns(value)}"]
    if isinstance(value, list):
        return [f"{flag}={item}" for item in value]
    if isinstance(value, bool):
        if value and action.nargs == "?":
            return [flag]
        raise OptionsError(f"{name}: a truth value is not accepted")
    return [f"{flag}={value}"]


def _format_columns(names: Mapping[str, str]) -> str:
    """Return column names by role as the text of the argument ``--columns``."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow([f"{role}={name}" for role, name in names.items()])
    return text.getvalue()


def _convert_flag_names(text: str) -> str:
    """Return a text with flags replaced by names in Python: --weight-cap by weight_cap."""
    return FLAG.sub(lambda match: match.group(1).replace("-", "_"), text)
