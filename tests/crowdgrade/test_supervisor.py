"""Several processes as one program."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crowdgrade.supervisor import (
    AlreadyRunningError,
    Child,
    Stopped,
    hold_lock,
    is_port_free,
    raise_on_signal,
    supervise_children,
)
from tests.evaluation.runs.background.scratch import wait_until
from tests.numbers import numbers_in

ROOT = Path(__file__).resolve().parents[2]


def child(code: str, log: Path) -> Child:
    return Child("the child", [sys.executable, "-c", code], os.environ, log)


@pytest.mark.medium
def test_a_child_that_dies_is_started_again_and_the_death_is_told(tmp_path):
    starts = tmp_path / "starts"
    code = f"open({str(starts)!r}, 'a').write('x'); raise SystemExit(3)"
    said = []
    supervise_children(
        [child(code, tmp_path / "log")],
        said.append,
        lambda: starts.exists() and len(starts.read_text()) >= 2,
    )
    # The exit code, and the pause in seconds.
    assert (said[0].split()[:2], numbers_in(said[0])) == (["the", "child"], ["3", "2"])


def test_all_children_are_ended_when_it_is_over(tmp_path):
    process = child("import time; time.sleep(600)", tmp_path / "log")
    supervise_children([process], print, lambda: process.process is not None)
    assert process.process.poll() == -signal.SIGTERM


@pytest.mark.medium
def test_a_child_that_will_not_end_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr("crowdgrade.supervisor.SECONDS_TO_END", 0.5)
    ready = tmp_path / "ready"
    stubborn = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        f"open({str(ready)!r}, 'w').close(); time.sleep(600)"
    )
    process = child(stubborn, tmp_path / "log")
    supervise_children([process], print, ready.exists)
    assert process.process.poll() == -signal.SIGKILL


def test_the_lock_lets_only_one_in_and_is_free_again_afterwards(tmp_path):
    lock = tmp_path / "lock"
    holder = "import fcntl, sys, time; f = open(sys.argv[1], 'a'); fcntl.flock(f, fcntl.LOCK_EX);"
    with subprocess.Popen(
        [sys.executable, "-c", holder + "print('held', flush=True); time.sleep(600)", lock],
        stdout=subprocess.PIPE,
    ) as other:
        other.stdout.readline()
        with pytest.raises(AlreadyRunningError), hold_lock(lock):
            pytest.fail("two hold the lock")
        other.kill()
    with hold_lock(lock):
        pass


def test_a_killed_supervisor_takes_its_children_with_it(tmp_path):
    follower = (
        "from crowdgrade import lifeline; lifeline.end_with_supervisor();"
        " import time; time.sleep(600)"
    )
    supervisor = (
        "import os, sys, pathlib; from crowdgrade.supervisor import Child, supervise_children;"
        f"child = Child('it', [sys.executable, '-c', {follower!r}], os.environ);"
        "tell = lambda: child.process and print(child.process.pid, flush=True);"
        "supervise_children([child], print, tell)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "platform")}
    with subprocess.Popen(
        [sys.executable, "-c", supervisor], env=environment, stdout=subprocess.PIPE, text=True
    ) as killed:
        pid = int(killed.stdout.readline())
        assert is_alive(pid)
        killed.kill()
    wait_until(lambda: not is_alive(pid), 20, "the end of the child")


def test_a_child_that_follows_reads_nothing_from_its_input(tmp_path):
    said = tmp_path / "said"
    code = (
        "import pathlib, sys; from crowdgrade import lifeline; lifeline.end_with_supervisor();"
        f"pathlib.Path({str(said)!r}).write_text(repr(sys.stdin.read())); "
        "import time; time.sleep(600)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "platform")}
    follower = Child("it", [sys.executable, "-c", code], environment)
    supervise_children(
        [follower], print, wait_for(lambda: said.exists() and said.read_text() == "''", 30)
    )


def wait_for(condition, seconds):
    """A condition that may be asked for some seconds."""
    deadline = time.monotonic() + seconds

    def holds():
        assert time.monotonic() < deadline, "it did not happen"
        return condition()

    return holds


def is_alive(pid: int) -> bool:
    """Whether a process is there that has not ended (one nobody has waited for has)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_sigterm_ends_the_block_and_the_old_handler_comes_back():
    before = signal.getsignal(signal.SIGTERM)

    def wait_for_the_signal():
        with raise_on_signal():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)

    with pytest.raises(Stopped):
        wait_for_the_signal()
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_port_that_somebody_listens_on_is_not_free():
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert not is_port_free("127.0.0.1", server.getsockname()[1])
