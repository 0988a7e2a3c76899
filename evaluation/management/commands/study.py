"""Command ``manage.py study KIND FILE --model SPEC --output DIR``: run a model study."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from evaluation.core.messages.console import (
    ProgressBars,
    print_report,
    remove_control_characters,
    report_bad_input,
)
from evaluation.core.options.declaration import FILES
from evaluation.management.asking_arguments import SPECS, add_asking_arguments, build_ask_settings
from evaluation.management.file_commands import RunTypeCommand, add_run_type_parsers
from evaluation.management.option_arguments import read_options
from evaluation.runs.files.study import EndedEarlyError
from evaluation.runs.run_types import Kind, list_kinds

INCOMPLETE = 3

EPILOG = f"""\
{SPECS}
DIR holds every request and reply (requests.jsonl, without keys) with the tables. If interrupted,
run the same command again: it continues and repeats only failed requests.

Exit code: 0 every request has a reply (empty and refused are replies), 3 some are errors, or the
budget, Ctrl-C or a full disk ended it (what came is kept), 2 bad usage or input.
"""


def _list_file_options(kind: Kind) -> list[str]:
    """Return the names of a run type's options that apply to files."""
    return [name for name, option in kind.options.get_options().items() if FILES in option.places]


class Command(RunTypeCommand):
    """Ask a model the requests of a study, and evaluate its replies, without a database."""

    help = "Ask a language model for a study and evaluate its replies; needs no database."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add one sub-command per run type that has a study, with the arguments of the model."""
        kinds = {name: kind for name, kind in list_kinds().items() if kind.has_study_command}
        studies = {
            name: (kinds[name], kinds[name].study) for name in self.select_run_types_to_build(kinds)
        }
        for name, of_kind in add_run_type_parsers(parser, studies).items():
            add_asking_arguments(of_kind, without=_list_file_options(kinds[name]))
            of_kind.epilog = f"{of_kind.epilog}\n{EPILOG}".lstrip()

    def handle(self, *args: Any, **options: Any) -> None:
        """Ask the model, evaluate the replies, and print the result and the output paths."""
        kind = list_kinds()[options["method"]]
        assert kind.study is not None  # or there would be no such method
        parameters = read_options(kind.options, options, files=True)
        try:
            with report_bad_input(), ProgressBars() as bars:
                studied = kind.study.run(
                    parameters, options, build_ask_settings(options), bars.show
                )
        except EndedEarlyError as error:
            print_report(
                self.stdout,
                remove_control_characters(f"{error}\nTo continue, run the same command again."),
            )
            sys.exit(INCOMPLETE)
        except KeyboardInterrupt:  # between two steps; what they got is kept
            sys.exit(INCOMPLETE)
        print_report(self.stdout, studied.said)
        if not studied.complete:
            sys.exit(INCOMPLETE)
