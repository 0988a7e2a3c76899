"""`make local-model`: the packaged model is served, registered, and asked by a run, offline."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from django.core.management import CommandError, call_command

from crowdgrade.management.commands.local_model import STOPPED
from evaluation.core.backends.chat.smollm2 import MODEL
from evaluation.models import LanguageModel
from evaluation.runs.steps.asking.registration import NAME, register_local_model
from tests.annotations import world as crowd
from tests.evaluation.core.backends.chat.fake import fake_chat, needs_packaged_model
from tests.evaluation.runs.background.scratch import Scratch, wait_until

ROOT = Path(__file__).resolve().parents[2]

SEED = """
from django.contrib.auth.models import User
from annotations.models import Question, QuestionSet
owner = User.objects.create(username="rana", is_staff=True)
version = QuestionSet.objects.create(owner=owner, name="rivers").draft()
for n, text in enumerate(("Where does a river end?", "What colour is grass?")):
    Question.objects.create(version=version, external_id=f"r{n}", position=n, text=text)
result = version.pk
"""
START = """
from annotations.models import QuestionSetVersion
from evaluation.runs.background.runs import queue_run
from evaluation.runs.flow.asking.options import AskOptions
from evaluation.models import LanguageModel
version = QuestionSetVersion.objects.get()
(model,) = LanguageModel.objects.all()
options = AskOptions(models=(str(model.public_id),), max_tokens=12)
result = queue_run(version, version.question_set.owner_id, options, "ask").pk
"""
ANSWERS = """
from evaluation.models import LanguageModel, LLMResponse, Run
run = Run.objects.get(pk=RUN)
result = [run.state, run.error, [[r.status, r.text, r.extra.get("completion_tokens"),
    r.raw.reply["model"]] for r in LLMResponse.objects.select_related("raw")],
    list(LanguageModel.objects.values_list("name", "spec"))]
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.mark.django_db
def test_everybody_who_may_have_models_asked_has_it_once_at_its_latest_address():
    rana, _walter = crowd.user("rana", is_staff=True), crowd.user("walter")
    olga = crowd.user("olga", is_superuser=True)
    for port in (8081, 8081, 9000):
        assert register_local_model(f"http://127.0.0.1:{port}") == ["rana", "olga"]
    assert LanguageModel.objects.count() == 2
    for owner in (rana, olga):
        model = LanguageModel.objects.get(owner=owner)
        assert (model.name, model.spec) == (NAME, f"openai:{MODEL}@http://127.0.0.1:9000/v1")


@pytest.mark.django_db
def test_a_port_that_something_else_has_is_refused_with_another_one():
    needs_packaged_model()
    with fake_chat() as other:
        port = other.server.server_port
        with pytest.raises(CommandError, match=f"port {port} .* PORT={port + 1}$"):
            call_command("local_model", "--port", str(port))
    assert not LanguageModel.objects.exists()


@pytest.mark.alone
@pytest.mark.model
def test_a_newcomer_asks_a_real_model_offline(sqlite_home, tmp_path):
    needs_packaged_model()
    site = Scratch(sqlite_home, None, None)
    site.environment["CROWDGRADE_DEMO_HOME"] = str(tmp_path / "demo")
    try:
        site.python(SEED)
        port = free_port()
        served = subprocess.Popen(
            [sys.executable, "manage.py", "local_model", "--port", str(port)],
            cwd=ROOT,
            env=site.environment,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        site.processes.append(served)

        def healthy():
            try:
                return httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200
            except httpx.TransportError:
                return False

        wait_until(healthy, 120, "the model was served")
        # A second one registers anew and leaves the first alone.
        assert "served already" in site.manage("local_model", "--port", str(port))
        run = site.python(START)
        site.start_worker()

        def ended():
            state = site.python(ANSWERS, RUN=run)
            return state if state[0] in ("done", "failed") else None

        state, error, answers, models = wait_until(ended, 120, "the model answered", site.log)
        assert (state, error) == ("done", "")
        assert models == [[NAME, f"openai:{MODEL}@http://127.0.0.1:{port}/v1"]]
        assert len(answers) == 2
        for status, text, tokens, name in answers:
            assert status == "text"
            assert text.strip()
            assert 0 < tokens <= 12
            assert name == MODEL  # and no folder of the server
        os.killpg(served.pid, signal.SIGINT)
        assert STOPPED in served.communicate(timeout=30)[0]
        assert served.returncode == 0
    finally:
        site.close()
