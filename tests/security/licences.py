"""The licences of what a running site needs, as pip-licenses reads them, and what was judged."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HEAD = "| licence | packages | verdict |\n|---|---|---|\n"


def needed(package: str, extras: frozenset[str] = frozenset()) -> set[str]:
    """Return all that a package needs here with some of its extras, by canonical names."""
    found: set[str] = set()
    waiting = [(package, extras)]
    seen = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        try:
            lines = requires(name) or []
        except PackageNotFoundError:  # of another system
            continue
        found.add(canonicalize_name(name))
        for line in lines:
            one = Requirement(line)
            environments = [{"extra": extra} for extra in (wanted or {""})]
            if one.marker is None or any(map(one.marker.evaluate, environments)):
                waiting.append((one.name, frozenset(one.extras)))
    return found - {canonicalize_name(package)}


def licences_of(packages: set[str]) -> dict[str, str]:
    """Return what pip-licenses says of each, by canonical names; others are left out."""
    command = [sys.executable, "-m", "piplicenses", "--format=json", "--with-system"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    every = {canonicalize_name(one["Name"]): one["License"] for one in json.loads(said)}
    return {name: every[name] for name in sorted(packages & every.keys())}


def parts_of(licence: str) -> list[str]:
    """Return the single licences of an expression, or of several classifiers."""
    return [
        part.strip("() ") if part.count("(") != part.count(")") else part.strip()
        for part in re.split(r" AND | OR |; ", licence)
    ]


def known_names(verdicts: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the name of the verdict for each name that packages write."""
    return {
        called: one["name"] for one in verdicts for called in (one["name"], *one.get("called", ()))
    }


def unjudged(licences: Mapping[str, str], verdicts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the packages with a licence that nobody judged."""
    known = known_names(verdicts)
    return [
        f"{name}: {licence}"
        for name, licence in licences.items()
        if any(part not in known for part in parts_of(licence))
    ]


def table(licences: Mapping[str, str], verdicts: Sequence[Mapping[str, Any]]) -> str:
    """Return the verdicts with the packages of each as Markdown; one may stand in several rows."""
    known = known_names(verdicts)
    of: dict[str, list[str]] = {one["name"]: [] for one in verdicts}
    for name, licence in licences.items():
        for judged in dict.fromkeys(known[part] for part in parts_of(licence)):
            of[judged].append(name)
    return HEAD + "".join(
        f"| {one['name']} | {', '.join(of[one['name']])} | {one['verdict']} |\n"
        for one in verdicts
        if of[one["name"]]
    )
