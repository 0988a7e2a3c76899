"""Blind judgements by experts, on workers' answers and on the results that a run type declares.

`declaration` defines what is judged and on which scale, reads the judgements, draws items of a run
and asks experts to judge them. `audit` draws answers of a grading. `tasks` lists all open requests,
and leads an expert from one item to the next. `ANSWERS` is the declaration for answers of workers
and models.
"""

from evaluation.runs.judging.declaration import (
    ANSWERS,
    Choice,
    Exhibit,
    ExpertJudgement,
    Judging,
    Part,
    draw_sample,
    list_expert_progress,
    load_judgements,
    request_judgements,
)
from evaluation.runs.judging.tasks import (
    JudgingProgress,
    JudgingQueue,
    JudgingTask,
    NotAskedError,
    delete_judgement,
    find_last_judged,
    load_expert_progress,
    load_judging_queues,
    load_judging_task,
    request_answer_judgements,
    store_judgement,
)

__all__ = [
    "ANSWERS",
    "Choice",
    "Exhibit",
    "ExpertJudgement",
    "Judging",
    "JudgingProgress",
    "JudgingQueue",
    "JudgingTask",
    "NotAskedError",
    "Part",
    "delete_judgement",
    "draw_sample",
    "find_last_judged",
    "list_expert_progress",
    "load_expert_progress",
    "load_judgements",
    "load_judging_queues",
    "load_judging_task",
    "request_answer_judgements",
    "request_judgements",
    "store_judgement",
]
