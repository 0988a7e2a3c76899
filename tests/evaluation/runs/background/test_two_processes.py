"""Two background processes work on one run, and one goes on where the other is killed."""

import os

import pytest

from evaluation.runs.steps.run_tasks import TASK_SECONDS
from tests.evaluation.runs.background.embedding_server import EmbeddingServer
from tests.evaluation.runs.background.scratch import Scratch, wait_until
from tests.services import address_of

WORKERS, QUESTIONS = 40, 20
TEXTS = WORKERS * QUESTIONS
PER_TASK = 40

SMALL_TASKS = """
from django.db.models.functions import Now
from evaluation.models import Run, RunTask
from evaluation.runs.steps.cache import WORK_OF_A_TEXT
# As if the embedder's last task had taken this long: a text has up to 15 characters.
old = Run.objects.get(pk=RUN)
RunTask.objects.create(
    run=old, run_attempt=0, number=0, kind="embedding", subject=SUBJECT, lane="computing",
    n_items=1, state="done", ended_at=Now(), seconds=SECONDS,
    work=PER_TASK * (15 + WORK_OF_A_TEXT))
result = None
"""

LOG = """
from evaluation.models import RunTask
result = [
    [task.process, task.state, task.n_items, task.crashes, task.payload is None,
     task.started_at.timestamp() if task.started_at else None,
     task.ended_at.timestamp() if task.ended_at else None]
    for task in RunTask.objects.filter(run=RUN, run_attempt__gt=0)]
"""

GRADES = """
from evaluation.models import DrawPart, WorkerGrade
columns = ("raw", "rank", "raw_low", "raw_high", "rank_low", "rank_high")
result = {
    "grades": list(map(list, WorkerGrade.objects.filter(run=RUN).order_by("worker")
                       .values_list(*columns))),
    "parts": DrawPart.objects.filter(run=RUN).count()}
"""

IN_ONE_TURN = """
from evaluation.grading.storage import draws
from evaluation.models import Run
from evaluation.runs.background.leases import claim_next_run
from evaluation.runs.background.work import work_on_run
old = Run.objects.get(pk=RUN)
run = Run.objects.create(owner=old.owner, version=old.version, parameters=old.parameters)
draws.split_by_work = lambda sizes, speed: []
work_on_run(claim_next_run("console"), 1e12)
result = run.pk
"""

RUNNING = """
from evaluation.models import BackgroundWorker
result = BackgroundWorker.objects.count()
"""


def start_two(site: Scratch) -> list:
    processes = [site.start_worker() for _ in range(2)]
    wait_until(lambda: site.python(RUNNING) == 2, 300, "two processes run", site.log)
    return processes


def seed(site: Scratch, spec: str) -> int:
    """Store a set and a run over it that wants about twenty tasks."""
    # The run waits for nobody until both processes run.
    run = site.seed(spec, WORKERS, QUESTIONS)
    names = {"RUN": run, "SUBJECT": f"{spec} float32", "PER_TASK": PER_TASK}
    site.python(SMALL_TASKS, SECONDS=TASK_SECONDS, **names)
    return run


def both_work(site: Scratch, spec: str) -> None:
    try:
        start_two(site)
        run = seed(site, spec)
        wait_until(
            lambda: site.state(run)["state"] in ("done", "failed"), 240, "the run ended", site.log
        )
        end = site.state(run)
        assert (end["state"], end["error"], end["crashes"]) == ("done", "", 0)
        assert (end["embeddings"], end["scores"]) == (TEXTS, TEXTS)
        log = site.python(LOG, RUN=run)
        assert sum(n_items for _, _, n_items, *_ in log) == TEXTS
        assert {(state, crashes, empty) for _, state, _, crashes, empty, *_ in log} == {
            ("done", 0, True)
        }
        assert len(log) >= TEXTS / PER_TASK - 1
        assert len({process for process, *_ in log}) == 2
        assert all(started <= ended for *_, started, ended in log)
    finally:
        site.close()


def one_is_killed(site: Scratch) -> None:
    # A task takes 2 s: time to kill the process in the middle of one.
    server = EmbeddingServer(seconds_per_text=0.05)
    try:
        processes = start_two(site)
        run = seed(site, server.spec)

        def find_busy() -> set:
            return {
                process for process, state, *_ in site.python(LOG, RUN=run) if state == "running"
            }

        wait_until(lambda: len(find_busy()) == 2, 120, "both work on tasks", site.log)
        site.kill(processes[0])
        wait_until(
            lambda: site.state(run)["state"] in ("done", "failed"), 240, "the run ended", site.log
        )
        end = site.state(run)
        assert (end["state"], end["error"]) == ("done", "")
        assert (end["embeddings"], end["scores"]) == (TEXTS, TEXTS)
        log = site.python(LOG, RUN=run)
        assert {(state, empty) for _, state, _, _, empty, *_ in log} == {("done", True)}
        # It held one task, which the other one has done.
        assert sum(crashes for *_, crashes, _, _, _ in log) == 1
        # No more was asked twice than the task that was lost.
        assert len(server.asked) - len(set(server.asked)) <= PER_TASK + 1
    finally:
        site.close()
        server.close()


