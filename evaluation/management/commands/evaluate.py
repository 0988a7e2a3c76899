"""The door to evaluations of files: ``manage.py evaluate aqer ANSWERS --output DIR``."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from evaluation.kinds import all_kinds
from evaluation.management.file_commands import KindCommand, add_kinds
from evaluation.management.option_arguments import chosen
from evaluation.words.console import (
    BAD_INPUT,
    Bars,
    ended_by_signal,
    printable,
    refused_as_bad_input,
    tell,
)

__all__ = ["BAD_INPUT", "Command"]

INCOMPLETE = 3


class Command(KindCommand):
    """Evaluate answers in files, without a database."""

    help = "Evaluate a file of answers; writes tables into a folder and needs no database."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the method first, a kind of run that evaluates files, then its own arguments."""
        kinds = {name: kind for name, kind in all_kinds().items() if kind.is_evaluated_on_files}
        add_kinds(parser, {name: (kinds[name], kinds[name].evaluate) for name in self.asked(kinds)})

    def handle(self, *args: Any, **options: Any) -> None:
        """Evaluate, and say what came out and where it is."""
        from evaluation.files.study import EndedEarlyError

        kind = all_kinds()[options["method"]]
        assert kind.evaluate is not None  # or there would be no such method
        parameters = chosen(kind.options, options, files=True)
        try:
            with refused_as_bad_input(), ended_by_signal(), Bars() as bars:
                said = kind.evaluate.run(parameters, options, bars.show)
        except EndedEarlyError as error:
            tell(self.stdout, printable(f"{error}\nThe same command goes on from here."))
            sys.exit(INCOMPLETE)
        tell(self.stdout, said)
