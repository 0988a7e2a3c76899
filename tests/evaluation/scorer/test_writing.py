"""The folder of an export: its files, its card, and what it must not contain."""

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import replace

import pytest
import yaml

from evaluation.consensus.parameters import AqerParameters
from evaluation.scorer.preview import LeftOut, build_preview
from evaluation.scorer.run import (
    NotExportableError,
    ScorerOptions,
    refuse_answers_without_consent,
    refuse_unexportable_parameters,
    select_exportable_questions,
)
from evaluation.scorer.writing import (
    PROJECT,
    build_export_files,
    check_task_name,
    collect_copied_modules,
    make_task_name,
    parse_formats,
    rename_project_imports,
    write_export,
)
from tests.evaluation.scorer.world import content, question

EVERY = ("inspect", "lm-eval", "hf", "promptfoo")


def refusal(function, *arguments):
    with pytest.raises(NotExportableError) as caught:
        function(*arguments)
    return caught.value.code


def test_each_format_has_its_files():
    files = build_export_files(content(), EVERY)
    top = {name for name in files if "/" not in name}
    assert top == {
        *("README.md", "requirements.txt", "task.py", "metric.py", "rivers.yaml"),
        *("assertion.py", "promptfooconfig.yaml", "promptfoo_tests.json"),
    }
    assert "data/test.parquet" in files
    assert {name for name in build_export_files(content(), ["hf"]) if "/" not in name} == {
        "README.md",
        "requirements.txt",
    }
    task = re.sub(r"!function (\S+)", r"\1", files["rivers.yaml"].decode())
    assert yaml.safe_load(task)["task"] == "rivers"
    assert [one["vars"]["question"] for one in json.loads(files["promptfoo_tests.json"])] == [
        "r1",
        "r2",
    ]
    assert yaml.safe_load(files["promptfooconfig.yaml"])["prompts"] == ["{{prompt}}"]


def test_requirements_name_the_versions_that_exports_were_tested_with():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    extra = {re.split("[<>=]", one)[0]: one for one in project["optional-dependencies"]["scorer"]}
    written = build_export_files(content(), EVERY)["requirements.txt"].decode().split()
    versions = {re.split("[<>=]", one)[0]: one for one in written}
    assert all("=" in one for one in written)
    # The order of bounds may differ: datasets>=5,<6 is datasets<6,>=5.
    for tool in ("inspect-ai", "lm-eval", "datasets"):
        assert sorted(versions[tool]) == sorted(extra[tool])
    assert "inspect-ai" not in build_export_files(content(), ["hf"])["requirements.txt"].decode()


def test_the_parquet_file_has_a_row_for_each_question():
    import io

    from pyarrow import parquet

    data = build_export_files(content(), ["hf"])["data/test.parquet"]
    rows = parquet.read_table(io.BytesIO(data)).to_pylist()
    assert [(row["question"], row["exemplary_vector"]) for row in rows] == [
        ("r1", [1, 0]),
        ("r2", [0, 2]),
    ]
    assert rows[0]["consensus"] is None


def test_names_and_formats_are_checked():
    assert parse_formats(" lm-eval,inspect") == ("inspect", "lm-eval")
    assert refusal(parse_formats, "inspect,weka") == "format_unknown"
    assert refusal(parse_formats, "") == "format_unknown"
    assert refusal(check_task_name, "two words") == "name_invalid"
    assert refusal(check_task_name, "x" * 65) == "name_invalid"
    assert make_task_name("Rivers & tides, 2026!") == "rivers-tides-2026"
    assert make_task_name("水") == "crowd"


