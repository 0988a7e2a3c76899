"""Turns that several processes share: none is taken twice, each a request's time apart."""

import asyncio
import time

from evaluation.runs.flow.asking.pace import Pace

STEP = 0.05
A_MINUTE = 60 / STEP


class Shared:
    """Reservations of all processes, as the database keeps them."""

    def __init__(self):
        self.following, self.counts = time.monotonic(), []

    async def reserve(self, count, seconds):
        self.counts.append((count, round(seconds, 6)))
        now = time.monotonic()
        first = max(self.following, now)
        self.following = first + count * seconds
        return first - now


def take_turns(paces, each):
    """Return the times at which turns began, of all paces together, sorted."""
    times = []

    async def one(pace):
        for _ in range(each):
            await pace.wait_for_turn(1)
            times.append(time.monotonic())

    async def all_of_them():
        await asyncio.gather(*(one(pace) for pace in paces for _ in range(2)))

    asyncio.run(all_of_them())
    return sorted(times)


def test_two_paces_with_shared_turns_send_no_more_than_one_of_them():
    shared = Shared()
    times = take_turns([Pace(A_MINUTE, reserve=shared.reserve) for _ in range(2)], each=10)
    # 40 turns; the last one is 39 steps after the first, were it one pace or two.
    assert times[-1] - times[0] >= 39 * STEP - 1e-3
    # The turns of a second are reserved at once: 20 of them.
    assert set(shared.counts) == {(20, STEP)}
    # A process that this busy machine delays reserves anew.
    assert 2 <= len(shared.counts) < 10


def test_turns_that_a_pace_did_not_use_in_their_time_are_not_sent_beside_those_of_others():
    shared = Shared()
    late, other = (Pace(A_MINUTE, reserve=shared.reserve) for _ in range(2))
    take_turns([late], each=1)
    time.sleep(20 * STEP)  # its 20 turns of a second are over, of which it used two
    times = take_turns([late, other], each=5)
    # 20 turns of both paces; with the 18 old ones they would take 9 steps.
    assert times[-1] - times[0] >= 19 * STEP - 1e-3


def test_two_paces_of_their_own_send_twice_as_many():
    times = take_turns([Pace(A_MINUTE) for _ in range(2)], each=5)
    assert 9 * STEP - 1e-3 <= times[-1] - times[0] < 19 * STEP


def test_a_slow_pace_reserves_one_turn_at_a_time():
    shared = Shared()

    async def wait_once():
        await Pace(30, reserve=shared.reserve).wait_for_turn(1)

    asyncio.run(wait_once())
    assert shared.counts == [(1, 2.0)]


def test_without_a_limit_nothing_is_reserved():
    shared = Shared()
    pace = Pace(tokens_a_minute=6e9, reserve=shared.reserve)
    take_turns([pace], each=3)
    assert shared.counts == []
    assert Pace(reserve=shared.reserve).is_open
