"""Results of a run as plain values: queries in, frozen dataclasses out.

The admin, the API and exports show the same reports. Each takes a run that was fetched through
`Run.objects.visible_to(user)`; rows of that run need no further check. The number of queries does
not depend on the number of rows, lists come in pages (`paging`), and long texts are cut in the
database (`texts`).

- `run`: what was computed, how and how well; its workers and questions, page by page.
- `worker`: a worker's answers beside the exemplary ones.
- `answer_map`: the answers to a question in two dimensions, iteration by iteration.
- `question`: a question's answers, nearest to the crowd's consensus first, and the models' answers.
- `consensus`: what the crowd answers, question by question, with its datasheet.
- `models`: the leaderboard, and the crowd among which models are placed.
"""

from annotations.web.paging import BadCursorError, Page
from evaluation.reports.about import RunAbout, about
from evaluation.reports.answer_map import AnswerMap, MapAnswer, MapModel, answer_map
from evaluation.reports.changes import DataChange, answers_are_the_same, data_change
from evaluation.reports.consensus import ConsensusReport, ConsensusRow, consensus_report
from evaluation.reports.datasheet import Datasheet
from evaluation.reports.models import CrowdScores, ModelRow, ModelsReport, models_report
from evaluation.reports.question import ModelAnswer, QuestionAnswer, QuestionReport, question_report
from evaluation.reports.questions import QuestionRow, question_rows
from evaluation.reports.run import RunReport, crowd_counts, run_report
from evaluation.reports.values import Ceiling, Estimate
from evaluation.reports.worker import WorkerAnswer, WorkerReport, worker_report
from evaluation.reports.workers import WorkerRow, worker_rows
from evaluation.words.reasons import in_words

__all__ = [
    "AnswerMap",
    "BadCursorError",
    "Ceiling",
    "ConsensusReport",
    "ConsensusRow",
    "CrowdScores",
    "DataChange",
    "Datasheet",
    "Estimate",
    "MapAnswer",
    "MapModel",
    "ModelAnswer",
    "ModelRow",
    "ModelsReport",
    "Page",
    "QuestionAnswer",
    "QuestionReport",
    "QuestionRow",
    "RunAbout",
    "RunReport",
    "WorkerAnswer",
    "WorkerReport",
    "WorkerRow",
    "about",
    "answer_map",
    "answers_are_the_same",
    "consensus_report",
    "crowd_counts",
    "data_change",
    "in_words",
    "models_report",
    "question_report",
    "question_rows",
    "run_report",
    "worker_report",
    "worker_rows",
]
