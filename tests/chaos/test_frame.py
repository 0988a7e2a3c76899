"""Checks of a chaos run notice what was lost, doubled or late; the proxy keeps to its mode."""

import socket
import threading
import time

import pytest

from tests.benchmarks.workers.people import Load as Written
from tests.chaos.__main__ import MOST_SECONDS, Outcome
from tests.chaos.load import Check, Collecting, Importing
from tests.chaos.proxy import DELAY, Mode, Proxy
from tests.chaos.report import build_report


class StoredSite:
    """A site of which only the stored rows are asked for."""

    def __init__(self, stored):
        self.stored = stored

    def read(self, code, **names):
        return self.stored


def failing(checks):
    return [check.what for check in checks if not check.holds]


def collected(stored):
    load = Collecting(StoredSite(stored), 0)
    texts = {("ada", "t1"): "low", ("ada", "t2"): "high"}
    # Of the second, a later text was sent whose acknowledgement was lost.
    load.loads = [Written(texts=texts, sent={**texts, ("ada", "t2"): "higher"})]
    return failing(load.find_violations())


def test_a_missing_an_old_and_a_doubled_answer_are_noticed():
    kept = [["ada", "t1", "low"], ["ada", "t2", "high"]]
    assert collected(kept) == []
    assert collected([kept[0], ["ada", "t2", "higher"]]) == []
    assert collected(kept[:1]) == ["acknowledged texts that are missing"]
    assert collected([["ada", "t1", "older"], kept[1]]) == ["acknowledged texts that are missing"]
    assert collected([*kept, ["ada", "t1", "low"]]) == ["answers stored twice"]


@pytest.mark.parametrize(("stored", "missed"), [(132, 0), (131, 1), (172, 1)])
def test_an_import_that_is_stored_in_part_or_twice_is_noticed(stored, missed):
    load = Importing(StoredSite(stored), 0)
    # 12 answers before; 3 imports of 10 workers and 4 questions: 12 + 3 * 40.
    load.set, load.before, load.imports = "rivers", 12, 3
    assert len(failing(load.find_violations())) == missed


def test_an_outcome_holds_only_if_all_checks_hold_and_every_recovery_was_in_time():
    good, bad = Check("a", "b", "0", holds=True), Check("a", "c", "1", holds=False)
    assert Outcome("s", [("kill", 1.0)], [good]).holds
    assert not Outcome("s", [("kill", 1.0)], [good, bad]).holds
    late = Outcome("s", [("kill", MOST_SECONDS + 1)], [good], left_out=["clock"])
    assert not late.holds
    report = build_report([late], "hand", MOST_SECONDS)
    assert "| kill | 61.0 **late** |" in report
    assert "Not run: clock." in report


@pytest.fixture
def echo():
    """A server on loopback that sends back what it gets; its port."""
    server = socket.create_server(("127.0.0.1", 0))

    def answer(connection):
        with connection:
            while piece := connection.recv(100):
                connection.sendall(piece)

    def serve():
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield server.getsockname()[1]
    server.close()


def test_the_proxy_passes_delays_swallows_and_cuts(echo):
    proxy = Proxy(echo)
    try:
        with socket.create_connection(("127.0.0.1", proxy.port), timeout=10) as client:
            client.sendall(b"one")
            assert client.recv(10) == b"one"
            proxy.set_mode(Mode.DELAY)
            began = time.monotonic()
            client.sendall(b"two")
            assert client.recv(10) == b"two"
            assert time.monotonic() - began >= 2 * DELAY  # there and back
            proxy.set_mode(Mode.SWALLOW)
            client.sendall(b"three")
            client.settimeout(0.3)
            with pytest.raises(TimeoutError):
                client.recv(10)
            client.settimeout(10)
            proxy.set_mode(Mode.PASS)
            assert client.recv(10) == b"three"
            proxy.set_mode(Mode.CUT)
            with pytest.raises(ConnectionError):
                client.recv(10) or _refuse()
        with (
            socket.create_connection(("127.0.0.1", proxy.port), timeout=10) as client,
            pytest.raises(ConnectionError),
        ):
            client.recv(10) or _refuse()
    finally:
        proxy.close()


def _refuse():
    raise ConnectionError("the connection was closed")
