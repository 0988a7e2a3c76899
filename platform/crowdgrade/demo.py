"""Demo site: its own folder and database, with invented workers and a real grading run."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction

from annotations import demo
from annotations.exchange.importing import import_answers, import_passages, import_questions
from annotations.models import QuestionSet
from crowdgrade.checks import DEMO_MARK
from crowdgrade.home import create_private_folder
from evaluation.models import LanguageModel, Run
from evaluation.runs.background.leases import wake_process_on_commit
from evaluation.runs.imports import import_model_answers

USERNAME = "demo"
LOGIN_FILE = "login"
SET_NAME = "Demo: tides and the telegraph"


def build_demo_environment() -> dict[str, str]:
    """Return the demo's environment variables: its own folder, database and broker."""
    # These are the real site's: with its DATABASE_URL the demo would write into its database.
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DATABASE_URL", "CELERY_BROKER_URL", "SECRET_KEY", "ALLOWED_HOSTS", "HTTPS")
    }
    home = str(settings.DEMO_HOME)
    return {**inherited, "CROWDGRADE_HOME": home, "CROWDGRADE_DEMO_HOME": home}


def prepare_demo_home() -> Path:
    """Create the demo's folder (mode 700), marked for serving only this machine; return it."""
    home = create_private_folder(settings.HOME)
    home.chmod(0o700)
    (home / DEMO_MARK).touch(mode=0o600)
    return home


def ensure_demo_user(home: Path) -> None:
    """Create the demo's user if needed; the random password is stored in a private file."""
    users = get_user_model()._default_manager
    if users.filter(username=USERNAME).exists():
        return
    # The file is written first: an account without it would have an unknown password.
    password = secrets.token_urlsafe(12)
    with open(home / LOGIN_FILE, "w", opener=_open_private, encoding="utf-8") as file:
        file.write(f"username: {USERNAME}\npassword: {password}\n")
    get_user_model().objects.create_superuser(username=USERNAME, password=password)


def read_demo_password(home: Path) -> str | None:
    """Return the demo user's initial password; None if its file is gone."""
    try:
        lines = (home / LOGIN_FILE).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((line.partition(": ")[2] for line in lines if line.startswith("password: ")), None)


def _open_private(path: str, flags: int) -> int:
    """Open a file with mode 600, with any umask (an opener for `open`)."""
    handle = os.open(path, flags, 0o600)
    # The mode of `open` is used only for a new file, not for one that is there already.
    os.fchmod(handle, 0o600)
    return handle


@transaction.atomic
def load_demo() -> QuestionSet:
    """Import the demo's texts and answers, keeping existing rows; return the question set."""
    owner = get_user_model()._default_manager.get(username=USERNAME)
    question_set, _ = QuestionSet.objects.get_or_create(
        owner=owner, name=SET_NAME, defaults={"notice": demo.LABEL, "language": "en"}
    )
    if not question_set.versions.exists():
        import_passages(question_set, demo.PASSAGES)
        import_questions(question_set, demo.QUESTIONS)
    import_answers(question_set, demo.ANSWERS)
    import_model_answers(question_set, demo.MODEL_ANSWERS)
    # Only models with recorded answers; a model that a user registered has a `spec`.
    recorded = LanguageModel.objects.filter(owner=owner, notice="", spec="")
    recorded.update(notice=demo.MODEL_LABEL)
    return question_set


@transaction.atomic
def ensure_demo_run(question_set: QuestionSet) -> Run:
    """Return the newest run that is queued, running or done; queue a run if there is none."""
    version = question_set.latest_version()
    assert version is not None
    usable = (Run.State.QUEUED, Run.State.RUNNING, Run.State.DONE)
    run = Run.objects.filter(version=version, state__in=usable).order_by("-pk").first()
    if run is None:
        run = Run.objects.create(owner=question_set.owner, version=version)
        wake_process_on_commit()
    return run
