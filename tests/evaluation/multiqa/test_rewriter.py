"""The rewriter of a run in other words: what is checked, what failed, and what is asked anew."""

import pytest

from evaluation.core.messages.message import Message
from evaluation.multiqa.storage.running import load_rewording_rows
from tests.evaluation.core.backends.chat.fake import error, said
from tests.evaluation.multiqa.test_run_type import value
from tests.evaluation.multiqa.world import done, options, replied, rivers


@pytest.mark.medium
def test_a_rewriter_is_asked_once_a_question_and_what_it_says_is_checked(world, good):
    rewriter = world.model("rewriter")
    run = done(rivers(world.owner, variants=False), options([good], rewriter))
    # Two of three that it gives are kept at once: one call a question.
    assert len(world.bodies("rewriter")) == 5
    assert {body["temperature"] for body in world.bodies("rewriter")} == {1.0}
    assert len(world.bodies("good")) == 15
    dropped = [row for row in load_rewording_rows(run) if row.variant is None]
    assert {row.reason for row in dropped} == {"other_numbers"}
    assert len(dropped) == 5
    assert run.summary["dropped"] == {"other_numbers": 5}
    assert run.summary["rewriter"] == "rewriter"
    usage = {(one["step"], one["model"]): one["requests"] for one in run.summary["usage"]}
    assert usage == {("rewording", "rewriter"): 5, ("asking models", "good"): 15}
    assert value(run, "good", "worst_case") == 1.0


@pytest.mark.medium
def test_a_rewriter_that_says_nothing_usable_fails_the_run_with_what_to_do(world, good):
    rewriter = world.model("rewriter")
    world.server.reply = lambda body: said("No.")
    run = done(
        rivers(world.owner, variants=False), options([good], rewriter, meaning=0.9), "failed"
    )
    told = Message.from_stored(run.error)
    assert (told.code, told.values["rewordings"]) == ("run.no_usable_rewording", 15)
    # Five questions, three of them with a name, three times: the same words from the second on.
    reasons = {"other_names": 3, "other_meaning": 2, "same_words": 10}
    assert told.values["reasons"] == reasons
    assert [one["text"] for one in told.values["examples"]] == ["No."] * 3
    assert {one["reason"] for one in told.values["examples"]} == reasons.keys()
    world.server.reply = lambda body: error(401)
    again = done(rivers(world.owner, variants=False), options([good], rewriter, seed=3), "failed")
    told = Message.from_stored(again.error)
    assert (told.code, "401" in told.values["reason"]) == ("run.rewriter_not_asked", True)


@pytest.mark.medium
def test_after_a_failure_the_rewriter_is_asked_anew_and_a_kept_reply_is_taken_over(world, good):
    rewriter = world.model("rewriter")
    made = rivers(world.owner, variants=False)
    world.server.reply = lambda body: said("No.")
    chosen = options([good], rewriter, meaning=0.9)
    assert Message.from_stored(done(made, chosen, "failed").error).code == "run.no_usable_rewording"
    n_before = len(world.bodies("rewriter"))
    assert n_before == 10  # the third request is the second one, as nothing else was said
    world.server.reply = replied
    run = done(made, options([good], rewriter))
    assert len(world.bodies("rewriter")) == n_before + 5
    assert run.summary["kept"] == 10
    # What was kept is not asked for a third time, though a rejected reply of its key is there.
    again = done(made, options([good], rewriter))
    assert len(world.bodies("rewriter")) == n_before + 5
    assert again.summary["kept"] == 10


def test_a_rewriter_that_is_cut_off_is_told_by_status(world, good):
    rewriter = world.model("rewriter")
    world.server.reply = lambda body: said("", "length")
    run = done(rivers(world.owner, variants=False), options([good], rewriter), "failed")
    told = Message.from_stored(run.error)
    assert told.code == "run.no_usable_rewording"
    assert (told.values["rewordings"], told.values["silent"]) == (0, {"cut_off": 15})
