"""List of commands for ``manage.py help``: Crowdgrade's in groups, then Django's."""

from __future__ import annotations

import ast
import re
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from django.core.management import ManagementUtility, get_commands

OWN_APPS = ("annotations", "crowdgrade", "evaluation")
"""The apps whose commands are Crowdgrade's."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Run the site": (
        "demo",
        "up",
        "local_model",
        "api_token",
        "remove_second_factor",
        "backup",
        "restore",
    ),
    "Import": (
        *("import_questions", "import_answers", "import_mturk", "import_model_answers"),
        *("import_problems", "import_prompts", "import_several_answers", "import_statuses"),
    ),
    "Collect answers": ("publish", "monitor", "collect", "new_wave", "link_wave", "admit"),
    "Grade and analyse": ("grade", "run"),
    "Decide and pay": ("decide", "export_decisions", "send_decisions", "payments", "recruit"),
    "Export": (
        *("export_questions", "export_answers", "export_model_answers", "export_consensus"),
        *("export_items", "export_scorer"),
    ),
    "Work on files, without a database": (
        *("convert_answers", "evaluate", "ask", "study", "convert_items", "compose_maqa"),
        *("sample_problems", "umwp_noise", "umwp_templates", "reproduce", "train_entailment"),
    ),
    "Measure and record": ("benchmark", "record_demo"),
}
"""Crowdgrade's commands by purpose; a test checks that each is in exactly one group."""

_ASIDE = re.compile(r"\s*\([^()]*\)")


class CommandLine(ManagementUtility):
    """Django's command line, with a summary of each command in the list of commands."""

    def main_help_text(self, commands_only: bool = False) -> str:
        """Return the list of commands with summaries, or with `commands_only` just names."""
        if commands_only:
            return str(super().main_help_text(commands_only=True))
        width = max(40, min(shutil.get_terminal_size((100, 24)).columns, 120))
        return "\n".join(_format_command_list(self.prog_name, get_commands(), width))


def _format_command_list(program: str, commands: Mapping[str, str], width: int) -> Iterator[str]:
    """Yield the lines of the list of commands, wrapped at `width` characters.

    `commands` maps the names of commands to their apps.
    """
    yield f"Type '{program} help COMMAND' for the options of a command."
    for group, names in GROUPS.items():
        yield ""
        yield group
        for name in names:
            if name in commands:
                # 27 columns precede the summary: two spaces, a name of 24, and one space.
                first = textwrap.shorten(
                    read_command_summary(commands[name], name), width - 27, placeholder=" ..."
                )
                yield f"  {name:<24} {first}"
    yield ""
    yield "Of Django and its packages"
    others = sorted(name for name, app in commands.items() if not is_own_app(app))
    yield from textwrap.wrap(
        ", ".join(others),
        width,
        initial_indent="  ",
        subsequent_indent="  ",
        break_on_hyphens=False,
    )


def is_own_app(app: str) -> bool:
    """Return whether an app belongs to Crowdgrade."""
    return app in OWN_APPS


def read_command_summary(app: str, name: str) -> str:
    """Return the first sentence of a command's help, without importing its module (slow).

    Returns "" if the help is not a literal string.
    """
    spec = find_spec(f"{app}.management.commands.{name}")
    if spec is None or spec.origin is None:
        return ""
    module = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    return _cut_first_sentence(_find_help_text(module.body))


def _find_help_text(statements: Sequence[ast.stmt]) -> str:
    """Return the text assigned to `help` in the class `Command`; "" if there is none."""
    for statement in statements:
        if isinstance(statement, ast.ClassDef) and statement.name == "Command":
            return _find_help_text(statement.body)
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "help":
            value = statement.value
            # Of a concatenation the leftmost literal contains the first sentence.
            while isinstance(value, ast.BinOp):
                value = value.left
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                return value.value
    return ""


def _cut_first_sentence(text: str) -> str:
    """Return a text up to its first ".", ";" or ":", without the parts in parentheses."""
    text = _ASIDE.sub("", text)
    for end in (". ", "; ", ": "):
        text = text.partition(end)[0]
    return text.rstrip(".")
