"""A worker that is killed in the middle of a run loses at most the part it was computing."""

import pytest

from evaluation.runs.steps.cache import PART
from tests.evaluation.runs.background.embedding_server import EmbeddingServer
from tests.evaluation.runs.background.scratch import Scratch, wait_until
from tests.services import address_of

WORKERS, QUESTIONS = 40, 20


@pytest.fixture
def server():
    # 800 texts at 10 ms are 8 seconds of work: time to kill the worker in the middle.
    server = EmbeddingServer(seconds_per_text=0.01)
    yield server
    server.close()


def kill_in_the_middle(site: Scratch, server: EmbeddingServer) -> None:
    try:
        run = site.seed(server.spec, WORKERS, QUESTIONS)
        first = site.start_worker()
        wait_until(lambda: len(server.asked) > 2 * PART, 60, "the embedding began", site.log)
        site.kill(first)
        left = site.state(run)
        assert left["state"] == "running"
        assert 0 < left["embeddings"] < WORKERS * QUESTIONS

        site.start_worker()
        wait_until(
            lambda: site.state(run)["state"] in ("done", "failed"), 120, "the run ended", site.log
        )
        end = site.state(run)
        assert (end["state"], end["error"]) == ("done", "")
        assert end["crashes"] == 1
        # All distinct texts have one vector; what was computed again is what was not committed.
        assert end["embeddings"] == WORKERS * QUESTIONS
        assert len(server.asked) - len(set(server.asked)) <= PART
        assert (end["grades"], end["scores"]) == (WORKERS, WORKERS * QUESTIONS)
    finally:
        site.close()


@pytest.mark.long
def test_a_run_survives_its_worker_on_sqlite_with_the_broker_of_files(sqlite_home, server):
    kill_in_the_middle(Scratch(sqlite_home, None, None), server)


@pytest.mark.long
def test_a_run_survives_its_worker_on_postgresql_with_redis(tmp_path, server, postgres_database):
    broker = address_of("REDIS_URL")
    kill_in_the_middle(Scratch(tmp_path / "home", postgres_database, broker), server)


@pytest.mark.slow
def test_a_run_survives_its_worker_on_postgresql_with_rabbitmq(tmp_path, server, postgres_database):
    broker = address_of("AMQP_URL")
    kill_in_the_middle(Scratch(tmp_path / "home", postgres_database, broker), server)
