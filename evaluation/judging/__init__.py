"""Blind judgements of experts, on workers' answers and on what a run type shows.

`declaration` defines what is judged and on which scale. `sample` draws things of a run and asks
experts to judge them, `audit` draws answers of a grading. `tasks` leads an expert from one to the
next, `inbox` lists everything that is open, `given` reads the judgements. `ANSWERS` is the
declaration for answers of workers and models.
"""

from evaluation.judging.declaration import ANSWERS, Choice, Exhibit, Judging, Part
from evaluation.judging.given import Given, given_of
from evaluation.judging.sample import ask_about, draw, list_progress
from evaluation.judging.tasks import (
    NotAskedError,
    Progress,
    Queue,
    Task,
    ask,
    judge,
    last_judged,
    load_queues,
    progress,
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
    "list_progress",
    "load_queues",
    "progress",
    "task",
    "undo",
]
