"""A run from its answers to its results, as steps.

`grade_run` tells the whole flow of a run. Each step may run twice: embedding keeps what it made by
the content of the text, and saving replaces what an earlier attempt left.
"""

from __future__ import annotations

from annotations.query_plans import refresh_statistics
from evaluation.flow.grade import grade_source
from evaluation.flow.maps import map_answers
from evaluation.steps.checkpoints import Turn
from evaluation.steps.load import load
from evaluation.steps.save import save
from evaluation.steps.save_alarms import alarms_of_source
from evaluation.steps.vectors import vectors_of

__all__ = ["grade_run"]


def grade_run(turn: Turn) -> None:
    """Grade a claimed run from its answers to its results, or as far as the turn goes."""
    source = load(turn.run_id)
    embedded = vectors_of(source, turn)
    graded = grade_source(source, embedded, turn)
    alarms = alarms_of_source(source, embedded, graded, turn)
    maps = map_answers(source, embedded, graded.aqer, turn)
    save(turn, source, graded, alarms, maps, embedded.info, embedded.warnings)
    refresh_statistics()
