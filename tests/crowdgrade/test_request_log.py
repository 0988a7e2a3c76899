"""An unforeseen error of any page is in the log, under the id that its answer shows."""

import io
import json
import logging
import re
import sys
from types import SimpleNamespace

import pytest
from celery import Celery
from celery.app.task import Context
from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.http import StreamingHttpResponse
from django.test import Client, RequestFactory, override_settings
from django.urls import include, path

from annotations.models import QuestionSet
from crowdgrade.request_log import (
    HEADER,
    JsonFormatter,
    RequestFormatter,
    RequestIdMiddleware,
    request_id,
    set_id_from_task,
)
from crowdgrade.rest import outage_page
from evaluation.models import Run
from evaluation.runs.background import work
from evaluation.runs.background.log_context import run_id
from tests.annotations import world as crowd

LINE = re.compile(r"^\S+ \S+ ERROR \[([0-9a-f]{16})\] django\.request: ", re.MULTILINE)


def fail(request, number):
    raise LookupError("swordfish")


def overtake(request, number):
    raise IntegrityError("twice") if number == "taken" else QuestionSet.DoesNotExist


urlpatterns = [
    path("race/<path:number>", overtake),
    path("<path:number>", fail),
    path("admin/", include(([path("", fail)], "admin"), namespace="admin")),
]
handler500 = "crowdgrade.rest.handlers.handle_server_error"


@pytest.fixture
def log(monkeypatch):
    """What the handler of the settings writes."""
    written = io.StringIO()
    handler = next(
        one for one in logging.getLogger().handlers if isinstance(one.formatter, RequestFormatter)
    )
    monkeypatch.setattr(handler, "stream", written)
    return written


@pytest.mark.parametrize("address", ["/admin/any/", "/take-part/any/"])
@override_settings(ROOT_URLCONF=__name__)
def test_an_unforeseen_error_of_a_page_is_logged_once_with_the_id_of_its_answer(log, db, address):
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.create_user("rana", is_staff=True))
    page = client.get(address, headers={HEADER: "chosen-by-a-client"})
    assert page.status_code == 500
    assert LINE.findall(log.getvalue()) == [page[HEADER]]
    assert "LookupError: swordfish" in log.getvalue()
    assert f'data-request-id="{page[HEADER]}"' in page.content.decode()
    assert "swordfish" not in page.content.decode()


@pytest.mark.parametrize(("number", "status"), [("taken", 409), ("gone", 404)])
@override_settings(ROOT_URLCONF=__name__)
def test_who_was_overtaken_gets_no_error_of_the_site_and_the_cause_is_logged(
    log, db, monkeypatch, number, status
):
    monkeypatch.setattr(outage_page, "render_to_string", lambda name: name)
    page = Client().post(f"/race/{number}")
    assert (page.status_code, page.content.decode()) == (status, f"{status}.html")
    assert f"[{page[HEADER]}]" in log.getvalue()
    assert "Traceback" in log.getvalue()


def test_each_request_has_an_id_and_an_error_while_sending_has_it_too(rf: RequestFactory):
    def lines():
        yield b"1"
        logging.getLogger("waitress").error("broke")

    answer = RequestIdMiddleware(lambda request: StreamingHttpResponse(lines()))
    first, second = answer(rf.get("/")), answer(rf.get("/"))
    assert first[HEADER] != second[HEADER]
    record = logging.LogRecord("waitress", logging.ERROR, "", 0, "broke", (), None)
    assert f"ERROR [{second[HEADER]}] waitress: broke" in RequestFormatter().format(record)
    request_id.set("")
    assert RequestFormatter().format(record) == "broke"


@override_settings(ROOT_URLCONF="crowdgrade.urls")
def test_an_address_that_is_not_there_is_no_line(log, db, client):
    assert client.get("/nothing/").status_code == 404
    assert log.getvalue() == ""
    assert settings.MIDDLEWARE[0] == "crowdgrade.request_log.RequestIdMiddleware"


def format_json(**values):
    record = logging.LogRecord("waitress", logging.ERROR, "", 0, "broke %s", ("once",), None)
    vars(record).update(values)
    return json.loads(JsonFormatter().format(record))


def test_json_records_have_the_ids_of_request_and_run_and_one_line():
    request_id.set("")
    run_id.set("")
    assert {"request_id", "run_id"} & set(format_json()) == set()
    request_id.set("0123456789abcdef")
    run_id.set("a-run")
    try:
        raise LookupError("sword\nfish")
    except LookupError:
        found = format_json(exc_info=sys.exc_info())
    finally:
        request_id.set("")
        run_id.set("")
    assert (found["level"], found["logger"], found["message"]) == (
        "ERROR",
        "waitress",
        "broke once",
    )
    assert (found["request_id"], found["run_id"]) == ("0123456789abcdef", "a-run")
    assert "LookupError: sword" in found["exception"]


def test_a_task_carries_the_id_of_its_request_to_the_process_that_works_on_it():
    app = Celery("there", broker="memory://", set_as_current=False)
    app.conf.task_always_eager = False
    request_id.set("0123456789abcdef")
    sent = {}
    with app.connection_for_write() as broker:
        consumer = broker.SimpleQueue("celery")
        app.send_task("any.task")
        message = consumer.get(timeout=5)
        sent = message.headers
        message.ack()
    assert sent["request_id"] == "0123456789abcdef"
    # Celery makes the message's headers attributes of the task's request.
    request_id.set("")
    run_id.set("the run before")
    set_id_from_task(Context(sent))
    assert (request_id.get(), run_id.get()) == ("0123456789abcdef", "")
    for forged in ("x" * 16, 7, None):
        set_id_from_task(Context({"request_id": forged}))
        assert request_id.get() == ""


def test_a_run_is_in_the_records_of_its_turn(db, monkeypatch):
    version = crowd.version(crowd.user("rana", is_staff=True))
    run = Run.objects.create(owner=version.question_set.owner, version=version)
    seen = []

    def compute(turn):
        seen.append(run_id.get())

    monkeypatch.setattr(work, "get_run_kind", lambda run: SimpleNamespace(run=compute))
    assert work.work_one_turn()
    assert seen == [str(run.public_id)]
