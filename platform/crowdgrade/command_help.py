"""The list of commands that ``manage.py help`` prints: Crowdgrade's in groups, Django's below."""

from __future__ import annotations

import ast
import re
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from django.core.management import ManagementUtility, get_commands

OWN = ("annotations", "crowdgrade", "evaluation")
"""The apps whose commands are Crowdgrade's."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Run the site": ("demo", "up", "local_model", "api_token"),
    "Import": (
        *("import_questions", "import_answers", "import_mturk", "import_model_answers"),
        *("import_problems", "import_prompts", "import_several_answers", "import_statuses"),
    ),
    "Collect answers": ("publish", "monitor", "collect", "new_wave", "link_wave", "admit"),
    "Grade and analyse": ("grade", "run"),
    "Decide and pay": ("decide", "export_decisions", "send_decisions", "payments", "recruit"),
    "Export": (
        *("export_questions", "export_answers", "export_model_answers", "export_consensus"),
        "export_items",
    ),
    "Work on files, without a database": (
        *("convert_answers", "evaluate", "ask", "study", "convert_items", "compose_maqa"),
        *("sample_problems", "umwp_noise", "umwp_templates", "reproduce"),
    ),
    "Measure and record": ("benchmark", "record_demo"),
}
"""Crowdgrade's commands by what they are for; `tests/crowdgrade/test_command_help.py` holds that
each is in one group."""

_ASIDE = re.compile(r"\s*\([^()]*\)")


class CommandLine(ManagementUtility):
    """Django's command line with a list of commands that says what each is for."""

    def main_help_text(self, commands_only: bool = False) -> str:
        """Return the list of commands; with `commands_only` their names alone, as Django has it."""
        if commands_only:
            return str(super().main_help_text(commands_only=True))
        width = max(40, min(shutil.get_terminal_size((100, 24)).columns, 120))
        return "\n".join(_lines(self.prog_name, get_commands(), width))


def _lines(program: str, commands: Mapping[str, str], width: int) -> Iterator[str]:
    yield f"Type '{program} help COMMAND' for the options of a command."
    for group, names in GROUPS.items():
        yield ""
        yield group
        for name in names:
            if name in commands:
                first = textwrap.shorten(
                    summary(commands[name], name), width - 27, placeholder=" ..."
                )
                yield f"  {name:<24} {first}"
    yield ""
    yield "Of Django and its packages"
    others = sorted(name for name, app in commands.items() if not is_own(app))
    yield from textwrap.wrap(
        ", ".join(others),
        width,
        initial_indent="  ",
        subsequent_indent="  ",
        break_on_hyphens=False,
    )


def is_own(app: str) -> bool:
    """Return whether an app is Crowdgrade's."""
    return app in OWN


def summary(app: str, name: str) -> str:
    """Return the first sentence of the help of a command, without importing its module.

    "" for a command whose help is no literal text.
    """
    found = find_spec(f"{app}.management.commands.{name}")
    if found is None or found.origin is None:
        return ""
    module = ast.parse(Path(found.origin).read_text(encoding="utf-8"))
    return _first_sentence(_help_in(module.body))


def _help_in(statements: Sequence[ast.stmt]) -> str:
    for statement in statements:
        if isinstance(statement, ast.ClassDef) and statement.name == "Command":
            return _help_in(statement.body)
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "help":
            value = statement.value
            while isinstance(value, ast.BinOp):
                value = value.left
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                return value.value
    return ""


def _first_sentence(text: str) -> str:
    text = _ASIDE.sub("", text)
    for end in (". ", "; ", ": "):
        text = text.partition(end)[0]
    return text.rstrip(".")
