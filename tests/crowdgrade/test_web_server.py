"""Connections that begin and do not end, and answers that nobody takes, keep nobody else out."""

import contextlib
import http.client
import os
import socket
import threading
import time

import pytest

from crowdgrade import web_server

BEGUN = b"GET / HTTP/1.1\r\nHost: here\r\nX-Slow: "


@pytest.fixture
def serve(monkeypatch):
    """Return a function that serves an application on loopback, and gives its port."""
    monkeypatch.setattr(web_server, "CLEANUP_SECONDS", 1)
    running = []

    def start(application, most=10):
        monkeypatch.setattr(web_server, "MAX_CONNECTIONS", most)
        server = web_server.build_web_server(
            application, web_server.open_listening_sockets("127.0.0.1", 0)
        )
        stop = threading.Event()
        thread = threading.Thread(target=web_server.serve_until_stopped, args=(server, stop))
        thread.start()
        running.append((stop, thread))
        return server.effective_listen[0][1]

    start.stops = lambda: [stop.set() for stop, _ in running]
    yield start
    start.stops()
    for _, thread in running:
        thread.join()


def hello(environment, start_response):
    start_response("200 OK", [("Content-Length", "5")])
    return [b"hello"]


def asked(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with contextlib.closing(connection):
        connection.request("GET", "/")
        return connection.getresponse().read()


def with_body(environment, start_response):
    """Answers HEAD as GET, as an application does that knows no better."""
    start_response("200 OK", [] if environment["PATH_INFO"] == "/chunks" else [("X-Length", "5")])
    return iter([b"he", b"llo"]) if environment["PATH_INFO"] == "/chunks" else [b"hello"]


@pytest.mark.medium
@pytest.mark.parametrize("path", ["/", "/chunks"])
def test_no_body_follows_the_head_on_a_connection_that_stays_open(serve, path):
    port = serve(with_body)
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(f"HEAD {path} HTTP/1.1\r\nHost: here\r\n\r\n".encode())
        time.sleep(0.3)
        connection.sendall(b"GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
        received = b""
        with contextlib.suppress(ConnectionError):
            while part := connection.recv(1 << 16):
                received += part
    head, _, rest = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK")
    assert not rest or rest.startswith(b"HTTP/1.1 200 OK")


def large(environment, start_response):
    """24 MB to whoever asks for an export, hello to everybody else."""
    if environment["PATH_INFO"] != "/export":
        return hello(environment, start_response)
    start_response("200 OK", [("Content-Length", str(24 << 20))])
    return (b"x" * (1 << 20) for _ in range(24))


def test_who_takes_a_large_answer_slowly_holds_no_thread(serve, monkeypatch):
    monkeypatch.setattr(web_server, "THREADS", 2)
    port = serve(large, most=20)
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            reader = stack.enter_context(socket.socket())
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.connect(("127.0.0.1", int(port)))
            reader.sendall(b"GET /export HTTP/1.1\r\nHost: here\r\n\r\n")
            reader.settimeout(20)
            assert reader.recv(1)
        assert asked(port) == b"hello"


def begun(port):
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(BEGUN)
    return connection


def is_closed(connection):
    """Whether the other side ended it, within the time of the socket."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def test_a_newcomer_gets_in_where_others_hold_every_connection_half_open(serve):
    port = serve(hello, most=10)
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(begun(port)) for _ in range(25)]
        assert asked(port) == b"hello"
        # 25 came for 10 places, and then one who asked: the first ones had to go.
        assert is_closed(held[0])


@pytest.mark.medium
def test_a_byte_now_and_then_does_not_keep_an_unfinished_request(serve, monkeypatch):
    monkeypatch.setattr(web_server, "HEAD_SECONDS", 1)
    port = serve(hello)
    with begun(port) as slow:
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < 200:  # a minute, were it not ended
                slow.sendall(b"a")
                sent += 1
                time.sleep(0.3)
        assert sent < 200
        assert asked(port) == b"hello"


def test_maintenance_leaves_a_late_connection_open_until_the_round_is_over():
    # Closed within the round, its file number may go to a connection accepted in the same round,
    # and the loop would then close that one: it still has an event of the number.
    running = web_server.build_web_server(hello, web_server.open_listening_sockets("127.0.0.1", 0))
    [server] = [one for one in running.map.values() if isinstance(one, web_server.WebServer)]
    ours, theirs = socket.socketpair()
    with ours, theirs:
        channel = web_server.ClientChannel(
            server, ours, ("127.0.0.1", 1), server.adj, map=server._map
        )
        channel.received(BEGUN)
        server.maintenance(time.time() + web_server.HEAD_SECONDS + 1)
        assert channel.connected
        assert not channel.will_close
        server.close_late_channels()
        assert not channel.connected
        assert theirs.recv(1) == b""
    running.close()


@pytest.mark.medium
def test_whoever_takes_nothing_of_an_answer_gives_the_thread_back(serve, monkeypatch):
    monkeypatch.setattr(web_server, "THREADS", 1)
    given_up = threading.Event()

    def large(environment, start_response):
        if environment["PATH_INFO"] == "/":
            return hello(environment, start_response)
        start_response("200 OK", [])
        return endless()

    def endless():
        try:
            while True:
                yield b"x" * 1_000_000
        finally:
            given_up.set()

    port = serve(large)
    # Once it is made: waitress's own limit, for who has asked nothing yet, stays long.
    monkeypatch.setattr(web_server, "SILENT_SECONDS", 1)
    with socket.create_connection(("127.0.0.1", port)) as lazy:
        lazy.sendall(b"GET /large HTTP/1.1\r\nHost: here\r\n\r\n")
        assert given_up.wait(30)
        # On a busy machine somebody who does ask may be silent for a second, too.
        monkeypatch.setattr(web_server, "SILENT_SECONDS", 60)
        assert asked(port) == b"hello"


def test_there_are_fewer_connections_where_the_process_may_open_few_files(monkeypatch):
    monkeypatch.setattr(web_server.resource, "getrlimit", lambda _: (256, 4096))
    assert web_server._compute_max_connections() == 64  # 256 files, four for each connection


@pytest.mark.medium
def test_the_largest_upload_that_is_allowed_gets_through(serve, settings):
    """Also where UPLOAD_MB allows more than it does by default."""
    settings.UPLOAD_BYTES = settings.API_BULK_BYTES = 3_000_000

    def counts(environment, start_response):
        body = str(len(environment["wsgi.input"].read())).encode()
        start_response("200 OK", [("Content-Length", str(len(body)))])
        return [body]

    def sent(size):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        with contextlib.closing(connection):
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.request("POST", "/", b"x" * size)
            answer = connection.getresponse()
            return answer.status, answer.read()

    port = serve(counts)
    assert sent(3_100_000) == (200, b"3100000")  # the file, and what a form puts around it
    assert sent(5_000_000)[0] == 413


@pytest.mark.medium
def test_the_end_waits_for_what_was_asked_and_takes_nothing_new(serve):
    asked_for, may_answer = threading.Event(), threading.Event()

    def slow(environment, start_response):
        if environment["PATH_INFO"] == "/":
            return hello(environment, start_response)
        asked_for.set()
        assert may_answer.wait(30)
        return hello(environment, start_response)

    port = serve(slow)
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as early:
        with socket.create_connection(("127.0.0.1", port), timeout=30) as idle:
            early.request("GET", "/slow")
            assert asked_for.wait(30)
            serve.stops()
            assert is_closed(idle)
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), timeout=30)
        may_answer.set()
        assert early.getresponse().read() == b"hello"


@pytest.mark.slow
def test_the_end_does_not_wait_for_ever(serve, monkeypatch):
    monkeypatch.setattr(web_server, "SECONDS_TO_FINISH", 0.5)
    asked_for, over = threading.Event(), threading.Event()

    def hangs(environment, start_response):
        asked_for.set()
        over.wait(60)
        return hello(environment, start_response)

    port = serve(hangs)
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as client:
        client.request("GET", "/")
        assert asked_for.wait(30)
        serve.stops()
        with pytest.raises(ConnectionError):
            client.getresponse()
    over.set()


@pytest.mark.medium
def test_two_servers_share_a_port_and_one_of_them_suffices(monkeypatch):
    listening = web_server.open_listening_sockets("127.0.0.1", 0)
    port = listening[0].getsockname()[1]
    names = {}

    def called(name):
        def application(environment, start_response):
            start_response("200 OK", [("Content-Length", "1")])
            return [name]

        shared = [socket.socket(fileno=os.dup(one.fileno())) for one in listening]
        stop = threading.Event()
        server = web_server.build_web_server(application, shared)
        names[name] = (
            stop,
            threading.Thread(target=web_server.serve_until_stopped, args=(server, stop)),
        )
        names[name][1].start()

    called(b"a")
    called(b"b")
    assert {asked(port) for _ in range(200)} <= {b"a", b"b"}
    for ended, left in [(b"a", b"b"), (b"b", None)]:
        stop, thread = names[ended]
        stop.set()
        thread.join()
        if left:
            assert {asked(port) for _ in range(20)} == {left}
    for one in listening:
        one.close()
