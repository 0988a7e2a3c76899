"""Command ``manage.py ask QUESTIONS --model SPEC --output DIR``: ask a model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotations.exchange import AnswerStatus
from evaluation.core.backends.chat.openai import LIMITS
from evaluation.core.messages.console import (
    BAD_INPUT,
    ProgressBars,
    build_minimum_type,
    find_remedy_option,
    print_report,
    remove_control_characters,
    report_bad_input,
)
from evaluation.management.asking_arguments import SPECS, add_asking_arguments, build_ask_settings
from evaluation.runs.files.asking import (
    AskRequest,
    AskResult,
    AskSettings,
    RequestEstimate,
    ask_questions,
    estimate_requests,
    write_batch_file,
)
from evaluation.runs.flow.asking.plan import SYSTEM, TEMPLATES

INCOMPLETE = 3
EPILOG = f"""\
{SPECS}
DIR then holds model_answers.csv, which evaluate aqer --models reads, requests.jsonl (every
request and answer as it was, without keys) and summary.json. If interrupted, run the same command
again: it continues and repeats only failed requests. Another model, prompt or parameter adds rows.

A template is text with {{question}}, {{passage}}, {{title}}, {{choices}}, {{category}} and
{{language}}; a brace itself is written twice.

Exit code: 0 every question has an answer (empty and refused are answers), 3 some are errors or
cut off before an answer came, or the budget, Ctrl-C or a full disk ended it (what came is kept),
2 bad usage or input.
"""


class Command(BaseCommand):
    """Ask a model the questions of a file, without a database."""

    help = "Ask a language model the questions of a file; needs no database."
    requires_system_checks = ()

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Create a parser that preserves the line breaks of the epilogue."""
        return super().create_parser(
            prog_name,
            subcommand,
            epilog=EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **kwargs,
        )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments: questions, model, sampling, rate and cost limits."""
        _add_question_arguments(parser)
        add_asking_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Ask the model and print a summary of the replies."""
        with report_bad_input():
            request = _build_request(options)
            if options["dry_run"]:
                print_report(self.stdout, _format_estimate(estimate_requests(request)))
                return
            if options["write_batch"]:
                count = write_batch_file(request, options["write_batch"])
                print_report(
                    self.stdout, f"{count:,} requests in {options['write_batch']}; none was sent."
                )
                return
            try:
                with ProgressBars() as bars:
                    questions = ask_questions(
                        request,
                        lambda done, total: bars.show("asking", done, total),
                        batch=options["read_batch"],
                    )
            except KeyboardInterrupt:  # before the first request
                sys.exit(INCOMPLETE)
        print_report(self.stdout, _format_ask_result(questions, request))
        if questions.problem:
            self.stderr.write(remove_control_characters(questions.problem))
        if not questions.complete:
            sys.exit(INCOMPLETE)


def _add_question_arguments(parser: CommandParser) -> None:
    """Add the arguments for the questions, their passages and the prompt."""
    add = parser.add_argument
    add(
        "questions",
        type=Path,
        metavar="QUESTIONS",
        help="CSV, TSV, JSONL or XLSX with the columns question (or id) and text, and passage",
    )
    add("--output", type=Path, required=True, metavar="DIR", help="folder for what comes")
    add(
        "--passages",
        type=Path,
        metavar="FILE",
        help="texts that the questions are about: passage (or id) and text",
    )
    add(
        "--strategy",
        choices=list(TEMPLATES),
        help="closed: from memory; passage: with its text (default: passage where there are "
        "passages, else closed)",
    )
    add("--template", type=Path, metavar="FILE", help="how a question is put, in place of our own")
    add(
        "--system",
        default=SYSTEM,
        metavar="TEXT",
        help="the system message; empty for none (%(default)r)",
    )
    add(
        "--samples",
        type=build_minimum_type(1),
        default=1,
        metavar="N",
        help="conversations about each question; beyond 1 choose a --temperature (%(default)s)",
    )
    add("--dry-run", action="store_true", help="count requests, tokens and money; send nothing")
    add(
        "--write-batch",
        type=Path,
        metavar="FILE",
        help="write the requests as a batch for the provider (JSON Lines); send nothing",
    )
    add(
        "--read-batch",
        type=Path,
        metavar="FILE",
        help="take the replies out of the provider's results of that batch; send nothing",
    )


