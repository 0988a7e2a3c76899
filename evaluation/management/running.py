"""Base classes of commands: start a run and show its progress; need a source checkout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotations.exchange.reading.outside_information import read_worker_argument
from annotations.management.importing import SetCommand
from annotations.models import QuestionSet, QuestionSetVersion
from evaluation.core.messages.console import (
    BAD_INPUT,
    ProgressBars,
    format_table,
    print_report,
    remove_control_characters,
    report_bad_input,
)
from evaluation.core.options import (
    TERMINAL,
    Ids,
    OptionError,
    Parameters,
    RegisteredModel,
    RegisteredModels,
)
from evaluation.management.exporting import add_version, select_version
from evaluation.management.option_arguments import read_options
from evaluation.models import LanguageModel, Run
from evaluation.models.runs import LONGEST_NAME
from evaluation.runs.background.exclusions import (
    EXCLUDE,
    add_excluded_workers,
    has_exclude_option,
    list_excluded_ids,
)
from evaluation.runs.background.run_watch import follow_run
from evaluation.runs.run_types import Kind

# Rows of a table shown on a terminal; the files hold all of them.
MAX_SHOWN = 40

# Excluded workers who are named.
NAMED = 20
PAUSED = "the run is paused; it continues when a user resumes it"


class RunCommand(SetCommand):
    """Command that queues a run over a version, shows its progress and prints its report."""

    def add_run_arguments(self, parser: CommandParser, options: type[Parameters]) -> None:
        """Add the arguments for the run's name, waiting, and including excluded workers."""
        add = parser.add_argument
        add_version(parser)
        add("--name", default="", help=f"what you call the run: {LONGEST_NAME} characters at most")
        add("--notes", default="", metavar="TEXT", help="why it is made, for its page")
        if has_exclude_option(options):
            add(
                "--include-excluded",
                action="store_true",
                help="also read answers of workers who are excluded from the set; without "
                "it they are left out unless --exclude-workers names others",
            )
        add("--no-wait", action="store_true", help="queue the run and end")

    def start(self, kind: Kind, options: dict[str, Any]) -> None:
        """Queue the run, show its progress and print it; with option `output` write its tables."""
        asked = replace_files(read_options(kind.options, options, files=False), options)
        version = self.version(options, answered=kind.needs_answers)
        parameters = replace_model_names(asked, options, version.question_set)
        parameters = self.without_excluded(parameters, version, options)
        run = self.queue_run(kind, version, parameters, options["name"], options["notes"])
        if options["no_wait"] or not self.watch_run(run):
            return
        if run.state == Run.State.PAUSED:
            print_report(self.stdout, PAUSED)
            return
        if run.state != Run.State.DONE:
            raise CommandError(f"the run {run.state}: {TERMINAL.format(run.error) or 'no results'}")
        self.show(kind, run, options)

    def without_excluded(
        self, parameters: Parameters, version: QuestionSetVersion, options: dict[str, Any]
    ) -> Parameters:
        """Return the parameters without excluded workers, unless the options include them."""
        if not has_exclude_option(parameters) or options.get(EXCLUDE) is not None:
            return parameters
        if options["include_excluded"] or not (ids := list_excluded_ids(version)):
            return parameters
        listing = ", ".join(ids[:NAMED]) + (", ..." if len(ids) > NAMED else "")
        print_report(
            self.stdout, f"left out, as people decided: {listing} (--include-excluded reads them)"
        )
        return add_excluded_workers(parameters, version)

    def version(self, options: dict[str, Any], *, answered: bool) -> QuestionSetVersion:
        """Return the requested version, or the default one of the set."""
        question_set = self.question_set(options)
        if not question_set.versions.exists():
            raise CommandError(f"{question_set} has no questions yet", returncode=BAD_INPUT)
        return select_version(self.stdout, question_set, options["in_version"], answered)

    def queue_run(
        self,
        kind: Kind,
        version: QuestionSetVersion,
        parameters: Parameters,
        name: str = "",
        notes: str = "",
    ) -> Run:
        """Queue a run and return it; CommandError (exit status 2) for invalid options."""
        from evaluation.runs.background.runs import LabelError, queue_run

        owner = version.question_set.owner_id
        try:
            # Trusted: who can start commands on the server is an operator, whoever owns the set.
            run = queue_run(
                version, owner, parameters, kind.name, trusted=True, name=name, notes=notes
            )
        except LabelError as error:
            raise CommandError(f"--{error.field}: {error}", returncode=BAD_INPUT) from None
        except OptionError as error:
            reasons = TERMINAL.format_problems(kind.options, error.problems)
            raise CommandError(
                remove_control_characters("\n".join(reasons)), returncode=BAD_INPUT
            ) from None
        print_report(self.stdout, f"run {run.public_id} is queued")
        return run

    def watch_run(self, run: Run) -> bool:
        """Show a run's progress until it has ended or is paused; return False after Ctrl-C."""
        from evaluation.runs.background.progress import HOW_TO_START, is_any_process_running

        if not is_any_process_running():
            self.stderr.write(HOW_TO_START)
        try:
            with ProgressBars() as bars:
                follow_run(run, bars.show)
        except KeyboardInterrupt:
            print_report(self.stdout, "the run continues; its page shows the progress")
            return False
        return True

    def show(self, kind: Kind, run: Run, options: dict[str, Any]) -> None:
        """Print a run's report, and write its tables if requested."""
        print_report(self.stdout, kind.text(run) if kind.text else format_tables(kind, run))
        if options.get("output") is not None:
            self.write_tables(kind, run, options["output"])

    def write_tables(self, kind: Kind, run: Run, output: Path) -> None:
        """Write a run's tables as CSV with its summary, or all in one file."""
        from evaluation.runs.run_types.data_sheets import write_run_data

        with report_bad_input():
            names = write_run_data(kind, run, output)
        place = output.parent if names == [output.name] else output
        print_report(self.stdout, f"{', '.join(names)} written to {place}")