def test_without_pyarrow_only_its_format_is_refused(monkeypatch):
    monkeypatch.setattr("evaluation.scorer.writing.has_pyarrow", lambda: False)
    assert parse_formats("inspect") == ("inspect",)
    assert refusal(parse_formats, "inspect,hf") == "pyarrow_missing"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"embedder": "tfidf-word"}, "embedder_not_exportable"),
        ({"embedder": "openai:m@http://127.0.0.1/v1"}, "embedder_not_exportable"),
        ({"embedder": "sentence-transformers:/models/mine"}, "embedder_not_exportable"),
        ({"similarity": "euclidean"}, "vote_not_exportable"),
        ({"aggregation": "majority"}, "vote_not_exportable"),
        ({"spelling": "en"}, "spelling_not_exportable"),
    ],
)
def test_runs_whose_scores_need_more_than_the_folder_are_refused(changed, code):
    refuse_unexportable_parameters(AqerParameters())
    refuse_unexportable_parameters(AqerParameters(embedder="sentence-transformers:org/model"))
    assert refusal(refuse_unexportable_parameters, replace(AqerParameters(), **changed)) == code


def test_answers_need_a_basis_in_consent():
    assert (
        refusal(refuse_answers_without_consent, ScorerOptions("x", with_answers=True))
        == "consent_basis_missing"
    )
    refuse_answers_without_consent(
        ScorerOptions("x", with_answers=True, consent_basis="They agreed.")
    )


def test_questions_with_few_answers_or_no_text_are_left_out():
    few, unworded = question("r3", (1, 1), n_answers=2), question("r4", (1, 1), text=" ")
    kept, left_out = select_exportable_questions(
        [question("r1", (1, 0)), few, unworded], ScorerOptions("rivers")
    )
    assert [one.question for one in kept] == ["r1"]
    assert left_out == {"few_answers": 1, "no_wording": 1}
    kept, left_out = select_exportable_questions([few], ScorerOptions("rivers", fewest_answers=2))
    assert (len(kept), left_out) == (1, {})
    assert (
        refusal(select_exportable_questions, [few], ScorerOptions("rivers"))
        == "no_question_to_export"
    )


def test_a_folder_with_other_files_is_refused_and_an_earlier_export_replaced(tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    files = build_export_files(content(), ["inspect"])
    assert refusal(write_export, files, other) == "folder_in_use"
    assert [path.name for path in other.iterdir()] == ["thesis.txt"]
    folder = tmp_path / "new" / "rivers"
    write_export(build_export_files(content(), EVERY), folder)
    write_export(files, folder)
    assert not (folder / "metric.py").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["rivers"]


def test_a_zip_holds_the_same_files(tmp_path):
    files = build_export_files(content(), ["inspect"])
    write_export(files, tmp_path / "rivers.zip")
    with zipfile.ZipFile(tmp_path / "rivers.zip") as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    assert refusal(write_export, {"a": b""}, tmp_path / "file" / "out") == "folder_unwritable"


def test_the_preview_counts_what_is_of_people():
    found = content(question("r1", (1, 0), consensus="north"), left_out={"few_answers": 2})
    preview = build_preview(found)
    assert (preview.questions, preview.answers) == (1, 1)
    assert preview.left_out == [LeftOut("few_answers", 2)]
    assert (preview.worker_scores, preview.answer_scores) == (10, 10)


def test_no_copied_module_imports_this_project():
    own = re.compile(r"^\s*(?:from|import) (?:annotations|evaluation|django|crowdgrade)\b", re.M)
    assert [name for name, source in collect_copied_modules().items() if own.search(source)] == []
    renamed = rename_project_imports("from evaluation.core import stats\n")
    assert renamed.split() == ["from", "crowd_scorer.evaluation.core", "import", "stats"]


@pytest.mark.slow
def test_the_folder_runs_where_this_project_is_not(tmp_path):
    folder = tmp_path / "rivers"
    write_export(build_export_files(content(), ["promptfoo"]), folder)
    code = (
        "import sys; sys.path.insert(0, '.'); import assertion; "
        "scorer = assertion.load_scorer(assertion.HERE); "
        "import crowd_scorer.evaluation.core.backends.embedding.contract; "
        "own = {'django', 'annotations', 'evaluation', 'crowdgrade'}; "
        "print(sorted(scorer.questions), own & {name.partition('.')[0] for name in sys.modules})"
    )
    # -I leaves PYTHONPATH and the current folder out.
    ran = subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["['r1',", "'r2']", "set()"]
