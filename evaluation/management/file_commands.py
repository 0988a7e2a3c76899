"""Base class of commands with one sub-command per run type."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping

from django.core.management.base import BaseCommand

from evaluation.management.option_arguments import add_option_arguments
from evaluation.runs.run_types import Kind
from evaluation.runs.run_types.kind import Command


class RunTypeCommand(BaseCommand):
    """Command whose first argument is the name of a run type, a sub-command of its own.

    If it is the first argument on the command line, only this run type's sub-command is built, so
    that the arguments of the others are not loaded.
    """

    first = ""

    def run_from_argv(self, argv: list[str]) -> None:
        """Run the command; remember its first argument, so that only this sub-command is built."""
        self.first = argv[2] if len(argv) > 2 else ""
        super().run_from_argv(argv)

    def select_run_types_to_build(self, names: Collection[str]) -> list[str]:
        """Return the names of the run types in `names` whose sub-command must be built."""
        return [self.first] if self.first in names else list(names)


def add_run_type_parsers(
    parser: argparse.ArgumentParser, commands: Mapping[str, tuple[Kind, Command | None]]
) -> dict[str, argparse.ArgumentParser]:
    """Add a sub-command for each run type that has a command, with its files and options.

    Returns the parsers of the sub-commands, by run type name.
    """
    methods = parser.add_subparsers(dest="method", required=True, metavar="METHOD")
    parsers = {}
    for name, (kind, command) in commands.items():
        if command is None:
            continue
        of_kind = methods.add_parser(
            name,
            help=command.help,
            description=command.description,
            epilog=command.epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(of_kind)
        add_option_arguments(of_kind, kind.options, files=True, groups=command.groups)
        parsers[name] = of_kind
    return parsers
