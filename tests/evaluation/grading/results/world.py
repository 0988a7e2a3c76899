"""Rana's rivers with results made by hand: worker 1 is the best, each next one a bit worse."""

import struct
from datetime import timedelta
from itertools import combinations

from django.contrib.auth.models import User
from django.utils import timezone

from annotations.models import Response, Submission, Worker
from evaluation.models import (
    AnswerScore,
    ExemplaryAnswer,
    LanguageModel,
    LLMAnswerScore,
    LLMComparison,
    LLMResponse,
    LLMScore,
    Run,
    WorkerGrade,
    compute_request_hash,
)
from tests.annotations import world

SUMMARY = {
    "iterations": 3,
    "converged": True,
    "trace": [0.05, 0.002, 1e-8],
    "ceiling": {
        "score": 0.81,
        "low": 0.7,
        "high": 0.9,
        "n_workers": 2,
        "n_questions": 6,
        "reason": None,
    },
    "embedding": {"model": "all-MiniLM-L6-v2", "revision": "", "precision": "float32"},
    "versions": {"crowdgrade": "0.1.0"},
    # Of a run with two iterations, in which worker 1 gets all the weight.
    "map": {
        "shares": [0.5, 0.25],
        "n_learned": 24,
        "unit_length": True,
        "iterations": [0, 1, 2],
        "n_workers": 4,
        "is_mean": True,
    },
}


def packed(*numbers: float) -> bytes:
    """Numbers as they are stored: float32, little-endian."""
    return struct.pack(f"<{len(numbers)}f", *numbers)


def another(run: Run) -> Run:
    """A second finished run of the same version, with the same grades."""
    second = Run.objects.create(
        owner=run.owner, version=run.version, state=Run.State.DONE, finished_at=run.finished_at
    )
    rows = list(run.worker_grades.all())
    for row in rows:
        row.pk, row.run = None, second
    WorkerGrade.objects.bulk_create(rows)
    return second


def queued(owner: User | None = None, n_questions: int = 2, **fields) -> Run:
    owner = owner or world.user("rana")
    version = world.version(owner, n_questions=n_questions)
    return Run.objects.create(owner=owner, version=version, **fields)


def ended(state: str, **fields) -> Run:
    return queued(state=state, finished_at=timezone.now(), **fields)


