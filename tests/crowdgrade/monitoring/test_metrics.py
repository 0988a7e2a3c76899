"""Metrics: numbers of the database and of all web processes, for whoever may read them."""

import errno
import json
import os
import sqlite3
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import OperationalError, ProgrammingError
from django.test import Client
from django.utils.timezone import now

from crowdgrade.monitoring import requests
from evaluation.models import BackgroundWorker, Run
from tests.annotations import world as crowd

ROOT = Path(__file__).resolve().parents[3]
TOKEN = "a-token-of-this-test"


def read(client, **headers):
    # After the settings: the library reads its folder when it is imported.
    from prometheus_client.parser import text_string_to_metric_families

    answer = client.get("/metrics", **headers)
    assert answer.status_code == 200, answer.content
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


@pytest.fixture
def version(db):
    return crowd.version(crowd.user("rana", is_staff=True))


def make_run(version, **values):
    return Run.objects.create(owner=version.question_set.owner, version=version, **values)


def test_requests_are_counted_by_view_method_and_status(client, db):
    key = ("crowdgrade_requests_total", ("method", "GET"), ("status", "200"))
    key += (("view", "health-live"),)
    before = read(client).get(key, 0)
    for _ in range(3):
        client.get("/health/live")
    client.get("/nothing/")
    found = read(client)
    assert found[key] == before + 3
    missing = ("crowdgrade_requests_total", ("method", "GET"), ("status", "404"), ("view", "none"))
    assert found[missing] >= 1
    assert found["crowdgrade_request_seconds_count", ("view", "health-live")] >= 3
    assert found["crowdgrade_request_seconds_bucket", ("le", "+Inf"), ("view", "health-live")] >= 3


def test_files_of_counts_have_their_room_on_the_disk_before_they_are_written(tmp_path, monkeypatch):
    requests.load_request_metrics()
    from prometheus_client import values

    path = tmp_path / "counter.db"
    counts = values.MmapedDict(str(path))
    size = path.stat().st_size
    # Blocks of 512 bytes: a file without them would end the process on a full disk.
    assert path.stat().st_blocks * 512 >= size == counts._capacity

    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    # 4 bytes, 64 of the key with 4 of padding, and 16: 88 an entry, after 8 at the beginning.
    most = (size - 8) // 88
    for number in range(most):
        counts.write_value(f"key {number:060}", 1.0, 0.0)
    with pytest.raises(OSError, match="No space left"):
        counts.write_value(f"key {most:060}", 1.0, 0.0)
    assert len(list(counts.read_all_values())) == most
    counts.close()


def test_runs_are_counted_by_state_and_lane_and_timed_by_type(client, version):
    end = now()
    make_run(version)
    make_run(version, kind="ask")
    for seconds in (10, 30):
        make_run(
            version, state="done", started_at=end - timedelta(seconds=seconds), finished_at=end
        )
    BackgroundWorker.objects.create(name="here:1", seen_at=end)
    BackgroundWorker.objects.create(name="here:2", seen_at=end - timedelta(minutes=1))
    found = read(client)
    queued = [
        found["crowdgrade_runs_unfinished", ("lane", lane), ("state", "queued")]
        for lane in ("asking", "computing")
    ]
    assert queued == [1, 1]
    done = (("state", "done"), ("type", "aqer"))
    assert found["crowdgrade_run_seconds_count", *done] == 2
    assert found["crowdgrade_run_seconds_sum", *done] == 40
    assert found["crowdgrade_background_processes",] == 1
    assert found["crowdgrade_oldest_queued_run_seconds",] >= 0


def test_in_an_outage_of_the_database_requests_are_still_counted(client, version, monkeypatch):
    client.get("/health/live")
    found = read(client)
    assert found["crowdgrade_database_up",] == 1
    assert ("crowdgrade_background_processes",) in found

    def fail():
        cause = sqlite3.OperationalError("database is locked")
        cause.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise OperationalError("database is locked") from cause

    monkeypatch.setattr("crowdgrade.monitoring.metrics._build_reply_metric", fail)
    found = read(client)
    assert found["crowdgrade_database_up",] == 0
    assert ("crowdgrade_background_processes",) not in found
    key = ("crowdgrade_requests_total", ("method", "GET"), ("status", "200"))
    assert found[(*key, ("view", "health-live"))] >= 1


def test_a_defect_in_a_metric_is_no_outage(client, version, monkeypatch):
    def fail():
        raise ProgrammingError("no such column")

    monkeypatch.setattr("crowdgrade.monitoring.metrics._build_reply_metric", fail)
    with pytest.raises(ProgrammingError):
        client.get("/metrics")


def test_without_a_token_only_this_machine_without_a_proxy_reads_them(db):
    assert Client(REMOTE_ADDR="127.0.0.1").get("/metrics").status_code == 200
    assert Client(REMOTE_ADDR="::1").get("/metrics").status_code == 200
    assert Client(REMOTE_ADDR="203.0.113.9").get("/metrics").status_code == 403
    proxied = Client(REMOTE_ADDR="127.0.0.1", headers={"X-Forwarded-For": "127.0.0.1"})
    assert proxied.get("/metrics").status_code == 403


def test_with_a_token_it_alone_opens_them(db, settings):
    settings.METRICS_TOKEN = TOKEN
    statuses = [
        Client(REMOTE_ADDR="203.0.113.9", headers=headers).get("/metrics").status_code
        for headers in ({"Authorization": f"Bearer {TOKEN}"}, {"Authorization": "Bearer x"}, {})
    ]
    assert statuses == [200, 403, 403]
    assert Client(REMOTE_ADDR="127.0.0.1").get("/metrics").status_code == 403


CHILD = """
import os, sys
from pathlib import Path
import django
from django.conf import settings
django.setup()
assert settings.METRICS_FOLDER == Path(sys.argv[1])
from django.test import RequestFactory
from crowdgrade.monitoring.requests import count_request
for _ in range(int(sys.argv[2])):
    request = RequestFactory().get("/")
    request.resolver_match = None
    count_request(request, 200, 0.02)
"""
SUM = """
import json, sys
from pathlib import Path
import django
from django.conf import settings
django.setup()
assert settings.METRICS_FOLDER == Path(sys.argv[1])
from prometheus_client import CollectorRegistry
from crowdgrade.monitoring.requests import register_request_metrics
registry = CollectorRegistry()
register_request_metrics(registry)
labels = {"view": "none", "method": "GET", "status": "200"}
print(json.dumps([
    registry.get_sample_value("crowdgrade_requests_total", labels),
    registry.get_sample_value("crowdgrade_request_seconds_sum", {"view": "none"}),
]))
"""


@pytest.mark.slow
def test_requests_of_several_processes_are_added_up(tmp_path):
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "crowdgrade.settings"}
    environment["PYTHONPATH"] = f"{ROOT}:{ROOT / 'platform'}"
    environment["CROWDGRADE_HOME"] = str(tmp_path)

    def run(code, *arguments):
        command = [sys.executable, "-c", code, str(tmp_path / "metrics"), *arguments]
        return subprocess.run(
            command, env=environment, cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout

    run(CHILD, "3")
    run(CHILD, "4")
    count, seconds = json.loads(run(SUM))
    assert count == 3 + 4
    assert seconds == pytest.approx(7 * 0.02)


def test_a_folder_that_cannot_be_written_changes_no_answer(client, db, monkeypatch):
    def fail():
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(requests, "load_request_metrics", fail)
    assert client.get("/health/live").status_code == 200
