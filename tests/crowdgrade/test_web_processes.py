"""`up` with two web servers on one port: one count, one lock of the login, and either may die."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from crowdgrade import settings as of_the_site
from tests.attack.sending import send_lines
from tests.attack.site import PASSWORD, Site, form_token
from tests.evaluation.runs.background.scratch import ROOT, wait_until

pytestmark = pytest.mark.alone
RATE = 6
BEGUN = b'{"worker": "w", "question": "q1", "answer": "so"}\n'


@pytest.fixture(scope="module")
def site(migrated, tmp_path_factory):
    site = Site(
        Path(shutil.copytree(migrated, tmp_path_factory.mktemp("two") / "home")),
        more={"WEB_PROCESSES": "2", "API_ANONYMOUS_RATE": f"{RATE}/day"},
    )
    site.fill()
    site.start()
    wait_until(lambda: len(servers(site)) == 2, 60, "both web servers started", site.log)
    for pid in servers(site):
        with only(site, pid):
            wait_until(site.answers, 60, "this one alone answers", site.log)
    yield site
    site.close()


def servers(site):
    """The process ids of the web servers."""
    return [pid for pid in site.children() if b"crowdgrade.web_server" in command_of(pid)]


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return b""


@contextmanager
def only(site, pid):
    """While the block lasts the other web server does nothing, so that this one answers all."""
    others = [one for one in servers(site) if one != pid]
    for one in others:
        os.kill(one, signal.SIGSTOP)
    try:
        yield
    finally:
        for one in others:
            os.kill(one, signal.SIGCONT)


def test_both_count_requests_in_one_place(site):
    first, second = servers(site)

    def statuses(n):
        with site.visitor() as nobody:
            return [nobody.get("/api/v1/runs/").status_code for _ in range(n)]

    with only(site, first):
        assert statuses(RATE - 2) == [401] * (RATE - 2)
    with only(site, second):
        assert statuses(3) == [401, 401, 429]
    with only(site, first):
        assert statuses(1) == [429]


def test_wrong_passwords_at_one_close_the_login_at_the_other(site):
    first, second = servers(site)

    def sign_in(password):
        with site.visitor() as visitor:
            token = form_token(visitor.get("/admin/login/").text)
            form = {"username": "otto", "password": password, "csrfmiddlewaretoken": token}
            return visitor.post("/admin/login/", data=form).status_code

    with only(site, first):
        assert [sign_in("wrong") for _ in range(3)] == [200] * 3
    with only(site, second):
        assert [sign_in("wrong") for _ in range(2)] == [200, 429]
        assert sign_in(PASSWORD) == 429
    with only(site, first):
        assert sign_in(PASSWORD) == 429


def test_a_session_of_one_is_a_session_of_the_other(site):
    first, second = servers(site)
    with only(site, first), closing(site.browser("rana")) as browser:
        cookies = dict(browser.cookies)
    with only(site, second), site.visitor() as visitor:
        visitor.cookies.update(cookies)
        assert visitor.get("/admin/").status_code == 200


def test_one_that_is_killed_comes_back_and_nothing_is_lost_or_doubled(site):
    """Eight people write 25 rows each, and try again until each is acknowledged."""
    killed = servers(site)[0]
    with site.api("rana") as api:
        into = api.post("question-sets/", json={"name": "killed"}).json()["id"]
        send_lines(api, into, BEGUN, create_questions="true").raise_for_status()
    address, refused = f"question-sets/{into}/answers/", []

    def stored():
        with site.api("rana") as api:
            page, count = api.get(f"{address}?page_size=200").json(), 0
            while page["next"]:
                count, page = count + len(page["results"]), api.get(page["next"]).json()
            return count + len(page["results"])

    def write(person):
        for number in range(25):
            rows = [{"worker": f"k{person}-{number}", "question": "q1", "answer": "so"}]
            key = {"Idempotency-Key": str(uuid.uuid4())}
            while True:
                try:
                    with site.api("rana") as api:  # a new connection: to whoever takes it
                        said = api.post(address, json={"rows": rows}, headers=key)
                except httpx.HTTPError:
                    continue
                if said.status_code < 300:
                    break
                refused.append(said.status_code)
                time.sleep(0.1)

    people = [threading.Thread(target=write, args=(person,)) for person in range(8)]
    for one in people:
        one.start()
    wait_until(lambda: stored() > 20, 60, "rows came in", site.log)
    os.kill(killed, signal.SIGKILL)
    for one in people:
        one.join(120)
        assert not one.is_alive()
    assert stored() == 1 + 8 * 25
    # 409: the first attempt with this key is still under way. Nobody met an error of the site.
    assert set(refused) <= {409, 503}

    def back():
        now = servers(site)
        return len(now) == 2 and killed not in now and now

    fresh = max(wait_until(back, 60, "it was started again", site.log))
    with only(site, fresh):
        wait_until(site.answers, 60, "the new one answers", site.log)


def test_whoever_connects_while_all_are_started_again_waits_and_is_answered(site):
    for pid in servers(site):
        os.kill(pid, signal.SIGKILL)
    with site.visitor(timeout=90) as visitor:
        assert visitor.get("/admin/login/").status_code == 200
    wait_until(lambda: len(servers(site)) == 2, 60, "both are back", site.log)


def test_a_second_site_is_told_that_the_port_is_in_use(site, tmp_path):
    other = Site(tmp_path / "other")
    done = subprocess.run(
        [sys.executable, "manage.py", "up", f"--port={site.port}"],
        cwd=ROOT,
        env=other.environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert f"port {site.port} " in done.stderr
    assert "--port" in done.stderr


def test_the_end_leaves_no_process_and_no_port(site):
    """Last, for it ends the site."""
    pids = [site.up.pid, *site.children()]
    site.up.send_signal(signal.SIGTERM)
    assert site.up.wait(60) == 0
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
    with socket.create_server(("127.0.0.1", site.port)):
        pass


@pytest.mark.parametrize(("cores", "processes"), [({0}, 1), ({0, 1}, 2), ({0, 1, 2, 3}, 2)])
def test_there_is_a_second_process_where_there_is_a_second_core(monkeypatch, cores, processes):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: cores)
    assert min(2, of_the_site._count_cores()) == processes
