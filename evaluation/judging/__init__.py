"""Blind judgements of experts: of workers' answers, and of what a run type shows them.

`declaration` says what is judged, and on which scale; `sample` draws some of what a run has and
asks experts to judge it, `audit` some of the answers of a grading; `tasks` leads an expert from one
to the next, `inbox` tells of everything that waits; `given` reads what they said. `ANSWERS` is the
declaration for answers, of people and of models.
"""

from evaluation.judging.declaration import ANSWERS, Choice, Exhibit, Judging, Part
from evaluation.judging.given import Given, given_of
from evaluation.judging.sample import ask_about, draw, progress_by_expert
from evaluation.judging.tasks import (
    NotAskedError,
    Progress,
    Queue,
    Task,
    ask,
    judge,
    last_judged,
    progress,
    queues,
    task,
    undo,
)

__all__ = [
    "ANSWERS",
    "Choice",
    "Exhibit",
    "Given",
    "Judging",
    "NotAskedError",
    "Part",
    "Progress",
    "Queue",
    "Task",
    "ask",
    "ask_about",
    "draw",
    "given_of",
    "judge",
    "last_judged",
    "progress",
    "progress_by_expert",
    "queues",
    "task",
    "undo",
]
