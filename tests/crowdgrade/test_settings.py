"""Settings are read in a fresh interpreter: they are read once a process."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MPNET = "all-mpnet-base-v2"
NAMES = ("DATABASE_URL", "SECRET_KEY", "DEBUG", "HTTPS", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS")


def python(home: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if k not in NAMES}
    places = {
        "CROWDGRADE_HOME": str(home),
        "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}",
        "DJANGO_SETTINGS_MODULE": "crowdgrade.settings",
    }
    return subprocess.run(
        [sys.executable, "-c", f"import django; django.setup(); {code}"],
        env=kept | places | environment,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )


def manage(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if k not in NAMES}
    return subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        env=kept | {"CROWDGRADE_HOME": str(home)},
        capture_output=True,
        text=True,
        cwd=ROOT,
    )


@pytest.mark.long
def test_networks_variables_of_keys_and_offered_models_are_read_and_loud_on_a_bad_value(tmp_path):
    code = "from django.conf import settings as s; print(s.MODEL_NETWORKS, s.KEY_VARIABLES)"
    assert python(tmp_path, code).stdout.split("]")[0] == "['127.0.0.0/8', '::1/128'"
    given = {"CROWDGRADE_MODEL_NETWORKS": "10.1.2.0/24", "CROWDGRADE_KEY_VARIABLES": "A*@b.org, C"}
    assert python(tmp_path, code, **given).stdout.strip() == "['10.1.2.0/24'] ['A*@b.org', 'C']"
    none = python(tmp_path, code, CROWDGRADE_MODEL_NETWORKS="none")
    assert none.stdout.strip() == "[] []"
    code = "from django.conf import settings as s; print(*sorted(s.OFFERED_MODELS))"
    assert python(tmp_path, code).stdout.split()[0] == MPNET
    assert python(tmp_path, code, CROWDGRADE_MODELS="none").stdout.strip() == ""
    assert python(tmp_path, code, CROWDGRADE_MODELS="b, team/a").stdout.strip() == "b team/a"
    for name, value in (
        ("MODEL_NETWORKS", "home"),
        ("KEY_VARIABLES", "A B"),
        ("KEY_VARIABLES", "*"),
        ("MODELS", f"{MPNET}, /srv/models/mine"),
        ("MODELS", "../mine"),
    ):
        bad = python(tmp_path, code, **{f"CROWDGRADE_{name}": value})
        assert f"CROWDGRADE_{name} holds" in bad.stderr


@pytest.mark.long
def test_https_promises_a_proxy_and_is_all_that_a_site_behind_one_needs(tmp_path):
    code = (
        "from django.conf import settings as s; from django.core.management import call_command; "
        "print(s.PROXIES, s.CSRF_COOKIE_SECURE, s.SECURE_HSTS_SECONDS); "
        "call_command('check', deploy=True, fail_level='WARNING')"
    )
    live = {"HTTPS": "yes", "ALLOWED_HOSTS": "survey.example.org"}
    told = python(tmp_path, code, **live)
    assert told.stdout.splitlines()[0] == "1 True 31536000"
    assert "no issues" in told.stdout, told.stderr
    assert python(tmp_path, code, PROXIES="2", **live).stdout.split()[0] == "2"
    assert python(tmp_path, code).stdout.split()[:3] == ["0", "False", "0"]


@pytest.mark.long
def test_commands_that_need_no_database_leave_nothing_behind(tmp_path):
    home = tmp_path / "var"
    for arguments in (["check"], ["help"], ["record_demo", "--help"]):
        result = manage(home, *arguments)
        assert result.returncode == 0, result.stderr
    answers = ROOT / "annotations" / "demo" / "answers.csv"
    how = ["--embedder", "tfidf-char", "--bootstrap", "0", "--output", str(tmp_path / "out")]
    result = manage(home, "evaluate", "aqer", str(answers), *how)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "out" / "workers.csv").exists()
    assert not home.exists()


@pytest.mark.long
def test_the_first_migration_makes_a_private_database_in_wal_mode(tmp_path):
    home = tmp_path / "var"
    result = manage(home, "migrate")
    assert result.returncode == 0, result.stderr
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE((home / "crowdgrade.sqlite3").stat().st_mode) == 0o600
    pragmas = "[c.execute(f'PRAGMA {p}').fetchone()[0] for p in ('journal_mode', 'synchronous')]"
    code = f"from django.db import connection; c = connection.cursor(); print({pragmas})"
    assert python(home, code).stdout == "['wal', 2]\n"


@pytest.mark.long
def test_the_secret_key_is_made_when_it_is_first_used_and_kept(tmp_path):
    home = tmp_path / "var"
    code = "from django.core.signing import dumps, loads; from django.conf import settings;"
    first = python(home, code + "print(dumps('x'))")
    assert first.returncode == 0, first.stderr
    assert stat.S_IMODE((home / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in home.iterdir()] == ["secret_key"]
    again = python(home, code + f"print(loads({first.stdout.strip()!r}), len(settings.SECRET_KEY))")
    assert again.stdout == "x 64\n"


@pytest.mark.long
def test_processes_that_start_together_get_the_same_key(tmp_path):
    code = (
        "from multiprocessing.pool import ThreadPool; from pathlib import Path;"
        "from crowdgrade.home import load_secret_key;"
        f"print(len(set(ThreadPool(8).map(load_secret_key, [Path({str(tmp_path / 'v')!r})] * 40))))"
    )
    assert python(tmp_path, code).stdout == "1\n"


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CROWDGRADE_HOME", "here"),
        ("DATABASE_URL", "mysql://u:hush@h/db"),
        ("DATABASE_URL", "postgresql://u:hush@h:port/db"),
        ("DATABASE_URL", "postgresql://u:hush@h"),
        ("DATABASE_URL", "sqlite:///here.sqlite3"),
        ("SECRET_KEY", "hush"),
        ("DEBUG", "maybe"),
        ("HTTPS", "2"),
        ("CSRF_TRUSTED_ORIGINS", "example.org"),
        ("OPENID_CLIENT_SECRET", "hush"),
        ("PASSWORD_SIGN_IN", "no"),
        ("REQUIRE_SECOND_FACTOR", "yes"),
    ],
)
def test_a_bad_value_stops_the_start_with_its_name_and_shows_no_secret(tmp_path, name, value):
    result = python(tmp_path, "pass", **{name: value})
    last = result.stderr.strip().splitlines()[-1]
    assert result.returncode != 0
    assert last.startswith("django.core.exceptions.ImproperlyConfigured: " + name)
    assert "hush" not in result.stderr


@pytest.mark.long
def test_a_command_refuses_a_bad_value_in_one_line(tmp_path):
    kept = {k: v for k, v in os.environ.items() if k not in NAMES}
    refused = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "check"],
        env=kept | {"CROWDGRADE_HOME": str(tmp_path), "OPENID_CLIENT_ID": "crowdgrade"},
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert refused.returncode == 1
    assert refused.stderr.startswith("Error: OPENID_CLIENT_ID ")
    assert len(refused.stderr.splitlines()) == 1


@pytest.mark.slow
def test_values_are_read(tmp_path):
    result = python(
        tmp_path,
        "from django.conf import settings as s; d = s.DATABASES['default'];"
        "print(d['ENGINE'], d['NAME'], d['PORT']);"
        "print(s.DEBUG, s.ALLOWED_HOSTS, s.SESSION_COOKIE_SECURE)",
        DATABASE_URL="postgresql://u:p%40ss@db.example.org:6543/crowd",
        ALLOWED_HOSTS="a.example.org, b.example.org",
        DEBUG="no",
        HTTPS="Yes",
    )
    assert result.stdout == (
        "django.db.backends.postgresql crowd 6543\nFalse ['a.example.org', 'b.example.org'] True\n"
    )


@pytest.mark.long
def test_an_empty_variable_counts_as_not_set(tmp_path):
    code = "from django.conf import settings as s; print(s.DEBUG, s.ALLOWED_HOSTS[0])"
    result = python(tmp_path, code, **dict.fromkeys(NAMES, ""))
    assert result.stdout == "False localhost\n"
