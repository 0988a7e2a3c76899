"""Command-line arguments and help of ``evaluate maqa`` and ``study maqa``."""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluation.core.messages.console import build_minimum_type
from evaluation.maqa.run.replies import ALL, MOST_TOP, NONE, TOP
from evaluation.runs.run_types.answer_files import add_keep_thinking_argument
from evaluation.runs.run_types.kind import Evaluation, Study

EVALUATE_EPILOG = """\
QUESTIONS is a list of {"question", "answer"} in JSON, where an answer is a text, a number or a list
of spellings of one answer; the id of a question is its place, from 0, unless it has an "id".

The replies are JSON Lines: system, item (the id of the question), sample (0, 1, ...), and either
reply, the text, or what was read out of it: answers, confidence (0 to 100), first_token, a list of
{"answer", "logits"} or {"answer", "top_logprobs", "vocabulary"}; and logprobs, those of its tokens.

SPEC is minilm (default), sentence-transformers:NAME, openai:MODEL@URL, tfidf-word, tfidf-char; it
is needed where a system has several replies to a question that differ.

Written into DIR: metrics.csv, items.csv, summary.json, answers.csv, positions.csv,
gold_counts.csv, curves.csv, calibration.csv, comparisons.csv, and a picture (SVG) for each measure.
platform/docs/data-formats.md describes them.
Exit code: 0 done, 2 bad usage or input (nothing is written then).
"""


def add_evaluate_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file and output arguments of ``evaluate maqa`` to the parser."""
    add = parser.add_argument
    add("questions", type=Path, metavar="QUESTIONS", help="JSON list of questions and answers")
    add(
        "--replies",
        type=Path,
        metavar="FILE",
        required=True,
        help="what the systems replied, JSON Lines",
    )
    add_keep_thinking_argument(parser)
    add("--output", type=Path, metavar="DIR", required=True, help="folder for the tables")


EVALUATE = Evaluation(
    help="score replies to questions with several right answers (MAQA)",
    description="Score sets of answers, and how well a model knows when it is right.",
    epilog=EVALUATE_EPILOG,
    add_arguments=add_evaluate_arguments,
    run="evaluation.maqa.commands.run_evaluate",
)


STUDY_EPILOG = """\
Every question is put in a fresh conversation, which asks for a JSON list and a confidence from 0 to
100; with --samples it is asked again, for the consistency (choose a --temperature above 0 then).
With --first-tokens top the server is asked for the likeliest tokens at each place; with all, which
is so for the packaged model anyway, it is asked again with the reply up to each answer for every
token that it has. The server must continue an interrupted reply, as llama.cpp does; a server that
does not is detected and counted.

DIR then holds the tables of evaluate maqa, replies.csv, and replies.jsonl, which evaluate maqa
takes as --replies.
"""


def add_study_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``study maqa``, except run options and server settings."""
    add = parser.add_argument
    add("questions", type=Path, metavar="QUESTIONS", help="JSON list of questions and answers")
    add(
        "--samples",
        type=build_minimum_type(1),
        default=1,
        metavar="N",
        help="replies to each question (%(default)s)",
    )
    add("--first", type=build_minimum_type(1), metavar="N", help="ask the first N questions only")
    add(
        "--first-tokens",
        choices=(NONE, TOP, ALL),
        help="what to ask of the distribution at the first token of each answer: nothing, the "
        "likeliest tokens, or all (default: all for the packaged model, else none)",
    )
    add(
        "--top",
        type=build_minimum_type(1),
        default=MOST_TOP,
        metavar="K",
        help="how many likeliest tokens to ask for (%(default)s)",
    )
    add(
        "--vocabulary",
        type=build_minimum_type(1),
        metavar="V",
        help="how many tokens the model has, for the upper end of the entropy",
    )
    add("--output", type=Path, metavar="DIR", required=True, help="folder for what comes")


STUDY = Study(
    help="ask a model questions with several right answers (MAQA)",
    description="Ask a model questions with several right answers, and evaluate its replies.",
    epilog=STUDY_EPILOG,
    add_arguments=add_study_arguments,
    run="evaluation.maqa.commands.run_study",
)
