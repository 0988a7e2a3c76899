"""Ten people, three models and twelve questions, and kinds of run that tell the other views.

A run of `SURE` or `STEADY` holds the rows of its table as they are put there; the numbers are made
so that Elk is sure where it is near to people, Ox where it is far from them.
"""

from django.utils.timezone import now

from annotations.exchange.importing import import_answers, import_questions
from annotations.models import QuestionSet
from evaluation.core.options import Parameters
from evaluation.models import Run, RunData
from evaluation.runs.flow.stored import (
    Aspect,
    Measure,
    MeasureSource,
    RunSummary,
    build_column_reader,
)
from evaluation.runs.imports import import_model_answers
from evaluation.runs.reports.lists import Table
from evaluation.runs.run_types import Kind
from tests.evaluation.runs.run_types.crowds import NOISE, answers_of, write

QUESTIONS = [f"q{n}" for n in range(12)]
MODELS = ("Elk", "Ox", "Yak")


def model_rows():
    """Return answers: of the best worker's words every model knows another number each time."""
    best = {question: text.split() for worker, question, text in answers_of(10) if worker == "w0"}
    rows = []
    for at, model in enumerate(MODELS):
        for number, question in enumerate(QUESTIONS):
            known = (5 * number + 3 * at) % 8
            words = best[question][:known] + list(NOISE[: 8 - known])
            rows.append((model, question, " ".join(words), "text"))
    return rows


def write_files(folder):
    """Return the files of people's and models' answers."""
    people = write(folder / "people.csv", ("worker", "question", "answer"), answers_of(10))
    header = ("model", "question", "answer", "status")
    return people, write(folder / "models.csv", header, model_rows())


def write_questions(folder):
    """Return the file of questions."""
    questions = [(name, f"What is {name}?") for name in QUESTIONS]
    return write(folder / "q.csv", ("question", "text"), questions)


def rivers_of(owner, folder):
    """Return a set of these questions and answers."""
    question_set = QuestionSet(owner=owner, name="rivers")
    import_questions(question_set, write_questions(folder))
    people, models = write_files(folder)
    import_answers(question_set, people)
    import_model_answers(question_set, models)
    return question_set


HEADER = ("system", "item", "form", "sureness", "right", "steadiness", "reason")
LINES = [f"tests.evaluation.model_overview.world.{name}" for name in ("SURE", "STEADY")]
SURE_VIEWS = (
    MeasureSource(
        Measure("sureness", Aspect.UNCERTAINTY, "Sure", "How unsure it is.", 0.0, better="lower"),
        build_column_reader("sureness"),
    ),
    MeasureSource(
        Measure("right", Aspect.ANSWERABILITY, "Notices", "Whether it notices.", 0.0, 1.0),
        build_column_reader("right"),
        split="form",
    ),
)
STEADY_VIEWS = (
    MeasureSource(
        Measure("steadiness", Aspect.ROBUSTNESS, "Steady", "How steady it is.", 0.0, 1.0)
    ),
)


def rows_of(run):
    return Table(HEADER, RunData.objects.get(run=run, name="rows").data)


def never(turn):
    raise AssertionError("its runs are put there")


def kind(name, views):
    return Kind(name, name.title(), "For tests.", Parameters, never, RunSummary,
                {"items": rows_of}, views=views, needs_answers=False)  # fmt: skip


SURE, STEADY = kind("sure", SURE_VIEWS), kind("steady", STEADY_VIEWS)


def told(version, name, rows):
    """Return a run that is done, with these rows."""
    run = Run.objects.create(
        owner=version.question_set.owner, version=version, kind=name, state="done",
        finished_at=now(), signature=f"{name}|version:1",
    )  # fmt: skip
    RunData.objects.create(run=run, name="rows", data=rows)
    return run


def sure_rows(scores):
    """Return rows by the models' similarity to people: Elk is unsure where it is far, Ox not."""
    sign = {"Elk": -1, "Ox": 1}
    return [
        (model, question, "direct", 10 + sign[model] * score, score > 0.1, None, "")
        for (model, question), score in scores.items()
        if model in sign
    ]


def steady_rows(scores, models=("Elk", "Ox", "Yak")):
    """Return rows: Ox is steady everywhere, Elk nowhere, Yak in half of the questions."""
    level = {"Elk": 0.0, "Ox": 1.0}
    return [
        (model, question, "", None, None, level.get(model, int(question[1:]) % 2), "")
        for model, question in scores
        if model in models
    ]
