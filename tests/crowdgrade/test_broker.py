"""The broker of files: nothing torn is left by a full disk, and nothing torn ends a worker."""

import subprocess
import threading

import pytest
from amqp.exceptions import RecoverableConnectionError
from kombu import Connection
from kombu.exceptions import OperationalError
from kombu.simple import Empty
from kombu.transport import filesystem

from crowdgrade.broker import Transport
from tests.disks import small_disk
from tests.evaluation.runs.background.scratch import Scratch, wait_until

REFUSED = (RecoverableConnectionError, OperationalError)


@pytest.fixture(autouse=True)
def _of_this_test_alone():
    """Kombu remembers for the whole process which queues it has bound."""
    for transport in (Transport, filesystem.Transport):
        transport.global_state.clear()


class Broker:
    """A broker in a folder, with a queue."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def connection(self, transport="crowdgrade.broker:Transport"):
        places = {"data_folder_in": str(self.folder), "data_folder_out": str(self.folder)}
        options = {**places, "control_folder": str(self.folder / "control")}
        return Connection("filesystem://", transport=transport, transport_options=options)

    def put(self, message):
        with self.connection() as connection, connection.SimpleQueue("runs") as queue:
            queue.put(message)

    def take_all(self):
        """All messages; each is taken from the queue."""
        found = []
        with self.connection() as connection, connection.SimpleQueue("runs") as queue:
            try:
                while True:
                    message = queue.get(block=False)
                    message.ack()
                    found.append(message.payload)
            except Empty:
                return found

    def files(self):
        return sorted(path.name for path in self.folder.iterdir() if path.is_file())


@pytest.fixture
def broker(tmp_path):
    return Broker(tmp_path / "broker")


def test_messages_come_out_in_their_order_and_leave_no_file(broker):
    for number in range(3):
        broker.put(number)
    assert broker.take_all() == [0, 1, 2]
    assert broker.files() == []


def test_what_another_version_wrote_is_read_and_it_reads_ours(broker):
    with broker.connection("filesystem") as theirs, theirs.SimpleQueue("runs") as queue:
        queue.put("theirs")
    assert broker.take_all() == ["theirs"]
    broker.put("ours")
    with broker.connection("filesystem") as theirs, theirs.SimpleQueue("runs") as queue:
        assert queue.get(block=False).payload == "ours"


@pytest.mark.parametrize("torn", [b"", b'{"body": "eyJ', b"[]", b"\xff\xfe"])
def test_a_torn_message_is_put_away_and_the_next_one_comes(broker, torn):
    (broker.folder / "0_torn.runs.msg").write_bytes(torn)
    broker.put("whole")
    assert broker.take_all() == ["whole"]
    assert broker.files() == []


@pytest.mark.parametrize("torn", [b"", b'[["runs", "", "ru', b"7"])
def test_a_torn_list_of_queues_is_written_anew(broker, torn):
    broker.put("first")
    (listed,) = (broker.folder / "control").glob("*.exchange")
    whole = listed.read_bytes()
    listed.write_bytes(torn)
    Transport.global_state.clear()  # as in a process that has just begun
    broker.put("second")
    assert broker.take_all() == ["first", "second"]
    assert listed.read_bytes() == whole


def test_two_who_take_at_once_share_the_messages(broker):
    for number in range(60):
        broker.put(number)
    taken = [[], []]
    threads = [
        threading.Thread(target=lambda mine=mine: mine.extend(broker.take_all())) for mine in taken
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken[0] + taken[1]) == list(range(60))


def test_a_queue_that_is_deleted_leaves_the_list_and_takes_its_messages_along(broker):
    broker.put("lost")
    with broker.connection() as connection:
        connection.channel().queue_delete("runs")
    (listed,) = (broker.folder / "control").glob("*.exchange")
    assert listed.read_bytes() == b"[]"
    assert broker.files() == []


def test_a_full_disk_takes_no_message_and_leaves_none_behind(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        broker = Broker(disk.folder / "broker")
        broker.put("before")
        disk.fill()
        with pytest.raises(REFUSED, match="No space left"):
            broker.put("lost")
        assert len(broker.files()) == 1
        disk.clear()
        broker.put("after")
        assert broker.take_all() == ["before", "after"]


def test_a_full_disk_leaves_the_list_of_queues_as_it_was(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        broker = Broker(disk.folder / "broker")
        with broker.connection() as connection:
            channel = connection.channel()
            channel.exchange_declare("shared", type="fanout")
            channel.queue_bind("one", "shared", "one")
            before = channel.get_table("shared")
            disk.fill()
            with pytest.raises(REFUSED, match="No space left"):
                channel.queue_bind("two", "shared", "a key that makes the list longer")
            assert channel.get_table("shared") == before != []
            disk.clear()
            channel.queue_bind("three", "shared", "three")
            assert {entry.queue for entry in channel.get_table("shared")} == {"one", "three"}


RING = """
from evaluation.runs.background.leases import wake_process
result = [wake_process() for _ in range(3)]
"""


@pytest.mark.long
def test_a_worker_outlives_a_full_disk_and_takes_messages_when_there_is_room_again(tmp_path):
    with small_disk(tmp_path / "home", megabytes=8) as disk:
        site = Scratch(disk.folder, None, None)
        site.home = tmp_path  # of its log: who can no longer say anything ends
        messages = (disk.folder / "broker").glob
        try:
            assert site.python(RING) == [True] * 3
            for number in range(3):  # as older versions left them
                (
                    disk.folder / f"broker/{number}_torn.{site.environment['CELERY_QUEUE']}.msg"
                ).touch()
            disk.fill()
            assert site.python(RING) == [False] * 3
            assert len(list(messages("*.msg"))) == 6
            worker = site.start_worker()
            with pytest.raises(subprocess.TimeoutExpired):
                worker.wait(8)
            disk.clear()
            assert site.python(RING) == [True] * 3
            wait_until(lambda: not list(messages("*.msg")), 200, "taking messages", site.log)
            assert worker.poll() is None
        finally:
            site.close()
