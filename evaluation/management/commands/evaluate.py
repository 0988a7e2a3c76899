"""The door to evaluations of files: ``manage.py evaluate aqer ANSWERS --output DIR``."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from evaluation.kinds import Kind, all_kinds
from evaluation.management.option_arguments import add_option_arguments, chosen
from evaluation.words.console import (
    BAD_INPUT,
    Bars,
    ended_by_signal,
    refused_as_bad_input,
    tell,
)

__all__ = ["BAD_INPUT", "Command"]


class Command(BaseCommand):
    """Evaluate answers in files, without a database."""

    help = "Evaluate a file of answers; writes tables into a folder and needs no database."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the method first, a kind of run that has a study, then its own arguments."""
        methods = parser.add_subparsers(dest="method", required=True, metavar="METHOD")
        for kind in all_kinds().values():
            if kind.study is None:
                continue
            of_kind = methods.add_parser(
                kind.name,
                help=kind.study.help,
                description=kind.study.description,
                epilog=kind.study.epilog,
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
            add_study_arguments(of_kind, kind)

    def handle(self, *args: Any, **options: Any) -> None:
        """Evaluate, and say what came out and where it is."""
        kind = all_kinds()[options["method"]]
        assert kind.study is not None  # or there would be no such method
        parameters = chosen(kind.options, options)
        with refused_as_bad_input(), ended_by_signal(), Bars() as bars:
            said = kind.study.run(parameters, options, bars.show)
        tell(self.stdout, said)


def add_study_arguments(parser: argparse.ArgumentParser, kind: Kind) -> None:
    """Add what the study of a kind takes: its files, then the options of the kind."""
    assert kind.study is not None
    kind.study.add_arguments(parser)
    add_option_arguments(parser, kind.options, files=True, groups=kind.study.groups)
