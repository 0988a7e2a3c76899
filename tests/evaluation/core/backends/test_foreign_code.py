"""A model that brings code of its own is refused at once: nothing is asked, and nothing is run."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
# What a class of the folder does as soon as it is imported.
CODE = """
from pathlib import Path
Path(__file__).with_name("was-run").touch()
from transformers import BertConfig, BertForSequenceClassification, BertModel
class Ours(BertConfig):
    model_type = "ours"
class Head(BertForSequenceClassification):
    config_class = Ours
class Body(BertModel):
    config_class = Ours
"""
LOADERS = {
    "nli": "from evaluation.core.backends.cross_encoder import EntailmentModel as M; "
    "M.load(FOLDER)",
    "reranker": "from evaluation.core.backends.cross_encoder import Reranker as M; M.load(FOLDER)",
    "embedder": "from evaluation.core.backends.embedding import sentences as M; "
    "M.load_sentence_model(FOLDER)",
}


@pytest.fixture(scope="module")
def folder(tiny_model, tmp_path_factory):
    """A model that only its own code can load."""
    made = tmp_path_factory.mktemp("foreign") / "model"
    shutil.copytree(tiny_model, made)
    config = json.loads((made / "config.json").read_text())
    config |= {
        "model_type": "ours",
        "auto_map": {
            "AutoConfig": "ours.Ours",
            "AutoModel": "ours.Body",
            "AutoModelForSequenceClassification": "ours.Head",
        },
    }
    (made / "config.json").write_text(json.dumps(config))
    (made / "ours.py").write_text(CODE)
    return made


@pytest.mark.long
@pytest.mark.parametrize("loader", LOADERS)
def test_a_model_with_code_of_its_own_is_refused_and_nobody_is_asked(folder, loader, tmp_path):
    code = (
        "from evaluation.core.backends import BackendError\n"
        f"FOLDER = {str(folder)!r}\n"
        f"try:\n    {LOADERS[loader]}\n"
        "except BackendError as error:\n    print('REFUSED', error.code)\n"
    )
    # Somebody who would say yes to every question.
    said = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)},
        input="y\n" * 100,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "REFUSED own_code" in said.stdout, said.stderr
    assert "[y/N]" not in said.stdout + said.stderr
    assert not list(tmp_path.rglob("was-run"))
    assert not list(folder.rglob("was-run"))
