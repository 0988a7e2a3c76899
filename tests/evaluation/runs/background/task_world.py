"""A run whose texts are embedded by tasks, and an embedder that needs no model."""

import numpy as np
import pytest
from django.contrib.auth.models import User

from annotations.models import Question, QuestionSet, Response, Submission, Worker
from evaluation.core.backends import EmbedderInfo
from evaluation.models import Run, RunTask
from evaluation.runs.steps import cache, run_tasks

INFO = EmbedderInfo("minilm", "small", "r1", "float32", 4, max_length=256)
WORKERS, QUESTIONS = 4, 6
TEXTS = WORKERS * QUESTIONS


class FakeEmbedder:
    """Embeds a text as numbers of its own; `embedded` has all texts in the order of embedding."""

    n_truncated_ = 0

    def __init__(self, info=INFO):
        self.info, self.embedded = info, []
        # Called with the texts before they are embedded.
        self.before = lambda texts: None

    def describe(self):
        return self.info

    def embed(self, texts):
        self.before(texts)
        self.embedded += texts
        rows = [np.random.default_rng(list(text.encode())).standard_normal(4) for text in texts]
        return np.array(rows, dtype=np.float32)


@pytest.fixture
def embedder(monkeypatch):
    """An embedder whose 24 texts are twelve tasks of two texts."""
    made = FakeEmbedder()
    monkeypatch.setattr(cache, "load_embedder", lambda spec, precision: made)
    # A text has ten characters, so 42 units of work; two of them are a task of three seconds.
    monkeypatch.setattr(cache, "GUESSED_SPEED", 2 * (10 + cache.WORK_OF_A_TEXT) / 3)
    monkeypatch.setattr(run_tasks, "measure_task_speed", lambda subject, guess: guess)
    monkeypatch.setattr(cache, "measure_task_speed", lambda subject, guess: guess)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    return made


def make_version(owner: User, name: str, n_workers: int = WORKERS):
    """A question set's version that workers have answered, each in words of their own."""
    version = QuestionSet.objects.create(owner=owner, name=name).draft()
    questions = [
        Question.objects.create(version=version, external_id=f"q{j}", text="?", position=j)
        for j in range(QUESTIONS)
    ]
    for i in range(n_workers):
        worker = Worker.objects.create(owner=owner, external_id=f"{name} {i}")
        submission = Submission.objects.create(
            version=version, worker=worker, state="submitted", source="imported"
        )
        for j, question in enumerate(questions):
            Response.objects.create(
                submission=submission,
                question=question,
                text=f"{name[:4]:_<4} {i:02} {j:02}",
                state="submitted",
                status="text",
            )
    return version


def queue(version, **changed) -> Run:
    parameters = {"embedder": "minilm", "bootstrap": 0, **changed}
    return Run.objects.create(
        owner=version.question_set.owner, version=version, parameters=parameters
    )


def count_states(run: Run) -> dict[str, int]:
    """The number of the run's tasks in each state."""
    states = list(RunTask.objects.filter(run=run).values_list("state", flat=True))
    return {state: states.count(state) for state in sorted(set(states))}
