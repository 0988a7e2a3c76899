"""Rana's rivers with alarms made by hand: w001 and w002 copy, and so on."""

from annotations.models import Question, Response, Worker
from evaluation.models import Alarm, LLMResponse, Run

CHECKS = [
    {"check": "two_camps", "statistic": 5.5, "threshold": 3.0, "rings": True, "reason": None},
    {
        "check": "leverage",
        "statistic": None,
        "threshold": 0.75,
        "rings": False,
        "reason": "fewer_than_5_questions",
    },
]


def looked(run: Run, checks=CHECKS) -> Run:
    """The run, having looked for alarms."""
    run.summary = run.summary | {"alarm_checks": checks}
    Run.objects.filter(pk=run.pk).update(summary=run.summary)
    return run


def answer(run: Run, worker: str, question: str) -> Response:
    return Response.objects.get(
        submission__version=run.version,
        submission__worker__external_id=worker,
        question__external_id=question,
    )


def alarm(run: Run, kind="copies", severity="alarm", workers=(), questions=(), pairs=(), **fields):
    """An alarm after the others; `pairs` are (question, left worker, right worker or model)."""
    evidence = []
    for question, left, right in pairs:
        of_model = right is not None and right.startswith("model")
        asked = Question.objects.get(version=run.version, external_id=question)
        evidence.append(
            {
                "question": asked.pk,
                "left": answer(run, left, question).pk,
                "right": None if right is None or of_model else answer(run, right, question).pk,
                "llm_response": LLMResponse.objects.get(model__name=right, question=asked).pk
                if of_model
                else None,
            }
        )
    made = Alarm.objects.create(
        run=looked(run),
        place=Alarm.objects.filter(run=run).count(),
        kind=kind,
        severity=severity,
        evidence=evidence,
        **{"statistic": 0.9, "threshold": 0.5, "message": "Read (--collapse-copies).", **fields},
    )
    # One after the other: they are told in the order in which they were written.
    for name in workers:
        made.workers.add(Worker.objects.get(owner=run.owner, external_id=name))
    for name in questions:
        made.questions.add(run.version.questions.get(external_id=name))
    return made
