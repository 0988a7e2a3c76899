"""What bandit finds in the product, and what was judged of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PRODUCT = ("annotations", "evaluation", "platform/crowdgrade", "manage.py")
HEAD = "| rule | what it is about | where | verdict |\n|---|---|---|---|\n"

Found = Counter[tuple[str, str]]
"""How many findings of a rule are in a file."""


def found_in(root: Path) -> Found:
    """Let bandit read the product; raises CalledProcessError where it cannot."""
    command = [sys.executable, "-m", "bandit", "-q", "-r", *PRODUCT, "-f", "json", "--exit-zero"]
    said = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    report = json.loads(said)
    if report["errors"]:
        raise ValueError(f"bandit could not read {report['errors']}")
    return Counter((one["test_id"], one["filename"]) for one in report["results"])


def unjudged(found: Found, verdicts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what no verdict is about, and verdicts about what is not there (any more)."""
    everywhere = {one["rule"] for one in verdicts if "where" not in one}
    judged: Found = Counter(
        {(one["rule"], file): n for one in verdicts for file, n in one.get("where", {}).items()}
    )
    counted = Counter({key: n for key, n in found.items() if key[0] not in everywhere})
    rules = {rule for rule, _ in found}
    return [
        *(
            f"{rule} in {file}: {counted[rule, file]} found, {judged[rule, file]} judged"
            for rule, file in sorted(counted.keys() | judged.keys())
            if counted[rule, file] != judged[rule, file]
        ),
        *(f"{rule}: judged, and found nowhere" for rule in sorted(everywhere - rules)),
    ]


def table(verdicts: Sequence[Mapping[str, Any]]) -> str:
    """Return the verdicts as Markdown."""
    rows = []
    for one in verdicts:
        files = one.get("where", {}).items()
        where = ", ".join(f"`{file}`" + (f" ({n})" if n > 1 else "") for file, n in files)
        rows.append(
            f"| {one['rule']} | {one['about']} | {where or 'everywhere'} | {one['verdict']} |\n"
        )
    return HEAD + "".join(rows)
