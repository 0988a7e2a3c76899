"""A kind that one line adds is worked on like AQER: in turns, cancelled, done again."""

import pytest

from evaluation.core.options import OptionError
from evaluation.models import Run, RunData
from evaluation.runs.background import runs
from evaluation.runs.background.leases import claim_next_run
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.run_types import UnknownKindError, get_kind, list_kinds
from tests.evaluation.runs.run_types.words import ASIDE, WORDS, WordOptions, WordSummary, rows_of


@pytest.fixture
def queued(rivers):
    return lambda options=None: runs.queue_run(
        rivers.latest_version(), rivers.owner_id, options or WordOptions(), "words"
    )


def test_the_setting_names_the_kinds_in_their_order(with_words):
    names = list(list_kinds())
    assert (names[0], names[-1]) == ("aqer", "words")
    assert get_kind("words") is WORDS


def test_without_its_line_there_is_no_such_kind():
    with pytest.raises(UnknownKindError, match="'words'"):
        get_kind("words")


def test_a_run_of_the_kind_gives_up_its_turn_and_goes_on_from_its_checkpoint(queued):
    run = queued()
    assert work_one_turn()
    run.refresh_from_db()
    assert (run.state, run.stage, run.total) == ("queued", "counting", 4)
    # Ann's two answers stand first in the file: 3 and 1 words.
    assert RunData.objects.get(run=run, name=ASIDE).data == [{"ann": 4}, 1]
    assert work_one_turn()
    run.refresh_from_db()
    assert (run.state, run.crashes, run.signature) == ("done", 0, "words|longest:100")
    assert rows_of(run) == [["ann", 4], ["ben", 6]]
    assert WORDS.load_summary(run) == WordSummary(1, answers=4, workers=2, turns=(1, 2))
    assert not RunData.objects.filter(run=run, name=ASIDE).exists()
    assert not work_one_turn()


def test_its_options_reach_it_and_are_checked_before(queued):
    run = queued(WordOptions(longest=6))
    while work_one_turn():
        pass
    # Without mountains, westward and northern.
    assert rows_of(run) == [["ann", 2], ["ben", 5]]
    with pytest.raises(OptionError, match="longest: min_value, given=0, lowest=1"):
        queued(WordOptions(longest=0))
    assert Run.objects.count() == 1


def test_options_of_another_kind_are_refused(rivers):
    with pytest.raises(ValueError, match="no options of aqer"):
        runs.queue_run(rivers.latest_version(), rivers.owner_id, WordOptions(), "aqer")


def test_a_run_of_the_kind_is_cancelled_and_done_again_as_the_same_kind(queued):
    run = queued(WordOptions(longest=6))
    work_one_turn()
    assert runs.cancel_run(run)
    follower = runs.repeat_run(run, run.owner_id)
    assert (follower.kind, follower.parameters) == ("words", run.parameters)
    while work_one_turn():
        pass
    follower.refresh_from_db()
    run.refresh_from_db()
    assert (run.state, follower.state) == ("cancelled", "done")


# In one transaction the clock of PostgreSQL stands still.
@pytest.mark.django_db(transaction=True)
def test_a_run_that_gave_up_its_turn_waits_behind_those_that_wait_longer(queued):
    long, short = queued(), queued()
    assert work_one_turn()  # the first half of the long one
    assert claim_next_run("ann").run_id == short.pk
    assert claim_next_run("ben").run_id == long.pk


def test_a_run_of_a_kind_that_was_taken_out_fails_with_the_reason(queued, settings):
    run = queued()
    settings.RUN_KINDS = settings.RUN_KINDS[:1]
    assert work_one_turn()
    run.refresh_from_db()
    assert run.state == Run.State.FAILED
    assert run.error == str(UnknownKindError("words"))
    assert str(run) == f"words run {run.public_id}"
