"""`python -m tests.attack`: attack an installation of its own on this machine, print the table.

Exit code 1: something does not hold. `--write` puts the table into platform/docs/SECURITY.md.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from tests.attack.declaration import Attack, Finding, Scale, attacks
from tests.attack.report import table, write
from tests.attack.site import Site

DOCUMENT = Path(__file__).resolve().parents[2] / "platform/docs/SECURITY.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the attacks that were chosen; returns the exit code."""
    every = attacks()
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer of each, some minutes in all")
    parser.add_argument("--only", nargs="+", choices=list(every), metavar="NAME")
    parser.add_argument("--seed", type=int, default=0, help="of everything that is drawn")
    parser.add_argument("--write", action="store_true", help="their rows into SECURITY.md")
    chosen = parser.parse_args(arguments)
    names = chosen.only or list(every)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        found = attacked(
            Path(folder), {name: every[name] for name in names}, chosen.quick, chosen.seed
        )
    minutes = (time.monotonic() - began) / 60
    today = date.today()
    rows = table(found, every, f"{today}, quick" if chosen.quick else f"{today}")
    print(rows)
    if chosen.write:
        only = f' ONLY="{" ".join(names)}"' if chosen.only else ""
        how = f"`make attack{' QUICK=1' if chosen.quick else ''}{only}`, seed {chosen.seed}"
        write(DOCUMENT, rows, today, f"{how}, {minutes:.0f} minutes on two cores", every)
    missed = [
        f"{name}: {one.what}: {one.figure}, must be {one.claim}"
        for name, findings in found.items()
        for one in findings
        if not one.met
    ]
    for line in missed:
        print(line, file=sys.stderr)
    print(f"{len(names)} attacks, {minutes:.1f} minutes, {len(missed)} findings", file=sys.stderr)
    return 1 if missed else 0


def attacked(
    folder: Path, chosen: dict[str, Attack], quick: bool, seed: int
) -> dict[str, list[Finding]]:
    """Return what each attack met; sites live in the folder and are ended."""
    found: dict[str, list[Finding]] = {}
    filled = Site(folder / "shared")
    filled.fill()
    # Those that share a site come first: copies for the others are made before it is started.
    alone = {
        name: filled.copy(folder / name, dict(attack.environment))
        for name, attack in chosen.items()
        if attack.alone
    }
    together = [name for name, attack in chosen.items() if not attack.alone]
    for sites, names in [(dict.fromkeys(together, filled), together), (alone, list(alone))]:
        running: Site | None = None
        try:
            for name in names:
                if sites[name] is not running:
                    if running is not None:
                        running.close()
                    running = sites[name]
                    running.start()
                print(f"{name} ...", file=sys.stderr, flush=True)
                scale = Scale(quick, random.Random(f"{seed}/{name}"))
                found[name] = told(chosen[name], running, scale)
        finally:
            if running is not None:
                running.close()
    return {name: found[name] for name in chosen}


def told(attack: Attack, site: Site, scale: Scale) -> list[Finding]:
    """Return what an attack met; one that broke off is a finding, and so is a site that is down."""
    try:
        findings = attack.run(site, scale)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        findings = [Finding("the attack itself", reason, "runs to its end", met=False)]
    up = site.answers()
    return [*findings, Finding("the site afterwards", "up" if up else "down", "up", up)]


if __name__ == "__main__":
    sys.exit(main())
