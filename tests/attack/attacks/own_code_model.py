"""A model whose configuration asks for program code of its own to be run."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx

from tests.attack.declaration import Attack, Finding, Scale, exactly
from tests.attack.site import Site
from tests.evaluation.runs.background.scratch import wait_until

CODE = "from pathlib import Path\nPath(__file__).with_name('was-run').touch()\n"
NAMES = ("AutoConfig", "AutoModel", "AutoTokenizer", "AutoModelForSequenceClassification")


def run(site: Site, scale: Scale) -> list[Finding]:
    """Grade with it, as an operator: entailment and embedding."""
    folder = site.home / "model"
    folder.mkdir(exist_ok=True)
    (folder / "ours.py").write_text(CODE)
    wants = dict.fromkeys(NAMES, "ours.It")
    (folder / "config.json").write_text(json.dumps({"model_type": "ours", "auto_map": wants}))
    (folder / "modules.json").write_text(
        json.dumps([{"idx": 0, "name": "0", "path": "", "type": "ours.It"}])
    )
    api, findings = site.api("operator"), []
    for what, parameters in (
        ("entailment", {"embedder": "tfidf-word", "init": "entailment", "nli": str(folder)}),
        ("embedder", {"embedder": f"sentence-transformers:{folder}"}),
    ):
        body = {"question_set": site.people["operator"]["set"], "parameters": parameters}
        started = api.post("runs/", json=body)
        started.raise_for_status()
        address = f"runs/{started.json()['id']}/"
        end = wait_until(lambda address=address: _ended(api, address), 180, "the run ended")
        findings.append(exactly(f"{what}: the run", end["state"], "failed"))
        told = str(folder) in str(end["error"])
        findings.append(exactly(f"{what}: the reason names the model", told, True))
    ran = list(site.home.rglob("was-run"))
    findings.append(exactly("code that was run", len(ran), 0))
    return findings


def _ended(api: httpx.Client, address: str) -> dict[str, Any] | None:
    time.sleep(1)
    run: dict[str, Any] = api.get(address).json()
    return run if run["state"] in ("done", "failed", "cancelled") else None


ATTACK = Attack("own-code-model", "a model that wants code of its own run (auto_map)", run)
