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

from .about import RunAbout, about
from .answer_map import AnswerMap, MapAnswer, MapModel, answer_map
from .changes import DataChange, data_change, inputs_are_the_same
from .consensus import ConsensusReport, ConsensusRow, consensus_report
from .datasheet import Datasheet
from .models import Crowd, ModelRow, ModelsReport, models_report
from .paging import BadCursorError, Page
from .question import ModelAnswer, QuestionAnswer, QuestionReport, question_report
from .questions import QuestionRow, question_rows
from .reasons import in_words
from .run import RunReport, run_report
from .values import Ceiling, Estimate
from .worker import WorkerAnswer, WorkerReport, worker_report
from .workers import WorkerRow, worker_rows

__all__ = [
    "AnswerMap",
    "BadCursorError",
    "Ceiling",
    "ConsensusReport",
    "ConsensusRow",
    "Crowd",
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
    "consensus_report",
    "data_change",
    "in_words",
    "inputs_are_the_same",
    "models_report",
    "question_report",
    "question_rows",
    "run_report",
    "worker_report",
    "worker_rows",
]
