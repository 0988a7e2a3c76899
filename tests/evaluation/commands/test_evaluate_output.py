"""The folder: its tables appear together, other files stay, after an error it is as before."""

import shutil

import pytest

from tests.evaluation.commands.crowd import header_of, summary_of, table
from tests.evaluation.commands.running import evaluate


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_folder_that_was_not_there_appears_with_its_parents(crowd, tmp_path):
    output = tmp_path / "new" / "deep"
    assert evaluate(crowd.answers, "--embedder=bow", "--output", output).code == 0
    assert (output / "workers.csv").exists()


def test_tables_are_replaced_and_other_files_stay(crowd, output):
    output.mkdir()
    (output / "workers.csv").write_text("old")
    (output / "models.csv").write_text("of an earlier run with models")
    (output / "notes.txt").write_text("mine")
    assert evaluate(crowd.answers, "--embedder=bow", "--output", output).code == 0
    assert (output / "notes.txt").read_text() == "mine"
    assert header_of(output / "workers.csv")[0] == "worker"
    assert table(output / "models.csv") == []
    assert len(contents(output)) == 9


def test_after_an_error_the_folder_is_as_before(crowd, tmp_path, output):
    output.mkdir()
    (output / "workers.csv").write_text("old")
    before = contents(output)
    crowd.answers.write_text("worker,question,answer\na,q,x\na,q,y\n")
    assert evaluate(crowd.answers, "--embedder=bow", "--output", output).code == 2
    assert contents(output) == before
    assert evaluate(crowd.answers, "--output", tmp_path / "new" / "deep").code == 2
    assert not (tmp_path / "new").exists()


def test_an_unforeseen_error_leaves_the_folder_as_before_and_is_not_hidden(
    crowd, output, monkeypatch
):
    def fail(*_):
        raise ZeroDivisionError("a bug")

    output.mkdir()
    (output / "workers.csv").write_text("old")
    before = contents(output)
    monkeypatch.setattr("evaluation.files.tables.summary", fail)
    with pytest.raises(ZeroDivisionError):
        evaluate(crowd.answers, "--embedder=bow", "--output", output)
    assert contents(output) == before


def test_too_little_memory_is_an_error_with_a_remedy(crowd, output, monkeypatch):
    def fail(*_, **__):
        raise MemoryError("Unable to allocate 29.1 TiB")

    monkeypatch.setattr("evaluation.files.grading.grade_answers", fail)
    ran = evaluate(crowd.answers, "--embedder=bow", "--output", output)
    assert ran.code == 2
    assert "29.1 TiB" in ran.err
    assert "--bootstrap" in ran.err
    assert not output.exists()


def test_an_output_that_is_a_file_is_refused(crowd, tmp_path):
    (tmp_path / "file").write_text("mine")
    ran = evaluate(crowd.answers, "--embedder=bow", "--output", tmp_path / "file")
    assert ran.code == 2
    assert "no folder" in ran.err
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("role", ["answers", "models", "vectors"])
def test_an_input_file_is_never_replaced_by_a_table_of_its_name(crowd, output, role):
    output.mkdir()
    names = {"answers": "answers.csv", "models": "models.csv", "vectors": "exemplars.npz"}
    paths = {"answers": crowd.answers, "models": crowd.models, "vectors": crowd.vectors}
    # By another way to the same folder, so that comparing the paths as typed would not do.
    mine = output / ".." / "out" / names[role]
    paths[role] = shutil.copy(paths[role], mine)
    before = contents(output)
    ran = evaluate(
        paths["answers"],
        f"--models={paths['models']}",
        f"--embedder=precomputed:{paths['vectors']}",
        f"--output={output}",
    )
    assert ran.code == 2
    assert names[role] in ran.err
    assert "--output" in ran.err
    assert contents(output) == before


def test_an_input_file_beside_the_tables_stays(crowd, output):
    output.mkdir()
    mine = shutil.copy(crowd.answers, output / "crowd.csv")
    before = mine.read_bytes()
    assert evaluate(mine, "--embedder=bow", "--output", output).code == 0
    assert mine.read_bytes() == before


def test_the_report_shows_both_tables_every_warning_and_the_folder(crowd, output):
    ran = evaluate(crowd.answers, "--models", crowd.models, "--embedder=bow", "--output", output)
    lines = ran.out.splitlines()
    assert lines[0].startswith("28 answers of 5 workers to 7 questions")
    assert any(line.split()[:2] == ["rank", "worker"] for line in lines)
    assert any(line.split()[:2] == ["rank", "model"] for line in lines)
    warned = [line.removeprefix("Warning: ") for line in lines if line.startswith("Warning: ")]
    assert warned == summary_of(output)["warnings"]
    assert "Empty answers, which count as unanswered: 1" in warned
    assert lines[-1] == f"Tables: {output}"
