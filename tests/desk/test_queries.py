"""A page of a larger set costs no more queries: every address of the site, from its own list."""

import pytest
from django.db import connection

from annotations.exchange.importing import import_answers, import_questions
from annotations.models import QuestionSet, Worker
from evaluation.consensus.parameters import AqerParameters
from evaluation.models import Run
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.imports import import_model_answers
from tests.benchmarks.pages import addresses, values_of
from tests.desk.conftest import csv_of

PARAMETERS = AqerParameters(embedder="bow", bootstrap=0)


def graded(owner, folder, name, n_questions, n_workers, n_models, prepare=None):
    """Return a run of a new set; `prepare` may add to its draft."""
    question_set = QuestionSet.objects.create(owner=owner, name=name)
    questions = [f"q{at}" for at in range(n_questions)]
    files = {
        import_questions: [["question", "text"], *([q, f"What is {q}?"] for q in questions)],
        import_answers: [
            ["worker", "question", "answer"],
            *([f"{name}-{w}", q, f"{q} or {w % 3}"] for w in range(n_workers) for q in questions),
        ],
        import_model_answers: [
            ["model", "question", "answer"],
            *([f"{name}-{m}", q, f"{q} and {m}"] for m in range(n_models) for q in questions),
        ],
    }
    for load, rows in files.items():
        path = folder / f"{name}-{load.__name__}.csv"
        path.write_text(csv_of(*rows), encoding="utf-8")
        load(question_set, path)
        if load is import_questions and prepare is not None:
            prepare(question_set.latest_version())
    version = question_set.latest_version()
    runs.queue_run(version, owner.pk, PARAMETERS)
    runs.queue_run(version, owner.pk, PARAMETERS)
    while work_one_turn():
        pass
    assert set(Run.objects.values_list("state", flat=True)) == {"done"}
    run = Run.objects.latest("pk")
    if not run.alarms.exists():
        alarm = run.alarms.create(place=0, kind="copies", severity="alarm", message="!")
        alarm.workers.set(Worker.objects.filter(submissions__version=run.version))
    return run


@pytest.fixture
def counted(client, rana, tmp_path):
    """Every address with how many queries it needs, once for a small and once for a larger set."""
    small = graded(rana, tmp_path, "small", n_questions=5, n_workers=4, n_models=2)
    large = graded(rana, tmp_path, "large", n_questions=11, n_workers=9, n_models=5)
    client.force_login(rana)
    # Django asks SQLite once a process whether it knows JSON: not a query of a page.
    assert connection.features.supports_json_field

    def count(run):
        found = {}
        for name, address in addresses(values_of(run))[0]:
            asked = []

            def note(execute, sql, *rest, asked=asked):
                asked.append(sql)
                return execute(sql, *rest)

            with connection.execute_wrapper(note):
                response = client.get(address)
                if response.streaming:
                    b"".join(response.streaming_content)
            if response.status_code == 200:
                found[name] = asked
        return found

    return count(small), count(large)


@pytest.mark.slow
def test_no_page_asks_the_database_more_often_for_a_larger_set(counted):
    small, large = counted
    assert small.keys() == large.keys()
    assert {"admin:question-set", "admin:results-run", "admin:results-worker"} <= small.keys()
    for name, asked in small.items():
        assert len(large[name]) == len(asked), (name, set(large[name]) ^ set(asked))
