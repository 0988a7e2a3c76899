"""Commands of kinds that work on files: a sub-command a kind, out of its declaration."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from evaluation.kinds import Kind
from evaluation.kinds.kind import Command
from evaluation.management.option_arguments import add_option_arguments


def add_kinds(
    parser: argparse.ArgumentParser, commands: Mapping[str, tuple[Kind, Command | None]]
) -> dict[str, argparse.ArgumentParser]:
    """Add a sub-command for each kind that has one: its files, then its options.

    Returns the parsers by the names of the kinds.
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
