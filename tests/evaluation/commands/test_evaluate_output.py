"""The folder: its tables appear together, other files stay, after an error it is as before."""

import shutil

import pytest

from tests.contracts.replay import facts_of
from tests.evaluation.commands.crowd import header_of, summary_of, table, write_csv
from tests.evaluation.commands.running import evaluate
from tests.sentences import terminal_sentence


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
    assert len(contents(output)) == 11


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
    monkeypatch.setattr("evaluation.grading.files.tables.build_summary", fail)
    with pytest.raises(ZeroDivisionError):
        evaluate(crowd.answers, "--embedder=bow", "--output", output)
    assert contents(output) == before


def test_too_little_memory_is_an_error_with_a_remedy(crowd, output, monkeypatch):
    def fail(*_, **__):
        raise MemoryError("Unable to allocate 29.1 TiB")

    monkeypatch.setattr("evaluation.grading.files.grading.grade_answers", fail)
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
    assert terminal_sentence("empty_answers", count=1) in warned
    assert lines[-1] == f"Tables: {output}"


def test_results_of_the_same_inputs_may_be_made_again_with_other_settings_too(crowd, output):
    arguments = [crowd.answers, "--embedder=bow", "--bootstrap=4", "--output", output]
    assert evaluate(*arguments).code == 0
    assert evaluate(*arguments).code == 0
    assert evaluate(*arguments, "--models", crowd.models, "--exclude-workers=Eli").code == 0
    assert evaluate(*arguments, "--weight-cap=0.5").code == 0


@pytest.mark.parametrize("what", ["answers", "models"])
def test_results_of_other_inputs_are_replaced_only_when_it_is_said(crowd, output, what):
    arguments = [crowd.answers, "--embedder=bow", "--bootstrap=4", "--output", output]
    arguments += ["--models", crowd.models]
    assert evaluate(*arguments).code == 0
    before = contents(output)
    changed = getattr(crowd, what)
    changed.write_text(changed.read_text("utf-8").replace("moon", "sun"), "utf-8")
    refused = evaluate(*arguments)
    assert refused.code == 2
    assert refused.refusals == (f"{output / 'summary.json'}, results_replaced",)
    assert f"({what})" in refused.err
    assert "--overwrite" in refused.err
    assert contents(output) == before
    assert evaluate(*arguments, "--overwrite").code == 0
    assert contents(output) != before


@pytest.mark.parametrize("text", ["{", "[]", '{"input_hashes": {}}'])
def test_a_summary_of_something_else_is_not_replaced(crowd, output, text):
    output.mkdir()
    (output / "summary.json").write_text(text)
    refused = evaluate(crowd.answers, "--embedder=bow", "--output", output)
    assert refused.code == 2
    assert refused.refusals == (f"{output / 'summary.json'}, summary_unknown",)


def test_the_best_and_the_worst_ranks_are_told_of_a_large_crowd(tmp_path, output):
    # 44 workers answer 6 questions and have ranks; two more answer one question and have none.
    rows = [
        (f"w{i:02}", f"q{j}", " ".join(f"word{(j + k * (i % 5)) % 9}" for k in range(4)) + f" {i}")
        for i in range(46)
        for j in range(6 if i < 44 else 1)
    ]
    write_csv(tmp_path / "many.csv", ("worker", "question", "answer"), rows)
    ran = evaluate(tmp_path / "many.csv", "--embedder=bow", "--bootstrap=0", "--output", output)
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    first_rule = next(at for at, line in enumerate(lines) if line.startswith("----"))
    gap = next(at for at in range(first_rule, len(lines)) if lines[at].startswith("... "))
    assert facts_of(lines[gap]) == "4 workers.csv"
    ranked = [row for row in table(output / "workers.csv") if row["rank"]]
    ranked.sort(key=lambda row: (int(row["rank"]), -float(row["grade"])))
    assert len(ranked) == 44
    assert [line.split()[1] for line in lines[gap - 30 : gap]] == [
        row["worker"] for row in ranked[:30]
    ]
    assert [line.split()[1] for line in lines[gap + 1 : gap + 11]] == [
        row["worker"] for row in ranked[-10:]
    ]
    assert facts_of(lines[gap + 11]) == "2 workers.csv"
