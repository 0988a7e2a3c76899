"""Rana owns a graded set whose texts are all marked; Otto is another requester, Ida an operator."""

from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from rest_framework.throttling import SimpleRateThrottle

from annotations.exchange.importing import import_answers, import_passages, import_questions
from annotations.models import QuestionSet
from evaluation.consensus.parameters import AqerParameters
from evaluation.models import Run
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.imports import import_model_answers
from tests.desk.replay import replay_rows

MARK = "xyzzy"
"""Stands in every text and name of Rana's; nobody else may ever read it."""

# Would run, or end its attribute, wherever it is not escaped.
NASTY = f"{MARK} \"'><script>alert(1)</script> {{{{ 7*7 }}}} ${{7*7}}"


@pytest.fixture(autouse=True)
def own_home(settings, tmp_path, monkeypatch):
    """Uploads go into a folder of the test's, and no bell rings."""
    settings.HOME = tmp_path / "home"
    settings.UPLOADS = settings.HOME / "uploads"
    # The real one takes half a second a user.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # No test is too fast for the API.
    rates = dict.fromkeys(SimpleRateThrottle.THROTTLE_RATES, "100000/minute")
    monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", rates)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    return settings.HOME


@pytest.fixture
def rana(db):
    return User.objects.create_user("rana", password="rivers-and-lakes", is_staff=True)


@pytest.fixture
def otto(db):
    return User.objects.create_user("otto", password="rivers-and-lakes", is_staff=True)


@pytest.fixture
def ida(db):
    return User.objects.create_superuser("ida", password="rivers-and-lakes")


def csv_of(*rows):
    return "\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows)


def import_world(question_set, folder, mark=MARK):
    """Two questions about a passage, three workers, one model; `mark` stands in all of it."""
    nasty = NASTY.replace(MARK, mark)
    files = {
        import_passages: [["passage", "text"], ["p1", f"Passage {nasty}"]],
        import_questions: [
            ["question", "text", "passage"],
            ["q1", f"Where does it begin? {nasty}", "p1"],
            ["q2", f"Where does it end? {nasty}", "p1"],
        ],
        import_answers: [
            ["worker", "question", "answer"],
            *(
                [f"{mark}-{who}", question, f"{text} {nasty}"]
                for who, text in (("ada", "in the hills"), ("ben", "in hills"), ("cy", "no idea"))
                for question in ("q1", "q2")
            ),
        ],
        import_model_answers: [
            ["model", "question", "answer"],
            [f"{mark}-model", "q1", f"in the hills {nasty}"],
            [f"{mark}-model", "q2", f"somewhere {nasty}"],
        ],
    }
    for load, rows in files.items():
        path = folder / f"{load.__name__}.csv"
        path.write_text(csv_of(*rows), encoding="utf-8")
        load(question_set, path)


def graded_set(owner, folder, mark=MARK):
    """A set of that owner's, its version and its finished run."""
    set_id, run_id = replay_rows((owner.pk, mark), lambda: make_graded_set(owner, folder, mark))
    question_set = QuestionSet.objects.get(pk=set_id)
    run = Run.objects.get(pk=run_id)
    assert run.state == Run.State.DONE, run.error
    return SimpleNamespace(set=question_set, version=question_set.latest_version(), run=run)


def make_graded_set(owner, folder, mark):
    """Make a question set, grade it, and return the keys of the set and the run."""
    question_set = QuestionSet.objects.create(
        owner=owner,
        name=f"Rivers {mark}",
        notice=f"Notice {mark}",
        description=NASTY.replace(MARK, mark),
    )
    import_world(question_set, folder, mark)
    parameters = AqerParameters(embedder="bow", bootstrap=0)
    run = runs.queue_run(question_set.latest_version(), owner.pk, parameters)
    assert work_one_turn()
    return question_set.pk, run.pk


@pytest.fixture
def world(rana, otto, ida, tmp_path):
    """The users, Rana's set, its version and its finished run."""
    return SimpleNamespace(rana=rana, otto=otto, ida=ida, **vars(graded_set(rana, tmp_path)))
