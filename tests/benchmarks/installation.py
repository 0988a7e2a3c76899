"""Case: how large an installation is, and, on request, how long `make install` takes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.benchmarks.results import (
    FailedError,
    Figure,
    Findings,
    SkippedError,
    figure,
    timed,
)
from tests.benchmarks.timing import Timing, elapsed

PROJECT = "crowdgrade"
MEGABYTE = 1e6
SHOWN = 10
RUNNING = "what running needs"


def installed(root: Path, *, fresh: bool) -> Findings:
    """Measure this environment by package; with `fresh` also a new one, made by `make install`.

    `root` is the checkout.
    """
    sizes = {name: package_size(name) for name in sorted(needed(PROJECT))}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:SHOWN]
    rows = [
        figure(RUNNING, f"{len(sizes)} packages", sum(sizes.values()) / MEGABYTE, "MB"),
        *(figure(RUNNING, name, sizes[name] / MEGABYTE, "MB") for name in largest),
        figure(
            "this environment",
            "all, test and benchmark tools included",
            folder_size(Path(sys.prefix)) / MEGABYTE,
            "MB",
        ),
    ]
    if fresh:
        rows += _fresh(root)
        return Findings(rows)
    return Findings(rows, ["the time of `make install` is measured with --install"])


def needed(project: str) -> set[str]:
    """Return the installed packages that a project needs to run, itself and extras of none."""
    found: set[tuple[str, str]] = set()
    waiting = [(canonicalize_name(project), "")]
    while waiting:
        name, extra = entry = waiting.pop()
        if entry in found:
            continue
        try:
            wants = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        found.add(entry)
        for requirement in map(Requirement, wants):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                needs = canonicalize_name(requirement.name)
                waiting += [(needs, wanted) for wanted in ("", *requirement.extras)]
    return {name for name, _ in found}


def package_size(name: str) -> int:
    """Return the bytes of the files that belong to an installed package."""
    files = metadata.distribution(name).files or []
    paths = (Path(str(file.locate())) for file in files)
    return sum(path.lstat().st_size for path in paths if path.is_file())


def folder_size(folder: Path) -> int:
    """Return the bytes of all files in a folder; links count as themselves."""
    return sum(path.lstat().st_size for path in _files(folder))


def _files(folder: Path) -> Iterator[Path]:
    for where, _, names in os.walk(folder):
        yield from (Path(where) / name for name in names)


def _fresh(root: Path) -> list[Figure]:
    make = shutil.which("make")
    if make is None:
        raise SkippedError("there is no make here")
    with tempfile.TemporaryDirectory(prefix="crowdgrade-install-") as place:
        environment = Path(place) / "venv"
        command = [make, "install", f"VENV={environment}", f"PYTHON={sys.executable}"]

        def install() -> None:
            done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["no message"])[-1]
                raise FailedError(f"make install ended with {done.returncode}: {last}")

        setting = "make install in a new folder"
        return [
            timed(setting, "time, packages as pip finds them", Timing([elapsed(install)])),
            figure(setting, "size", folder_size(environment) / MEGABYTE, "MB"),
        ]