def finished(
    n_workers: int = 4,
    n_questions: int = 6,
    n_models: int = 2,
    owner: User | None = None,
    text: str = "river {question} runs north, says {worker}",
) -> Run:
    """A run that is done; every worker answered every question."""
    run = queued(owner, n_questions)
    owner = run.owner
    questions = list(run.version.questions.order_by("position"))
    run.version.publish()
    workers = Worker.objects.bulk_create(
        Worker(owner=owner, external_id=f"w{i:03}", panel="Prolific")
        for i in range(1, n_workers + 1)
    )
    submissions = Submission.objects.bulk_create(
        Submission(version=run.version, worker=worker, source="imported", state="submitted")
        for worker in workers
    )
    responses = Response.objects.bulk_create(
        Response(
            submission=submission,
            question=question,
            text=text.format(question=question.external_id, worker=submission.worker.external_id),
            status="text",
            state="submitted",
        )
        for submission in submissions
        for question in questions
    )
    grades = [1 - i / max(1, n_workers - 1) for i in range(n_workers)]
    WorkerGrade.objects.bulk_create(
        WorkerGrade(
            run=run,
            worker=worker,
            grade=grade,
            grade_low=max(0, grade - 0.1),
            grade_high=min(1, grade + 0.1),
            raw=0.5 + grade / 4,
            raw_low=0.4 + grade / 4,
            raw_high=0.6 + grade / 4,
            leave_one_out=0.4 + grade / 4,
            weight=grade,
            n_answers=n_questions,
            support=i < n_workers - 1,
            rank=i + 1 if i < n_workers - 1 else None,
            rank_low=max(1, i) if i < n_workers - 1 else None,
            rank_high=i + 2 if i < n_workers - 1 else None,
            weights=packed(0.25, 0.5 if i == 0 else 0.1, float(i == 0)),
            grades=packed(float("nan"), grade, grade),
        )
        for i, (worker, grade) in enumerate(zip(workers, grades, strict=True))
    )
    AnswerScore.objects.bulk_create(
        AnswerScore(
            run=run,
            response=response,
            score=0.9 - 0.001 * i,
            score_leave_one_out=0.8 - 0.001 * i,
            place=packed(i, -i, 10 + i, 20 + i),
        )
        for i, response in enumerate(responses)
    )
    ExemplaryAnswer.objects.bulk_create(
        ExemplaryAnswer(
            run=run,
            question=question,
            n_answers=n_workers,
            nearest_response=responses[at],
            dispersion=0.1 * (at + 1) / n_questions,
            mean_score=0.7 - 0.1 * at / n_questions,
            path=packed(3, -3, 13, 23, 2, -2, 12, 22, 0, 0, 10, 20),
            own_share=0.5,
            run_share=0.25,
        )
        for at, question in enumerate(questions)
    )
    models = LanguageModel.objects.bulk_create(
        LanguageModel(owner=owner, name=f"model {i}", family="Small", notice="A small model")
        for i in range(n_models)
    )
    replies = LLMResponse.objects.bulk_create(
        LLMResponse(
            model=model,
            question=question,
            text=f"{model.name} on {question.external_id}",
            status="text",
            request=compute_request_hash("", {}),
        )
        for model in models
        for question in questions
    )
    LLMScore.objects.bulk_create(
        LLMScore(
            run=run,
            model=model,
            score=0.6 - 0.01 * i,
            score_answered=0.6 - 0.01 * i,
            score_low=0.5,
            score_high=0.7,
            n=n_questions,
            n_answered=n_questions,
            percentile=75,
            rank=1,
        )
        for i, model in enumerate(models)
    )
    LLMComparison.objects.bulk_create(
        LLMComparison(
            run=run,
            model_a=one,
            model_b=other,
            difference=0.01 * (at_other - at_one),
            low=-0.2,
            high=0.3,
            p_value=0.2,
            adjusted_p_value=0.4,
            smallest_detectable=0.3,
            n=n_questions,
            test="sign-flip-exact",
        )
        for (at_one, one), (at_other, other) in combinations(enumerate(models[:8]), 2)
    )
    LLMAnswerScore.objects.bulk_create(
        LLMAnswerScore(
            run=run, llm_response=reply, score=0.55 - 0.001 * i, place=packed(1, 1, 11, 21)
        )
        for i, reply in enumerate(replies)
    )
    now = timezone.now() + timedelta(seconds=1)
    counts = {
        "answers": len(responses),
        "empty_answers": 0,
        "workers": n_workers,
        "questions": n_questions,
        "models": n_models,
        "model_answers": len(replies),
    }
    Run.objects.filter(pk=run.pk).update(
        state="done",
        started_at=now,
        finished_at=now,
        attempt=1,
        signature="aqer|embedder:all-MiniLM-L6-v2|seed:0",
        summary=SUMMARY | {"counts": counts},
        parameters={"embedder": "minilm"},
    )
    return fetched(run)


def fetched(run: Run) -> Run:
    """The run as pages fetch it."""
    return Run.objects.select_related("version__question_set").get(pk=run.pk)


def ask_model(version, name: str = "late") -> LanguageModel:
    """A model that answered every question of a version just now."""
    model = LanguageModel.objects.create(owner=version.question_set.owner, name=name)
    LLMResponse.objects.bulk_create(
        LLMResponse(
            model=model,
            question=question,
            text=f"{name} on {question.external_id}",
            status="text",
            request=compute_request_hash("", {}),
        )
        for question in version.questions.all()
    )
    return model
