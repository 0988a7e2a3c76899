"""A run from its answers to its results: rows to the columns of a grading, and results to rows.

`grade_run` tells how a run goes; `evaluation.flow` what a grading is. Each step may run twice:
embedding keeps what it made by the content of the text, and saving replaces what an earlier attempt
left.
"""

from __future__ import annotations

from functools import partial

from annotations.query_plans import refresh_statistics
from evaluation.flow.grading import grade_answers
from evaluation.flow.maps import map_answers
from evaluation.methods.aqer.electorate import RemedyError
from evaluation.steps.cache import embed_texts
from evaluation.steps.checkpoints import Turn
from evaluation.steps.draws import DrawParts
from evaluation.steps.load import load
from evaluation.steps.outside import as_run_input_error
from evaluation.steps.save import save

__all__ = ["grade_run"]


def grade_run(turn: Turn) -> None:
    """Grade a claimed run from its answers to its results, or as far as the turn goes."""
    given = load(turn.run_id)
    embed = partial(embed_texts, given.parameters, turn)
    try:
        grading = grade_answers(given, embed, turn.report, DrawParts.of(given, turn))
    except RemedyError as error:
        raise as_run_input_error(error) from error
    save(turn, grading, map_answers(grading, turn.report))
    refresh_statistics()
