"""Six sets of Rana's in which the same people answered, with results made by hand."""

from datetime import UTC, datetime, timedelta

from annotations.models import (
    Question,
    QuestionSet,
    QuestionSetVersion,
    Response,
    Submission,
    Worker,
)
from evaluation.consensus.parameters import AqerParameters
from evaluation.models import Alarm, AnswerScore, Run, WorkerGrade

START = datetime(2026, 1, 15, tzinfo=UTC)
MONTH = timedelta(days=30)


def worker(owner, name, panel=""):
    return Worker.objects.get_or_create(owner=owner, external_id=name, panel=panel)[0]


def graded_set(owner, name, scores, month=0, embedder="bow", **parameters):
    """A set with a run; `scores`: by worker's name the leave-one-out scores of the answers."""
    question_set = QuestionSet.objects.create(owner=owner, name=name)
    version = QuestionSetVersion.objects.create(question_set=question_set, number=1)
    n_questions = max(map(len, scores.values()))
    questions = [
        Question.objects.create(version=version, external_id=f"q{at}", position=at, text="What?")
        for at in range(n_questions)
    ]
    when = START + month * MONTH
    run = Run.objects.create(
        owner=owner,
        version=version,
        state="done",
        finished_at=when + timedelta(days=1),
        parameters=AqerParameters(embedder=embedder, **parameters).as_dict(),
    )
    for who, values in scores.items():
        person = worker(owner, who)
        submission = Submission.objects.create(
            version=version,
            worker=person,
            state="submitted",
            source="imported",
            submitted_at=when,
        )
        for question, value in zip(questions, values, strict=False):
            response = Response.objects.create(
                submission=submission,
                question=question,
                text=f"{who} {value}",
                status="text",
                state="submitted",
            )
            AnswerScore.objects.create(run=run, response=response, score_leave_one_out=value)
        WorkerGrade.objects.create(
            run=run,
            worker=person,
            n_answers=len(values),
            support=True,
            leave_one_out=sum(values) / len(values),
        )
    return run


def named(run, *names, kind="copies", severity="alarm"):
    """An alarm of the run about some workers."""
    made = Alarm.objects.create(
        run=run, place=run.alarms.count(), kind=kind, severity=severity, message="!"
    )
    made.workers.set(worker(run.owner, name) for name in names)
    return made
