"""Draws that are put aside come back as they were, and only as far as they are whole."""

from contextlib import nullcontext

import numpy as np
import pytest

from evaluation.grading.storage import draws
from evaluation.grading.storage.draws import SECONDS_BETWEEN_PARTS, DrawParts
from evaluation.models import DrawPart, Run
from evaluation.runs.steps.checkpoints import OutOfTimeError, Turn
from tests.annotations import world

pytestmark = pytest.mark.django_db

HASH = "ab" * 32
RNG = np.random.default_rng(0)
RAW, VOTES = RNG.random((3, 10)), RNG.random((3, 10))


class Clock:
    """Tells the time it is set to."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def run():
    version = world.version(world.user("rana"))
    return Run.objects.create(owner=version.question_set.owner, version=version, parameters={})


def parts_of(run, deadline=float("inf"), key=HASH):
    return DrawParts(Turn(run.pk, nullcontext, lambda: None, deadline, Clock()), run.pk, key)


def kept(run, upto, key=HASH):
    """Put the first draws aside, as at the end of a turn."""
    with pytest.raises(OutOfTimeError):
        parts_of(run, deadline=0, key=key).store_draws(RAW[:, :upto], VOTES[:, :upto])


def bounds(run):
    return list(DrawPart.objects.filter(run=run).values_list("first", "n_draws", "n_workers"))


def test_what_was_put_aside_comes_back_bit_by_bit(run):
    assert parts_of(run).read_stored_draws() is None
    kept(run, 10)
    raw, votes = parts_of(run).read_stored_draws()
    np.testing.assert_array_equal(raw, RAW)
    np.testing.assert_array_equal(votes, VOTES)
    assert bounds(run) == [(0, 10, 3)]


def test_single_precision_and_other_orders_of_bytes_are_stored_as_double(run):
    with pytest.raises(OutOfTimeError):
        parts_of(run, deadline=0).store_draws(RAW.astype(">f8"), VOTES.astype("f4"))
    raw, votes = parts_of(run).read_stored_draws()
    np.testing.assert_array_equal(raw, RAW)
    np.testing.assert_array_equal(votes, VOTES.astype("f4").astype(float))


def test_draws_are_put_aside_every_half_minute_and_each_once(run):
    parts = parts_of(run)
    parts.turn.clock.now = SECONDS_BETWEEN_PARTS - 1
    parts.store_draws(RAW[:, :2], VOTES[:, :2])
    assert bounds(run) == []
    parts.turn.clock.now = SECONDS_BETWEEN_PARTS
    parts.store_draws(RAW[:, :4], VOTES[:, :4])
    assert bounds(run) == [(0, 4, 3)]
    parts.turn.clock.now += SECONDS_BETWEEN_PARTS - 1
    parts.store_draws(RAW[:, :6], VOTES[:, :6])
    assert bounds(run) == [(0, 4, 3)]
    parts.turn.clock.now += 1
    parts.store_draws(RAW[:, :9], VOTES[:, :9])
    assert bounds(run) == [(0, 4, 3), (4, 5, 3)]
    raw, _ = parts_of(run).read_stored_draws()
    np.testing.assert_array_equal(raw, RAW[:, :9])


def test_the_half_minute_begins_with_the_turn(run):
    turn = parts_of(run).turn
    turn.clock.now = 1000.0
    parts = DrawParts(turn, run.pk, HASH)
    parts.store_draws(RAW[:, :2], VOTES[:, :2])
    assert bounds(run) == []


def test_a_turn_that_goes_on_from_earlier_draws_puts_only_new_ones_aside(run):
    kept(run, 4)
    parts = parts_of(run, deadline=0)
    parts.read_stored_draws()
    with pytest.raises(OutOfTimeError):
        parts.store_draws(RAW, VOTES)
    assert bounds(run) == [(0, 4, 3), (4, 6, 3)]
    raw, votes = parts_of(run).read_stored_draws()
    np.testing.assert_array_equal(raw, RAW)
    np.testing.assert_array_equal(votes, VOTES)


@pytest.mark.parametrize(("lost", "left"), [(0, None), (4, 4), (8, 8)])
def test_draws_are_taken_up_to_the_first_part_that_is_missing(run, monkeypatch, lost, left):
    monkeypatch.setattr(draws, "LARGEST", 3 * 8 * 4)  # four draws of three workers
    kept(run, 10)
    assert bounds(run) == [(0, 4, 3), (4, 4, 3), (8, 2, 3)]
    DrawPart.objects.filter(run=run, first=lost).delete()
    found = parts_of(run).read_stored_draws()
    if left is None:
        assert found is None
    else:
        np.testing.assert_array_equal(found[0], RAW[:, :left])


def test_draws_of_other_answers_are_not_taken_and_make_room_for_new_ones(run):
    other = Run.objects.create(owner=run.owner, version=run.version, parameters={})
    kept(other, 3)
    kept(run, 6, key="cd" * 32)
    assert parts_of(run).read_stored_draws() is None
    kept(run, 4)
    assert bounds(run) == [(0, 4, 3)]
    assert parts_of(run, key="cd" * 32).read_stored_draws() is None
    # Those of another run stay.
    assert bounds(other) == [(0, 3, 3)]


def test_one_draw_is_kept_even_if_it_is_larger_than_a_part_may_be(run, monkeypatch):
    monkeypatch.setattr(draws, "LARGEST", 8)
    kept(run, 3)
    assert bounds(run) == [(0, 1, 3), (1, 1, 3), (2, 1, 3)]
