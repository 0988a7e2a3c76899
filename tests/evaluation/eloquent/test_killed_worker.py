"""A worker is killed, and the run paused, while replies come, follow-ups and judgements too."""

from collections import Counter
from dataclasses import replace

import pytest

from evaluation.runs.steps.asking.study_asking import AT_ONCE
from tests.evaluation.core.backends.chat.fake import fake_chat, said
from tests.evaluation.language_models.test_killed_worker import PAUSE, RESUME
from tests.evaluation.runs.background.scratch import Scratch, wait_until
from tests.services import address_of

ITEMS = 40

SEED = """
from django.contrib.auth.models import User
from annotations.models import Question, QuestionSet, Variant
from evaluation.runs.background.runs import queue_run
from evaluation.eloquent.options import EloquentRunOptions
from evaluation.models import LanguageModel
owner = User.objects.create(username="rana", is_staff=True)
version = QuestionSet.objects.create(owner=owner, name="rivers").draft()
for n in range(ITEMS):
    question = Question.objects.create(
        version=version, external_id=f"q{n}", position=n, language="en", category="style",
        text=f"Where is river {n}?")
    Variant.objects.create(
        question=question, external_id="v1", text=f"River {n} is where?", language="en")
model = LanguageModel.objects.create(
    owner=owner, name="small", spec=SPEC, price_in=1, price_out=1)
options = EloquentRunOptions(
    models=(str(model.public_id),), judges=(str(model.public_id),), follow_ups="Why?",
    embedder="tfidf-word", bootstrap=20, budget=100.0)
result = queue_run(version, owner.pk, options, "eloquent").pk
"""
STATE = """
from evaluation.models import Run
from evaluation.runs.steps.asking.stored_replies import read_run_replies
run = Run.objects.get(pk=RUN)
result = {"state": run.state, "error": run.error, "crashes": run.crashes,
          "kept": sum(1 for _ in read_run_replies(run.pk)), "summary": run.summary}
"""
METRIC = """
from evaluation.models import Run
from evaluation.eloquent.storage import load_findings
found = load_findings(Run.objects.get(pk=RUN))
metric = found.find_metric
result = {"sum": metric("small", "sum").value, "n": metric("small", "n").value,
          "turns": sorted({len(one.turns) for one in found.replies})}
"""


def slow(body):
    if body["messages"][0]["role"] == "system":
        # So long that the pause finds it at work on a busy machine, too.
        return replace(said("Alike.\nSimilarity score: 3"), delay=3.0)
    return replace(said(f"to {body['messages'][-1]['content'][:40]}"), delay=0.25)


def kill_pause_and_go_on(site: Scratch) -> None:
    try:
        site.environment["CROWDGRADE_MODEL_NETWORKS"] = "127.0.0.0/8"
        with fake_chat(slow) as chat:
            run = site.python(SEED, SPEC=chat.spec, ITEMS=ITEMS)
            first = site.start_worker()
            # The wordings are through, the follow-ups under way.
            wait_until(lambda: len(chat.bodies) > 2 * ITEMS + 20, 90, "it began", site.log)
            site.kill(first)
            killed = len(chat.bodies)
            left = site.python(STATE, RUN=run)
            assert left["state"] == "running"
            assert killed - AT_ONCE <= left["kept"] <= killed

            site.start_worker()
            begun = 4 * ITEMS + 10  # the judge is under way
            wait_until(lambda: len(chat.bodies) > begun, 90, "it went on", site.log)
            assert site.python(PAUSE, RUN=run)
            wait_until(lambda: chat.at_once == 0, 30, "the worker noticed the pause", site.log)
            waiting = site.python(STATE, RUN=run)
            assert waiting["state"] == "paused"
            assert len(chat.bodies) < 5 * ITEMS
            assert site.python(RESUME, RUN=run)
            end = site.ended(STATE, run)
            assert (end["state"], end["error"], end["crashes"]) == ("done", "", 1)
            asked = Counter(str(body["messages"]) for body in chat.bodies)
            assert len(asked) == end["kept"] == 5 * ITEMS
            # Killed once: what was under way is asked again. Paused: it was let in.
            assert sum(asked.values()) - len(asked) <= AT_ONCE
            found = site.python(METRIC, RUN=run)
            assert found == {"sum": 3.0 * ITEMS, "n": ITEMS, "turns": [2]}
            assert end["summary"]["requests"] == 5 * ITEMS
    finally:
        site.close()


@pytest.mark.long
def test_comparing_survives_its_worker_on_sqlite(sqlite_home):
    kill_pause_and_go_on(Scratch(sqlite_home, None, None))


@pytest.mark.long
def test_comparing_survives_its_worker_on_postgresql_with_redis(
    tmp_path,
    postgres_database,
):
    broker = address_of("REDIS_URL")
    kill_pause_and_go_on(Scratch(tmp_path / "home", postgres_database, broker))
