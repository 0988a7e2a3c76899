"""A large question set in a database, with answers of workers and models, graded.

For measuring; Django must be set up and its database migrated and empty.
"""

from __future__ import annotations

from typing import Any

from tests.benchmarks.results import FailedError

WORKERS, QUESTIONS, ANSWERS_OF_A_WORKER, MODELS = 1000, 1000, 100, 4
ANSWERS = WORKERS * ANSWERS_OF_A_WORKER
DRAWS = 50


def graded_set() -> Any:
    """Fill the empty database with a set and grade it twice; returns the later run."""
    from django.contrib.auth.models import User
    from numpy.random import default_rng

    from annotations.models import Question, QuestionSet, Response, Submission, Worker
    from evaluation.consensus.parameters import AqerParameters
    from evaluation.models import LanguageModel, LLMResponse, Run, compute_request_hash
    from evaluation.runs.background.runs import queue_run
    from evaluation.runs.background.work import work_one_turn

    rng = default_rng(0)
    words = [f"word{at}" for at in range(5000)]

    def text(question: int, noise: float) -> str:
        own = rng.integers(0, len(words), 12)
        right = (question * 12 + rng.permutation(12)) % len(words)
        return " ".join(words[at] for at in [*right[: int(12 * (1 - noise))], *own[:4]])

    owner = User.objects.create_user("owner", is_staff=True)
    version = QuestionSet.objects.create(owner=owner, name="large").draft()
    questions = Question.objects.bulk_create(
        Question(version=version, external_id=f"q{at:05}", text=f"What is {at}?", position=at)
        for at in range(QUESTIONS)
    )
    workers = Worker.objects.bulk_create(
        Worker(owner=owner, external_id=f"w{at:05}") for at in range(WORKERS)
    )
    submissions = Submission.objects.bulk_create(
        Submission(version=version, worker=worker, state="submitted", source="imported")
        for worker in workers
    )
    for at, submission in enumerate(submissions):
        chosen = rng.choice(QUESTIONS, ANSWERS_OF_A_WORKER, replace=False).tolist()
        Response.objects.bulk_create(
            Response(
                submission=submission,
                question=questions[question],
                text=text(question, at / WORKERS),
                state="submitted",
                status="text",
            )
            for question in chosen
        )
    for at in range(MODELS):
        model = LanguageModel.objects.create(owner=owner, name=f"model {at}")
        LLMResponse.objects.bulk_create(
            LLMResponse(
                model=model,
                question=question,
                text=text(place, 0.2 * at),
                status="text",
                request=compute_request_hash("", {}),
            )
            for place, question in enumerate(questions)
        )
    parameters = AqerParameters(embedder="tfidf-word", bootstrap=DRAWS)
    earlier, run = (queue_run(version, owner.pk, parameters) for _ in range(2))
    while work_one_turn():
        pass
    for each in (earlier, run):
        each.refresh_from_db()
        if each.state != Run.State.DONE:
            raise FailedError(f"the grading {each.state}: {each.error}")
    return run
