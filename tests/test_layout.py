"""The house rules that a tool can check."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.features import FEATURES

ROOT = Path(__file__).resolve().parents[1]
LONGEST_MODULE = 500


def tracked_python_files() -> list[Path]:
    return [
        path
        for folder in ("annotations", "evaluation", "platform", "tests", "templates")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "migrations" not in path.parts
    ]


def run_in_root(code: str) -> subprocess.CompletedProcess[str]:
    # A fresh interpreter whose sys.path starts with the root, as for `python -m` and manage.py:
    # pytest imported the real `platform` long ago and would not notice that it is hidden.
    environment = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "PYTHONSAFEPATH"}}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True
    )


def test_the_folder_platform_does_not_hide_pythons_module_of_that_name():
    result = run_in_root(
        "import sys, platform, uuid; assert sys.path[0] == '';"
        "print(platform.python_implementation(), uuid.uuid4())"
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("CPython")


def test_manage_py_starts_with_the_real_platform_module():
    code = (
        "import runpy, sys; sys.argv = ['manage.py', 'version'];"
        "runpy.run_path('manage.py', run_name='__main__')"
    )
    result = run_in_root(
        "import platform;"
        + code.replace("runpy.run_path", "assert platform.machine(); runpy.run_path")
    )
    assert result.returncode == 0, result.stderr


def test_platform_holds_no_python_file_directly():
    assert list((ROOT / "platform").glob("*.py")) == []


def test_no_test_folder_is_called_platform():
    assert not (ROOT / "tests" / "platform").exists()


def test_methods_import_without_django_torch_or_pandas():
    evaluation = ROOT / "evaluation"
    places = ("**/methods/*.py", "**/methods.py", "consensus/*.py")
    files = [path for place in places for path in sorted(evaluation.glob(place))]
    modules = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in files]
    assert modules
    code = (
        f"import sys, {', '.join(modules)}; from evaluation.consensus import *; assert AQER().fit;"
        "loaded = {'django', 'torch', 'pandas', 'sklearn'} & set(sys.modules);"
        "assert not loaded, loaded"
    )
    result = run_in_root(code)
    assert result.returncode == 0, result.stderr


def test_the_tests_that_the_makefile_runs_on_postgresql_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    names = re.search(r"^ON_POSTGRES := ((?:.*\\\n)*.*)", makefile, re.MULTILINE).group(1)
    paths = names.replace("\\", " ").split()
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / "tests" / path).exists()] == []


def test_no_module_is_longer_than_five_hundred_lines():
    too_long = {
        str(path.relative_to(ROOT)): count
        for path in tracked_python_files()
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST_MODULE
    }
    assert too_long == {}


def test_every_feature_is_among_those_whose_layers_are_checked():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    checked = [one for one in settings["contracts"] if one["name"].startswith("Within a feature")]
    assert sorted(checked[0]["containers"]) == [f"evaluation.{name}" for name in FEATURES]


def test_the_top_level_is_the_one_agreed_on():
    allowed = {
        "manage.py",
        "pyproject.toml",
        "platform",
        "annotations",
        "evaluation",
        "templates",
        "tests",
        "README.md",
        "Makefile",
        "CITATION.cff",
        "LICENSE",
    }
    listing = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout
    found = {line.split("/")[0] for line in listing.splitlines()}
    assert {name for name in found if not name.startswith(".")} <= allowed