def replace_files(parameters: Parameters, options: dict[str, Any]) -> Parameters:
    """Return the options with the paths of files replaced by the ids that the files contain."""
    for name, option in parameters.options().items():
        if isinstance(option, RegisteredModels):
            continue
        if isinstance(option, Ids) and options[name] is not None:
            with report_bad_input():
                parameters = replace(
                    parameters, **{name: tuple(read_worker_argument(options[name]).lines)}
                )
    return parameters


def replace_model_names(
    parameters: Parameters, options: dict[str, Any], question_set: QuestionSet
) -> Parameters:
    """Return the options with model names replaced by the models' public ids."""
    for name, option in parameters.options().items():
        if isinstance(option, RegisteredModels) and options[name]:
            ids = find_model_ids(options[name], question_set)
            parameters = replace(parameters, **{name: ids})
        elif isinstance(option, RegisteredModel) and options[name]:
            (one,) = find_model_ids([options[name]], question_set)
            parameters = replace(parameters, **{name: one})
    return parameters


def find_model_ids(names: Sequence[str], question_set: QuestionSet) -> tuple[str, ...]:
    """Return the public ids of the owner's models with these names or ids.

    A name may also be the path of a file with one name or id per line. Raises CommandError (exit
    status 2) for an unknown name.
    """
    rows = LanguageModel.objects.filter(owner=question_set.owner_id)
    known = {row.name: str(row.public_id) for row in rows.exclude(spec="")}
    ids = set(known.values())
    wanted: list[str] = []
    for name in names:
        if name not in known and name not in ids and Path(name).is_file():
            with report_bad_input():
                wanted += read_worker_argument(name).lines
        else:
            wanted.append(name)
    missing = [name for name in wanted if name not in known and name not in ids]
    if missing:
        there = ", ".join(sorted(known)) or "none"
        reason = f"no model with an address has the name {', '.join(missing)}; there is: {there}"
        raise CommandError(remove_control_characters(reason), returncode=BAD_INPUT)
    return tuple(dict.fromkeys(known.get(name, name) for name in wanted))


def format_tables(kind: Kind, run: Run) -> str:
    """Return the first rows of each table of a run as text."""
    parts = []
    for name, table_of in kind.tables.items():
        table = table_of(run)
        rows = list(islice(table.rows, MAX_SHOWN + 1))
        more = "\n..." if len(rows) > MAX_SHOWN else ""
        parts.append(f"{name}\n{format_table(table.header, rows[:MAX_SHOWN])}{more}")
    return "\n\n".join(parts)


MISSING = (
    "this command is part of a checkout of Crowdgrade and not of the installed package: {name} is "
    "missing. Clone the repository and run the command there."
)


class CheckoutCommand(BaseCommand):
    """Command that a module of the source checkout declares and runs.

    The module has two functions: `add_arguments(parser)` and `run(command, options)`. It is loaded
    when the command is called.
    """

    module: ClassVar[str]

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments of the checkout's module; raise CommandError without a checkout."""
        try:
            self._load().add_arguments(parser)
        except CommandError as error:
            parser.error(str(error))

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the command of the checkout's module."""
        self._load().run(self, options)

    def _load(self) -> ModuleType:
        try:
            return import_module(self.module)
        except ModuleNotFoundError as error:
            # What the module itself imports, such as a peer, is reported as it is.
            if error.name is None or not f"{self.module}.".startswith(f"{error.name}."):
                raise
            package = self.module.rpartition(".")[0]
            raise CommandError(MISSING.format(name=package)) from None
