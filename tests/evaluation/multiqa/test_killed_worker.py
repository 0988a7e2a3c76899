"""Workers are killed while questions are reworded, and again while the wordings are asked."""

import re
from collections import Counter
from dataclasses import replace

import pytest

from evaluation.runs.steps.asking.study_asking import AT_ONCE
from tests.evaluation.core.backends.chat.fake import fake_chat, said
from tests.evaluation.eloquent.test_killed_worker import STATE
from tests.evaluation.runs.background.scratch import Scratch, wait_until
from tests.services import address_of

ITEMS = 40

SEED = """
from django.contrib.auth.models import User
from annotations.models import Question, QuestionSet
from evaluation.runs.background.runs import queue_run
from evaluation.multiqa.options import MultiqaRunOptions
from evaluation.models import LanguageModel
owner = User.objects.create(username="rana", is_staff=True)
version = QuestionSet.objects.create(owner=owner, name="rivers").draft()
Question.objects.bulk_create(
    Question(version=version, external_id=f"q{n}", position=n, kind="choice",
             text=f"Where is river {n}?", choices=["north", "south"], accepted_answers=["north"])
    for n in range(ITEMS))
model, rewriter = [
    LanguageModel.objects.create(owner=owner, name=name, spec=SPEC.replace("small", name))
    for name in ("model", "rewriter")]
options = MultiqaRunOptions(
    models=(str(model.public_id),), rewriter=str(rewriter.public_id), rewordings=2, meaning=0.0,
    bootstrap=20)
result = queue_run(version, owner.pk, options, "multiqa").pk
"""
FOUND = """
from evaluation.models import Run
from evaluation.multiqa.storage.running import load_metric_rows, load_rewording_rows
run = Run.objects.get(pk=RUN)
values = {row.metric: row.value for row in load_metric_rows(run) if not row.group}
result = {"accuracy": values["accuracy"], "worst_case": values["worst_case"],
          "item_difficulty": values["item_difficulty"],
          "kept": sum(row.variant is not None for row in load_rewording_rows(run)),
          "dropped": sum(row.variant is None for row in load_rewording_rows(run))}
"""


def slow(body):
    content = body["messages"][-1]["content"]
    number = re.search(r"river (\d+)", content)[1]
    if body["model"] == "rewriter":
        # The second one has another number, so each question is reworded a second time.
        told = f"1. Say where river {number} is.\n2. Where is river 1{number}?"
        if "Write others than these" in content:
            told = f"1. Tell me: river {number} is where?"
        return replace(said(told), delay=0.25)
    # It knows the questions in their own words alone.
    return replace(said("A" if f"Where is river {number}?" in content else "B"), delay=0.25)


def kill_twice_and_go_on(site: Scratch) -> None:
    try:
        site.environment["CROWDGRADE_MODEL_NETWORKS"] = "127.0.0.0/8"
        with fake_chat(slow) as chat:

            def asked(name):
                return [body for body in chat.bodies if body["model"] == name]

            run = site.python(SEED, SPEC=chat.spec, ITEMS=ITEMS)
            first = site.start_worker()
            wait_until(lambda: len(asked("rewriter")) > 15, 90, "rewording began", site.log)
            site.kill(first)
            killed = len(chat.bodies)
            left = site.python(STATE, RUN=run)
            assert left["state"] == "running"
            assert asked("model") == []
            assert killed - AT_ONCE <= left["kept"] <= killed

            second = site.start_worker()
            wait_until(lambda: len(asked("model")) > 20, 90, "the wordings came", site.log)
            site.kill(second)
            reworded = len(asked("rewriter"))
            assert len(asked("model")) < 3 * ITEMS
            assert site.python(STATE, RUN=run)["state"] == "running"

            site.start_worker()
            end = site.ended(STATE, run)
            assert (end["state"], end["error"], end["crashes"]) == ("done", "", 2)
            # Twice each question is reworded, and put in three wordings; checked once for all.
            assert len(asked("rewriter")) == reworded
            different = Counter(str((body["model"], body["messages"])) for body in chat.bodies)
            assert len(different) == end["kept"] == 2 * ITEMS + 3 * ITEMS
            # What was under way at a kill is asked again, and nothing else.
            assert sum(different.values()) - len(different) <= 2 * AT_ONCE
        found = site.python(FOUND, RUN=run)
        # Right in one of three wordings: never in all, and always as first put.
        assert found == {
            "accuracy": 1.0,
            "worst_case": 0.0,
            "item_difficulty": pytest.approx(1 / 3),
            "kept": 2 * ITEMS,
            "dropped": ITEMS,
        }
    finally:
        site.close()


@pytest.mark.long
def test_rewording_and_asking_survive_their_workers_on_sqlite(sqlite_home):
    kill_twice_and_go_on(Scratch(sqlite_home, None, None))


@pytest.mark.long
def test_rewording_and_asking_survive_their_workers_on_postgresql_with_redis(
    tmp_path,
    postgres_database,
):
    broker = address_of("REDIS_URL")
    kill_twice_and_go_on(Scratch(tmp_path / "home", postgres_database, broker))
