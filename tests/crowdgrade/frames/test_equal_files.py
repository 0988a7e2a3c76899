"""The functions of the Python interface give the same files as the commands, byte for byte."""

import filecmp
import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import crowdgrade
from tests.contracts.inputs import write_input
from tests.evaluation.commands.running import manage

ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "annotations" / "demo"
FAST = {"embedder": "tfidf-char", "bootstrap": 20}
FAST_FLAGS = ("--embedder", "tfidf-char", "--bootstrap", "20")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The input of the commands whose output is saved; tables with lines that end in \\n."""
    folder = tmp_path_factory.mktemp("inputs") / "in"
    write_input(folder, DEMO)
    for path in folder.glob("*.csv"):
        path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n"))
    return folder


def read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def read_polars(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, infer_schema=False)


def assert_same_files(ours: Path, of_command: Path) -> None:
    names = sorted(path.name for path in of_command.iterdir())
    assert sorted(path.name for path in ours.iterdir()) == names
    different = filecmp.cmpfiles(ours, of_command, names, shallow=False)[1:]
    assert different == ([], [])


def drop_hashes(*folders: Path) -> None:
    """Remove the hashes of the inputs, where a file of JSON has other blanks than ours."""
    for folder in folders:
        path = folder / "summary.json"
        summary = json.loads(path.read_text())
        del summary["input_hash"], summary["input_hashes"], summary["signature"]
        path.write_text(json.dumps(summary))


def run_command(target: Path, *arguments: object) -> Path:
    ran = manage("evaluate", *arguments, "--output", target)
    assert ran.code == 0, ran.err
    return target


@pytest.mark.slow
@pytest.mark.parametrize("reader", [read, read_polars], ids=["pandas", "polars"])
def test_grading_the_demo_writes_the_files_of_the_command(tmp_path: Path, reader) -> None:
    answers, models = DEMO / "answers.csv", DEMO / "model_answers.csv"
    of_command = run_command(tmp_path / "b", "aqer", answers, "--models", models, *FAST_FLAGS)
    result = crowdgrade.grade(reader(answers), models=reader(models), **FAST)
    result.to_csv(tmp_path / "a")
    assert_same_files(tmp_path / "a", of_command)


@pytest.mark.slow
def test_grading_with_a_default_reading_of_pandas_is_the_same(tmp_path: Path) -> None:
    answers = DEMO / "answers.csv"
    of_command = run_command(tmp_path / "b", "aqer", answers, *FAST_FLAGS)
    crowdgrade.grade(pd.read_csv(answers), **FAST).to_csv(tmp_path / "a")
    assert_same_files(tmp_path / "a", of_command)


@pytest.mark.slow
def test_remedies_lists_of_workers_and_line_breaks_are_the_same(inputs: Path, tmp_path) -> None:
    flags = ("--collapse-copies", "--group-vote", "0.5", "--weight-cap", "0.1", *FAST_FLAGS)
    files = ("--models", inputs / "models.csv", "--exclude-workers", inputs / "excluded.txt")
    of_command = run_command(tmp_path / "b", "aqer", inputs / "crowd.csv", *files, *flags)
    result = crowdgrade.grade(
        read(inputs / "crowd.csv"),
        models=read(inputs / "models.csv"),
        exclude_workers=["Uma", "Viktor"],
        collapse_copies=True,
        group_vote=0.5,
        weight_cap=0.1,
        **FAST,
    )
    result.to_csv(tmp_path / "a")
    assert_same_files(tmp_path / "a", of_command)


def test_vectors_give_the_files_of_a_file_of_vectors(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inputs)
    arrays = np.load(inputs / "vectors.npz")
    crowd, models = inputs / "crowd.csv", inputs / "models.csv"
    flags = ("--embedder", "precomputed:vectors.npz", "--bootstrap", "20")
    of_command = run_command(tmp_path / "b", "aqer", crowd, "--models", models, *flags)
    result = crowdgrade.grade(
        read(crowd),
        models=read(models),
        vectors=arrays["answers"],
        model_vectors=arrays["models"],
        bootstrap=20,
    )
    result.to_csv(tmp_path / "a")
    assert_same_files(tmp_path / "a", of_command)


def test_other_names_of_columns_are_the_same(inputs: Path, tmp_path: Path) -> None:
    frame = read(inputs / "crowd.csv").rename(columns={"worker": "who", "answer": "in, full"})
    frame.to_csv(tmp_path / "answers.csv", index=False)
    flags = ("--columns", 'worker=who,"answer=in, full"', *FAST_FLAGS)
    of_command = run_command(tmp_path / "b", "aqer", tmp_path / "answers.csv", *flags)
    crowdgrade.grade(frame, worker="who", answer="in, full", **FAST).to_csv(tmp_path / "a")
    assert_same_files(tmp_path / "a", of_command)


@pytest.mark.medium
def test_panels_and_plan_write_the_files_of_their_commands(inputs: Path, tmp_path: Path) -> None:
    crowd, models = inputs / "crowd.csv", inputs / "models.csv"
    for name, function in (("panels", crowdgrade.panels), ("plan", crowdgrade.plan)):
        of_command = run_command(
            tmp_path / f"{name}-b", name, crowd, "--models", models, *FAST_FLAGS
        )
        function(read(crowd), models=read(models), **FAST).to_csv(tmp_path / f"{name}-a")
        assert_same_files(tmp_path / f"{name}-a", of_command)


def test_umwp_writes_the_files_of_its_command(inputs: Path, tmp_path: Path) -> None:
    problems, replies = inputs / "problems.jsonl", inputs / "problem_replies.csv"
    people, labels = inputs / "problem_people.csv", inputs / "reply_labels.csv"
    files = ("--replies", replies, "--people", people, "--labels", labels)
    flags = ("--encoder", "tfidf-char", "--threshold", "0.8", "--bootstrap", "20")
    of_command = run_command(tmp_path / "b", "umwp", problems, *files, *flags)
    result = crowdgrade.umwp(
        [json.loads(line) for line in problems.read_text().splitlines()],
        read(replies),
        people=read(people),
        labels=read(labels),
        encoder="tfidf-char",
        threshold=0.8,
        bootstrap=20,
    )
    result.to_csv(tmp_path / "a")
    assert_same_files(tmp_path / "a", of_command)


def test_maqa_writes_the_files_of_its_command(inputs: Path, tmp_path: Path) -> None:
    questions, replies = inputs / "several.json", inputs / "several.jsonl"
    flags = ("--similarity", "overlap", *FAST_FLAGS)
    of_command = run_command(tmp_path / "b", "maqa", questions, "--replies", replies, *flags)
    result = crowdgrade.maqa(
        json.loads(questions.read_text()),
        [json.loads(line) for line in replies.read_text().splitlines()],
        similarity="overlap",
        **FAST,
    )
    result.to_csv(tmp_path / "a")
    drop_hashes(tmp_path / "a", of_command)
    assert_same_files(tmp_path / "a", of_command)


def test_multiqa_reads_lists_in_cells_and_writes_the_files_of_its_command(
    inputs: Path, tmp_path: Path
) -> None:
    records = [json.loads(line) for line in (inputs / "items.jsonl").read_text().splitlines()]
    items = pd.DataFrame(records)
    items_csv = tmp_path / "items.csv"
    written = items.copy()
    for name in ("choices", "answers"):
        is_list = written[name].map(lambda cell: isinstance(cell, list))
        written.loc[is_list, name] = written.loc[is_list, name].map(
            lambda cell: json.dumps(cell, ensure_ascii=False)
        )
    written.to_csv(items_csv, index=False)
    flags = ("--replies", inputs / "replies.csv", *FAST_FLAGS)
    of_command = run_command(tmp_path / "b", "multiqa", items_csv, *flags)
    crowdgrade.multiqa(items, read(inputs / "replies.csv"), **FAST).to_csv(tmp_path / "a")
    assert_same_files(tmp_path / "a", of_command)


def test_eloquent_writes_the_files_of_its_command(inputs: Path, tmp_path: Path) -> None:
    prompts = inputs / "prompts.json"
    replies, judgements = inputs / "prompt-replies.csv", inputs / "judgements.csv"
    files = ("--replies", replies, "--judgements", judgements)
    of_command = run_command(tmp_path / "b", "eloquent", prompts, *files, *FAST_FLAGS)
    result = crowdgrade.eloquent(
        json.loads(prompts.read_text()), read(replies), judgements=[read(judgements)], **FAST
    )
    result.to_csv(tmp_path / "a")
    drop_hashes(tmp_path / "a", of_command)
    assert_same_files(tmp_path / "a", of_command)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("read_file", [pd.read_csv, pl.read_csv], ids=["pandas", "polars"])
def test_real_answers_give_the_files_of_the_command(
    read_file, data_folder: Path, tmp_path: Path
) -> None:
    answers = tmp_path / "answers.csv"
    published = data_folder / "beetle2013" / "answers.csv"
    answers.write_bytes(published.read_bytes().replace(b"\r\n", b"\n"))
    flags = ("--embedder", "tfidf-word", "--bootstrap", "0", "--duplicates", "last")
    of_command = run_command(tmp_path / "b", "aqer", answers, *flags)
    options = {"embedder": "tfidf-word", "bootstrap": 0, "duplicates": "last"}
    result = crowdgrade.grade(read_file(answers), **options)
    result.to_csv(tmp_path / "a")
    assert result.summary["counts"]["answers"] > 3_000
    assert_same_files(tmp_path / "a", of_command)
