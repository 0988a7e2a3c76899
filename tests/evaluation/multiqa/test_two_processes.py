"""Runs of MultiQ&A where one background process asks and another computes."""

import re

import pytest

from evaluation.multiqa.run import study
from evaluation.multiqa.storage.running import load_rewording_rows
from evaluation.runs.steps.checkpoints import Lane
from tests.evaluation.core.backends.chat.fake import said
from tests.evaluation.multiqa.world import (
    PEOPLE,
    QUESTIONS,
    options,
    others,
    queued,
    replied,
    rivers,
)
from tests.evaluation.runs.background.embedding_server import EmbeddingServer
from tests.evaluation.runs.background.lanes import work_in_two_lanes


@pytest.mark.medium
def test_a_second_attempt_at_rewording_ends_where_asking_and_computing_are_two_processes(
    world, good, monkeypatch
):
    def reply(body):
        content = body["messages"][-1]["content"]
        if body["model"] != "rewriter":
            return replied(body)
        question = re.search("Question: (.*)", content)[1]
        one, other = others(question)
        # The first attempt gives one rewording that is kept, the second the other.
        return said(f"1. {other}" if "Write others than these" in content else f"1. {one}")

    world.server.reply = reply
    check, attempts = study.RewordingChecker.check_rewordings, []

    def counted(self, found, attempt):
        attempts.append(attempt)
        return check(self, found, attempt)

    monkeypatch.setattr(study.RewordingChecker, "check_rewordings", counted)
    rewriter = world.model("rewriter")
    run = queued(rivers(world.owner, variants=False), options([good], rewriter))
    # Asked, checked, asked again, checked, put to the model, evaluated.
    assert work_in_two_lanes(run, most=6) == [Lane.ASKING, Lane.COMPUTING] * 3
    assert run.state == "done", run.error
    assert attempts == [1, 2]
    kept = [(one.item, one.attempt, one.variant) for one in load_rewording_rows(run)]
    assert kept == [(name, n, n) for n in (1, 2) for name, *_ in QUESTIONS]
    assert len(world.bodies("rewriter")) == 2 * len(QUESTIONS)
    assert len(world.bodies("good")) == 3 * len(QUESTIONS)


@pytest.mark.medium
def test_a_remote_embedder_of_the_crowd_is_asked_where_asking_and_computing_are_two_processes(
    world, good
):
    server = EmbeddingServer()
    world.owner.is_superuser = True  # others may not name a server
    world.owner.save()
    try:
        run = queued(rivers(world.owner), options([good], embedder=server.spec))
        assert work_in_two_lanes(run, most=2) == [Lane.ASKING, Lane.COMPUTING]
    finally:
        server.close()
    assert run.state == "done", run.error
    assert run.summary["crowd"]["crowd_answers"] == 3
    assert set(PEOPLE) < set(server.asked)
