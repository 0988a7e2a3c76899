"""Command ``manage.py collect SET --models NAME``: ask registered models."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.models import QuestionSet
from evaluation.core.messages.console import BAD_INPUT, print_report, remove_control_characters
from evaluation.core.options import TERMINAL
from evaluation.management.exporting import add_version_argument
from evaluation.management.option_arguments import add_option_arguments, read_options
from evaluation.management.running import PAUSED, RunCommand, find_model_ids
from evaluation.models import PromptVersion, Run
from evaluation.runs.background.progress import format_duration
from evaluation.runs.flow.asking.options import AskOptions
from evaluation.runs.flow.asking.summary import AskSummary
from evaluation.runs.run_types import get_kind
from evaluation.runs.steps.asking.model_askings import find_start_problems
from evaluation.runs.steps.asking.preview import AskingEstimate, estimate_askings, preview_askings
from evaluation.runs.steps.asking.registration import BUILT_IN

INCOMPLETE = 3


class Command(RunCommand):
    """Start a run that asks models, and show its progress."""

    help = (
        "Ask registered models the questions of the latest published version of the question "
        "set SET. A background process sends the requests; this command shows the progress and "
        "the results. Stored replies are not requested again. Exit code: 0 every question has "
        "an answer (empty and refused are answers), "
        "3 some are errors or were not asked, or Ctrl-C (the run continues), 2 bad usage."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: set, models, options, and whether to wait."""
        super().add_arguments(parser)
        add = parser.add_argument
        add("--models", nargs="+", required=True, metavar="NAME", help="names of your models")
        add_option_arguments(parser, AskOptions, files=False, without=("models",))
        add_version_argument(parser)
        add("--dry-run", action="store_true", help="show the first request, count; send nothing")
        add("--no-wait", action="store_true", help="queue the run and end")
        add("--output", type=Path, metavar="DIR", help="folder for the tables, as CSV")

    def handle(self, *args: Any, **options: Any) -> None:
        """Queue the run, show its progress, and print its report."""
        version = self.find_chosen_version(options, answered=False)
        models = find_model_ids(options["models"], version.question_set)
        prompt = _find_prompt_id(options["prompt"], version.question_set)
        parameters = replace(
            read_options(AskOptions, {**options, "prompt": prompt}, files=False), models=models
        )
        if options["dry_run"]:
            self._print_estimates(version, parameters)
            return
        kind = get_kind("ask")
        run = self.queue_run(kind, version, parameters)
        if options["no_wait"]:
            return
        if not self.watch_run(run):
            sys.exit(INCOMPLETE)
        if run.state != Run.State.DONE:
            paused = run.state == Run.State.PAUSED
            why = (
                PAUSED
                if paused
                else f"the run {run.state}: {TERMINAL.format_message(run.error) or 'no results'}"
            )
            raise CommandError(remove_control_characters(why), returncode=INCOMPLETE)
        self.print_run_report(kind, run, options)
        if not AskSummary.from_json(run.summary).complete:
            sys.exit(INCOMPLETE)

    def _print_estimates(self, version: Any, options: AskOptions) -> None:
        """Print the first request and the cost of a run, without starting it."""
        owner = version.question_set.owner
        problems = find_start_problems(version, owner, options)
        if problems:
            reasons = "\n".join(TERMINAL.format_problems(AskOptions, problems))
            raise CommandError(remove_control_characters(reasons), returncode=BAD_INPUT)
        for preview in preview_askings(version, owner, options, count=1):
            for conversation in preview.conversations:
                lines = [f"{preview.model} sees of {conversation.question} ({preview.prompt}):"]
                lines += [
                    f"  {message['role']}: {message['content']}"
                    for message in conversation.messages
                ]
                print_report(self.stdout, remove_control_characters("\n".join(lines)))
        for asking in estimate_askings(version, owner, options):
            print_report(self.stdout, remove_control_characters(_format_estimate(asking)))
        print_report(self.stdout, "Nothing was sent.")


def _find_prompt_id(name: str | None, question_set: QuestionSet) -> str | None:
    """Return the id of the named prompt's latest version; other names are returned unchanged."""
    if name is None or name in BUILT_IN:
        return name
    versions = PromptVersion.objects.filter(prompt__owner=question_set.owner_id, prompt__name=name)
    latest = versions.order_by("-number").first()
    return name if latest is None else str(latest.public_id)


def _format_estimate(estimate: AskingEstimate) -> str:
    """Return a model's expected numbers of requests and tokens, its cost and duration, as text."""
    if estimate.reason:
        return estimate.reason
    lines = [
        f"{estimate.model}: {estimate.requests:,} answers, {estimate.stored:,} of them stored",
        f"  to ask: {estimate.to_ask:,}, about {estimate.prompt_tokens:,} tokens to read and at "
        "most "
        f"{estimate.completion_tokens:,} to write",
    ]
    if estimate.cost is not None:
        lines.append(f"  money: at most about {estimate.cost:.4f}")
    if estimate.duration is not None:
        lines.append(f"  time: about {format_duration(estimate.duration.total_seconds())}")
    return "\n".join(lines)