# 7,200 answers have 277 draws in a chunk, which takes about half a second; 22 chunks.
DRAWS = {"bootstrap": 6000, "leave_one_out": True}
DRAWERS, DRAWN = 120, 60


def both_draw(site: Scratch, *, kill: bool) -> None:
    """Grade with many draws on two processes, one of which may be killed in a task."""
    try:
        processes = start_two(site)
        run = site.seed("tfidf-word", DRAWERS, DRAWN, **DRAWS)
        if kill:

            def find_busy() -> set:
                log = site.python(LOG, RUN=run)
                return {process for process, state, *_ in log if state == "running"}

            wait_until(lambda: len(find_busy()) == 2, 120, "both work on tasks", site.log)
            site.kill(processes[0])
        wait_until(
            lambda: site.state(run)["state"] in ("done", "failed"), 400, "the run ended", site.log
        )
        end = site.state(run)
        assert (end["state"], end["error"], end["crashes"]) == ("done", "", 0)
        log = site.python(LOG, RUN=run)
        assert {(state, empty) for _, state, _, _, empty, *_ in log} == {("done", True)}
        assert sum(crashes for *_, crashes, _, _, _ in log) == int(kill)
        if not kill:
            assert len({process for process, *_ in log}) == 2
        # All but the chunks of the turn that made the tasks.
        n_draws = sum(n_items for _, _, n_items, *_ in log)
        assert 0.8 * DRAWS["bootstrap"] <= n_draws < DRAWS["bootstrap"]
        for process in processes:
            if process.poll() is None:
                site.kill(process)
        spread = site.python(GRADES, RUN=run)
        whole = site.python(GRADES, RUN=site.python(IN_ONE_TURN, RUN=run))
        assert spread == whole
        assert (len(whole["grades"]), whole["parts"]) == (DRAWERS, 0)
    finally:
        site.close()


def on_postgres(home, database: str, broker: str) -> Scratch:
    site = Scratch(home, database, address_of(broker))
    site.environment["OMP_NUM_THREADS"] = os.environ.get("OMP_NUM_THREADS", "1")
    return site


@pytest.mark.long
def test_two_processes_embed_for_one_run_on_sqlite_with_files(sqlite_home):
    both_work(Scratch(sqlite_home, None, None), "minilm")


@pytest.mark.long
@pytest.mark.parametrize("broker", ["REDIS_URL", "AMQP_URL"])
def test_two_processes_embed_for_one_run_on_postgresql(tmp_path, postgres_database, broker):
    both_work(on_postgres(tmp_path / "home", postgres_database, broker), "minilm")


@pytest.mark.slow
def test_two_processes_ask_an_embedding_server_for_one_run(tmp_path, postgres_database):
    server = EmbeddingServer(seconds_per_text=0.01)
    try:
        both_work(on_postgres(tmp_path / "home", postgres_database, "AMQP_URL"), server.spec)
    finally:
        server.close()


@pytest.mark.long
def test_a_killed_process_s_task_is_done_by_the_other_on_sqlite_with_files(sqlite_home):
    one_is_killed(Scratch(sqlite_home, None, None))


@pytest.mark.slow
def test_a_killed_process_s_task_is_done_by_the_other_on_postgresql(tmp_path, postgres_database):
    one_is_killed(on_postgres(tmp_path / "home", postgres_database, "AMQP_URL"))


@pytest.mark.slow
def test_two_processes_draw_for_one_run_on_sqlite_with_files(sqlite_home):
    both_draw(Scratch(sqlite_home, None, None), kill=False)


@pytest.mark.long
@pytest.mark.parametrize("broker", ["REDIS_URL", "AMQP_URL"])
def test_two_processes_draw_for_one_run_on_postgresql(tmp_path, postgres_database, broker):
    both_draw(on_postgres(tmp_path / "home", postgres_database, broker), kill=False)


@pytest.mark.long
def test_a_killed_process_s_draws_are_computed_by_the_other_on_sqlite_with_files(sqlite_home):
    both_draw(Scratch(sqlite_home, None, None), kill=True)


@pytest.mark.slow
def test_a_killed_process_s_draws_are_computed_by_the_other_on_postgresql(
    tmp_path, postgres_database
):
    both_draw(on_postgres(tmp_path / "home", postgres_database, "AMQP_URL"), kill=True)