def _build_request(options: dict[str, Any]) -> AskRequest:
    """Return the request that the arguments describe; CommandError if they contradict."""
    chosen = [
        f"--{n.replace('_', '-')}" for n in ("dry_run", "write_batch", "read_batch") if options[n]
    ]
    if len(chosen) > 1:
        raise CommandError(f"{' and '.join(chosen)}: choose one", returncode=BAD_INPUT)
    return AskRequest(
        **{name: options[name] for name in ("questions", "output", "passages")},
        **{name: options[name] for name in ("strategy", "template", "system", "samples")},
        asking=build_ask_settings(options),
    )


def _format_estimate(estimate: RequestEstimate) -> str:
    """Return the expected numbers of requests and tokens, and the cost, as lines of text."""
    lines = [
        f"{estimate.name}: {estimate.requests:,} answers, {estimate.stored:,} of them stored",
        f"to ask: {estimate.requests - estimate.stored:,} requests, about "
        f"{estimate.prompt_tokens:,} tokens "
        f"to read and at most {estimate.completion_tokens:,} to write",
    ]
    if estimate.cost is not None:
        lines.append(f"money: at most about {estimate.cost:.4f}")
    return "\n".join([*lines, "Nothing was sent."])


def _format_reply_remarks(ask_result: AskResult, asking: AskSettings) -> list[str]:
    """Return lines on replies that were cut, are empty, or contain the model's thinking."""
    lines = []
    most = next((asking.parameters[name] for name in LIMITS if asking.parameters.get(name)), None)
    limit = f" of {most:,} tokens" if isinstance(most, int) else ""
    if ask_result.n_cut_off:
        lines.append(
            f"cut off: {ask_result.n_cut_off:,}: the length{limit} was used up before an answer "
            "came. "
            "Raise --max-tokens: the questions are then asked anew."
        )
    if ask_result.n_cut_short:
        lines.append(
            f"cut short: {ask_result.n_cut_short:,} answers end at the length{limit}. "
            "Raise --max-tokens to have them whole."
        )
    if empty := ask_result.outcome.statuses[AnswerStatus.EMPTY]:
        lines.append(f"empty: {empty:,} replies hold no text; each will score as no answer")
    if ask_result.n_thinking and asking.keep_thinking:
        lines.append(f"thinking: left before the answers of {ask_result.n_thinking:,} replies")
    elif ask_result.n_thinking:
        lines.append(
            f"thinking: put aside in {ask_result.n_thinking:,} replies (it is in requests.jsonl; "
            "--keep-thinking leaves it in the answers)"
        )
    return lines


def _format_ask_result(ask_result: AskResult, request: AskRequest) -> str:
    """Return the counts of replies and errors, the cost, and the output folder as text."""
    outcome = ask_result.outcome
    counts = ", ".join(f"{count:,} {status}" for status, count in sorted(outcome.statuses.items()))
    rate = f" ({outcome.n_asked / outcome.seconds:.1f} a second)" if outcome.seconds else ""
    lines = [
        f"{remove_control_characters(ask_result.name)}: {outcome.n_planned:,} answers, "
        f"{outcome.n_stored:,} stored "
        f"before, {outcome.n_asked:,} asked in {outcome.seconds:.1f} s{rate}"
    ]
    if counts:
        lines.append(f"now: {counts}")
    if outcome.faults:
        faults = ", ".join(f"{count:,} {code}" for code, count in outcome.faults.most_common())
        lines.append(f"errors: {faults}")
        for code, message in outcome.messages.items():
            lines.append(f"  {code}: {remove_control_characters(message)}")
            if remedy := find_remedy_option(code, message):
                lines.append(f"    {remedy}")
    lines += _format_reply_remarks(ask_result, request.asking)
    if ask_result.adaptations:
        lines.append(f"request adapted to the server: {'; '.join(ask_result.adaptations)}")
    if outcome.cost:
        lines.append(f"money: {outcome.cost:.4f}")
    if outcome.n_left:
        lines.append(f"not asked: {outcome.n_left:,}")
    if outcome.reason:
        lines.append(f"ended early: {remove_control_characters(outcome.reason)}")
    if outcome.n_left or outcome.statuses[AnswerStatus.ERROR]:
        lines.append("To continue, run the same command again.")
    return "\n".join([*lines, f"Answers: {request.output}"])
