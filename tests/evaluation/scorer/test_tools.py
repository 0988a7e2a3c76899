"""Exported scorers run by the tools themselves: Inspect, lm-evaluation-harness, datasets.

A server on loopback replies with the answers of a model of the demo, so the tools' results are
those of the run. `CROWDGRADE_SCORER_PYTHON` names another Python with the extra `scorer`.
"""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from annotations import demo
from annotations.exchange import read_model_answers
from tests.evaluation.commands.running import manage
from tests.evaluation.core.backends.chat.fake import Answer, fake_chat, question_of

pytestmark = [pytest.mark.slow, pytest.mark.model]

PYTHON = os.environ.get("CROWDGRADE_SCORER_PYTHON", sys.executable)
# As many as a worker must answer to be ranked, and one more.
ASKED = tuple(f"tides-{number}" for number in range(1, 7))
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TQDM_DISABLE": "1"}


def run_tool(*arguments, cwd, **more):
    environment = {**os.environ, **OFFLINE, **more}
    # The folder needs nothing of this project.
    environment.pop("PYTHONPATH", None)
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    ran = subprocess.run(
        [PYTHON, *map(str, arguments)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-4000:]
    return ran.stdout


def needs(module, package):
    code = f"import importlib.util as u; exit(u.find_spec({module!r}) is None)"
    if subprocess.run([PYTHON, "-c", code]).returncode:
        pytest.skip(f"{package} is not installed")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The demo's answers to six questions, graded, and exported with all formats."""
    folder = tmp_path_factory.mktemp("tools")
    answers, models = folder / "answers.csv", folder / "models.csv"
    for source, target in ((demo.ANSWERS, answers), (demo.MODEL_ANSWERS, models)):
        with source.open(newline="", encoding="utf-8") as read, target.open("w") as write:
            rows = csv.DictReader(read)
            writer = csv.DictWriter(write, rows.fieldnames)
            writer.writeheader()
            writer.writerows(row for row in rows if row["question"] in ASKED)
    asked = ("--questions", demo.QUESTIONS)
    ran = manage(
        *("evaluate", "aqer", answers, "--models", models, *asked),
        *("--bootstrap", 0, "--output", folder / "out"),
    )
    assert ran.code == 0, ran.err
    ran = manage(
        *("export_scorer", folder / "out", "--answers", answers, *asked, "--name", "tides"),
        *("--language", "en", "--licence", "CC-BY-4.0", "--output", folder / "tides"),
    )
    assert ran.code == 0, ran.err
    return folder


@pytest.fixture(scope="module")
def expected(graded):
    """Name, score and facts contradicted of a model, and its answers by the questions' texts."""
    with (graded / "out" / "models.csv").open(newline="") as file:
        model = next(csv.DictReader(file))
    with (graded / "models.csv").open(newline="", encoding="utf-8") as file:
        answers = {
            row["question"]: row["answer"]
            for row in csv.DictReader(file)
            if row["model"] == model["model"]
        }
    texts = [json.loads(line) for line in demo.QUESTIONS.read_text("utf-8").splitlines()]
    replies = {one["text"]: answers[one["id"]] for one in texts if one["id"] in answers}
    with (graded / "out" / "answer_facts.csv").open(newline="", encoding="utf-8") as file:
        facts = [
            row
            for row in csv.DictReader(file)
            if (row["name"], row["verdict"]) == (model["model"], "contradicts")
        ]
    return float(model["score"]), len(facts) / len(ASKED), replies, answers


@pytest.fixture
def server(expected):
    def reply(body):
        content = question_of(body)
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
        text = next(text for asked, text in expected[2].items() if asked in content)
        message = {"role": "assistant", "content": text}
        # lm-evaluation-harness needs the index, Inspect the rest.
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        about = {"id": "1", "object": "chat.completion", "created": 1, "model": "small"}
        return Answer(content=json.dumps({**about, "choices": [choice], "usage": usage}).encode())

    with fake_chat(reply) as fake:
        yield fake


def test_inspect_gives_the_score_of_the_run_and_its_log_comes_back(graded, expected, server):
    needs("inspect_ai", "inspect-ai")
    score, contradicted, _, answers = expected
    run_tool(
        *("-m", "inspect_ai", "eval", "tides/task.py", "--epochs", 2),
        *("--model", "openai-api/local/small", "--log-dir", "logs", "--display", "none"),
        cwd=graded,
        LOCAL_API_KEY="none",
        LOCAL_BASE_URL=server.url,
    )
    (log,) = (graded / "logs").glob("*.eval")
    file = read_model_answers(log)
    found = {(one.question, one.asking.sample): one for one in file.records}
    assert {key: one.text for key, one in found.items()} == {
        (question, epoch): answers[question] for question in ASKED for epoch in (0, 1)
    }
    assert {one.model for one in file.records} == {"openai-api/local/small"}
    scores = [one.asking.extra["scores"]["crowd"] for one in file.records]
    assert sum(one["similarity"] for one in scores) / len(scores) == pytest.approx(score, abs=1e-6)
    assert sum(one["contradicted"] for one in scores) / len(scores) == contradicted


def test_lm_evaluation_harness_gives_the_score_of_the_run(graded, expected, server):
    needs("lm_eval", "lm-eval")
    score, contradicted, _, answers = expected
    run_tool(
        *("-m", "lm_eval", "--model", "local-chat-completions", "--apply_chat_template"),
        *("--model_args", f"model=small,base_url={server.url}/chat/completions,num_concurrent=1"),
        *("--include_path", graded / "tides", "--tasks", "tides", "--log_samples"),
        *("--output_path", graded / "lm"),
        cwd=graded,
        OPENAI_API_KEY="none",
    )
    (results,) = (graded / "lm").rglob("results_*.json")
    found = json.loads(results.read_text())["results"]["tides"]
    assert found["similarity,none"] == pytest.approx(score, abs=1e-6)
    assert found["contradicted,none"] == contradicted
    (samples,) = (graded / "lm").rglob("samples_*.jsonl")
    file = read_model_answers(samples)
    assert {one.question: one.text for one in file.records} == answers
    assert {one.model for one in file.records} == {"small"}


def test_datasets_loads_the_folder_and_its_card(graded):
    needs("datasets", "datasets")
    code = (
        "import datasets, json; from datasets.info import DatasetInfosDict; "
        "from huggingface_hub import DatasetCard; "
        "found = datasets.load_dataset('tides')['test']; "
        "card = DatasetCard.load('tides/README.md'); "
        "info = DatasetInfosDict.from_dataset_card_data(card.data)['default']; "
        "print(json.dumps([list(found['question']), len(found[0]['exemplary_vector']), "
        "found.features == info.features]))"
    )
    printed = run_tool("-c", code, cwd=graded, HF_HOME=str(graded / "hub"))
    assert json.loads(printed.splitlines()[-1]) == [list(ASKED), 384, True]


def test_promptfoo_and_pytest_assert_by_the_folder(graded, expected):
    answers = expected[3]
    code = f"""
import json
from assertion import assert_like_people, get_assert
easy = {{"percentile": 0, "contradicted": 9}}
test = {{"vars": {{"question": "tides-1"}}}}
good = get_assert({answers["tides-1"]!r}, {{**test, "config": easy}})
bad = get_assert("Nobody knows.", test)
try:
    assert_like_people("tides-1", "Nobody knows.")
    raised = ""
except AssertionError as error:
    raised = str(error)
print(json.dumps([good, bad, raised]))
"""
    printed = run_tool("-c", code, cwd=graded / "tides")
    good, bad, raised = json.loads(printed.splitlines()[-1])
    assert (good["pass"], bad["pass"]) == (True, False)
    assert set(good["namedScores"]) == {"similarity", "contradicted", "percentile"}
    assert bad["namedScores"]["percentile"] < 25
    assert re.search(r"tides-1: .*percentile \d+", raised)
    assert not Path(graded / "tides" / "evaluation").exists()
