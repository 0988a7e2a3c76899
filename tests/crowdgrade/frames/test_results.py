"""Results hold DataFrames of the caller's library, pictures, signature and files."""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import polars as pl
import pytest

import crowdgrade
from annotations.exchange import OutputFolder

ROOT = Path(__file__).resolve().parents[3]
ANSWERS = pd.DataFrame(
    [(w, q, f"{w * 7} {q}" if w < 3 else "007") for w in range(1, 5) for q in range(1, 7)],
    columns=["worker", "question", "answer"],
)
FAST = {"embedder": "tfidf-char", "bootstrap": 20}
NAMES = ["alarms", "answer_facts", "answers", "exemplars", "facts", "model_answers", "models"]


@pytest.fixture(scope="module")
def result() -> crowdgrade.Result:
    return crowdgrade.grade(ANSWERS, **FAST)


def test_the_tables_are_frames_of_the_callers_library(result) -> None:
    assert result.tables == [*NAMES, "workers"]
    assert all(isinstance(getattr(result, name), pd.DataFrame) for name in result.tables)
    polars = crowdgrade.grade(pl.from_pandas(ANSWERS), **FAST)
    assert all(isinstance(getattr(polars, name), pl.DataFrame) for name in polars.tables)
    arrow = crowdgrade.grade(pl.from_pandas(ANSWERS).to_arrow(), **FAST)
    assert arrow.workers.column("worker").to_pylist() == [1, 2, 3, 4]


def test_ids_of_whole_numbers_join_with_the_callers_frame(result) -> None:
    joined = ANSWERS.merge(result.workers, on="worker").merge(result.exemplars, on="question")
    assert len(joined) == len(ANSWERS) == 24


@pytest.mark.parametrize("dtype", ["int8", "Int64", "category", "object", "int64[pyarrow]"])
def test_whole_numbers_of_every_type_come_back_as_numbers(dtype: str) -> None:
    found = crowdgrade.grade(ANSWERS.astype({"worker": dtype}), **FAST)
    assert found.workers["worker"].tolist() == [1, 2, 3, 4]


def test_categories_of_texts_stay_texts() -> None:
    texts = ANSWERS.assign(worker="0" + ANSWERS["worker"].astype(str))
    found = crowdgrade.grade(texts.astype({"worker": "category"}), **FAST)
    assert found.workers["worker"].tolist() == ["01", "02", "03", "04"]
    lazy = pl.from_pandas(texts).with_columns(pl.col("worker").cast(pl.Categorical))
    assert crowdgrade.grade(lazy, **FAST).workers["worker"].to_list() == ["01", "02", "03", "04"]


def test_ids_and_answers_that_are_texts_stay_texts() -> None:
    texts = ANSWERS.assign(worker="00" + ANSWERS["worker"].astype(str), answer="007")
    tables = crowdgrade.grade(texts, **FAST)
    assert set(tables.workers["worker"]) == {"001", "002", "003", "004"}
    assert set(tables.exemplars["nearest_answer"]) == {"007"}


def test_columns_of_texts_are_texts_in_every_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column that the command writes as text is text, also where every cell is a number."""
    texts: set[tuple[str, str]] = set()
    write = OutputFolder.write_csv

    def note(self, name, header, rows) -> None:
        rows = list(rows)
        for column, cells in zip(header, zip(*rows, strict=True), strict=False):
            if any(isinstance(cell, str) for cell in cells):
                texts.add((name.removesuffix(".csv"), column))
        write(self, name, header, rows)

    monkeypatch.setattr(OutputFolder, "write_csv", note)
    facts = ["5", "5", "5", "6"]
    frame = ANSWERS.assign(answer=[facts[(w - 1) % 4] for w in ANSWERS["worker"]])
    models = pd.DataFrame({"model": "9", "question": range(1, 7), "answer": "5"})
    found = crowdgrade.grade(frame.astype(str), models=models, suggest_anchors=2, **FAST)
    assert len(texts) > 20
    assert [
        (table, column)
        for table, column in sorted(texts)
        if not all(cell is None or isinstance(cell, str) for cell in getattr(found, table)[column])
    ] == []


def test_an_unknown_table_is_an_attribute_error(result) -> None:
    with pytest.raises(AttributeError, match="workers"):
        result.nothing  # noqa: B018
    assert not hasattr(crowdgrade.grade(ANSWERS, facts=False, **FAST), "facts")


def test_pictures_are_drawn_from_the_tables(result, tmp_path) -> None:
    assert result.pictures == ["grades", "ranks", "questions", "convergence"]
    for name in result.pictures:
        picture = result.plot(name)
        picture.save(tmp_path / f"{name}.svg")
        assert ElementTree.parse(tmp_path / f"{name}.svg").getroot().tag.endswith("svg")
        assert picture._repr_svg_().startswith("<svg")
    dots = result.plot("grades").svg.count("<circle")
    assert dots == len(result.workers)
    with pytest.raises(ValueError, match="grades"):
        result.plot("nothing")


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_ranks_are_drawn_with_the_intervals_of_the_table(library) -> None:
    found = crowdgrade.grade(library(ANSWERS), **FAST)
    workers = found.rows("workers")
    assert all(row["rank_low"] <= row["rank"] <= row["rank_high"] for row in workers)
    last = max(row["rank_high"] for row in workers)
    drawn = ElementTree.fromstring(found.plot("ranks").svg.encode())
    [axis] = drawn.iterfind(".//*[@class='chart-axis']")
    left, right = float(axis.get("x1")), float(axis.get("x2"))

    def read_rank(mark: ElementTree.Element, css_class: str, name: str) -> int:
        """The axis goes from rank 1 to the last one."""
        [shape] = mark.iterfind(f"./*[@class='chart-{css_class}']")
        return round(1 + (float(shape.get(name)) - left) / (right - left) * (last - 1))

    shown = [
        (
            next(mark.iterfind("./*[@class='chart-label']")).text,
            *(read_rank(mark, *place) for place in (("dot", "cx"), ("whisker", "x1"))),
            read_rank(mark, "whisker", "x2"),
        )
        for mark in drawn.iterfind(".//*[@class='chart-mark']")
    ]
    columns = ("rank", "rank_low", "rank_high")
    expected = [(str(row["worker"]), *(row[name] for name in columns)) for row in workers]
    assert sorted(shown) == sorted(expected)
    assert [rank for _, rank, _, _ in shown] == [1, 1, 3, 4]  # the best first


def test_models_are_drawn_among_the_workers_where_there_are_any(result) -> None:
    models = pd.DataFrame({"model": ["ada"] * 6 + ["bob"] * 6, "question": [*range(1, 7)] * 2})
    models["answer"] = "007"
    models.loc[models["model"] == "ada", "answer"] = "7"
    found = crowdgrade.grade(ANSWERS, models=models, **FAST)
    assert found.pictures == ["grades", "ranks", "questions", "models", "convergence"]
    svg = found.plot("models").svg
    assert svg.index(">bob<") < svg.index(">ada<")  # the best first
    assert "4 workers" in svg
    with pytest.raises(ValueError, match=r"data.*models.*grades, ranks, questions, conv"):
        result.plot("models")


def test_without_draws_there_are_no_ranks_to_draw() -> None:
    found = crowdgrade.grade(ANSWERS, embedder="tfidf-char", bootstrap=0)
    assert found.pictures == ["grades", "questions", "convergence"]
    assert found.workers["rank_low"].isna().all()
    reasons = {
        (empty["column"], empty["reason"], empty["count"])
        for empty in found.summary["undefined"]
        if empty["column"].startswith("rank")
    }
    assert reasons == {("rank_low", "no_draws", 4), ("rank_high", "no_draws", 4)}
    with pytest.raises(ValueError, match="ranks"):
        found.plot("ranks")


def test_html_escapes_what_people_wrote() -> None:
    frame = ANSWERS.assign(worker="<b>" + ANSWERS["worker"].astype(str))
    html = crowdgrade.grade(frame, **FAST)._repr_html_()
    assert "<b>" not in html
    assert html.count("&lt;b&gt;1</td>") == 1


def test_a_notebook_shows_the_metrics_before_the_tables_they_rest_on() -> None:
    files = {
        "answers.csv": b"item\nfirst\n",
        "items.csv": b"item,system\n",
        "metrics.csv": b"metric,value\nF1,0.5\n",
        "summary.json": b'{"signature": "maqa|1", "warnings": []}',
    }
    html = crowdgrade.Result("maqa", files, report="", library=None)._repr_html_()
    assert "F1" in html
    assert "first" not in html


def test_the_folder_of_other_results_is_not_replaced(result, tmp_path) -> None:
    result.to_csv(tmp_path)
    result.to_csv(tmp_path)
    other = crowdgrade.grade(ANSWERS[:12], **FAST)
    with pytest.raises(crowdgrade.InputError) as caught:
        other.to_csv(tmp_path)
    assert caught.value.codes == ["results_replaced"]
    other.to_csv(tmp_path, overwrite=True)
    assert (tmp_path / "workers.csv").read_bytes() == other.files["workers.csv"]


def test_output_keeps_the_files_and_no_other_file_is_left(tmp_path, monkeypatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    found = crowdgrade.grade(ANSWERS, output=tmp_path / "out", **FAST)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(found.files)
    assert list(scratch.iterdir()) == []


def test_results_of_other_answers_in_output_need_overwrite(tmp_path) -> None:
    crowdgrade.grade(ANSWERS, output=tmp_path, **FAST)
    with pytest.raises(crowdgrade.InputError) as caught:
        crowdgrade.grade(ANSWERS[:12], output=tmp_path, **FAST)
    assert caught.value.codes == ["results_replaced"]
    found = crowdgrade.grade(ANSWERS[:12], output=tmp_path, overwrite=True, **FAST)
    assert (tmp_path / "workers.csv").read_bytes() == found.files["workers.csv"]


def test_progress_reports_stages_that_end_at_their_total() -> None:
    calls: list[tuple[str, int, int]] = []
    crowdgrade.grade(ANSWERS, progress=lambda *call: calls.append(call), **FAST)
    last = {stage: (done, total) for stage, done, total in calls}
    assert last
    assert all(done == total for done, total in last.values())


def test_options_are_those_of_the_command() -> None:
    from django.core.management import load_command_class

    parser = load_command_class("evaluation", "evaluate").create_parser("manage.py", "evaluate")
    flags = {
        action.dest
        for methods in parser._subparsers._group_actions
        for action in methods.choices["aqer"]._actions
    }
    described = {
        line.split(":")[0].split(" = ")[0]
        for line in crowdgrade.describe_options("grade").splitlines()
    }
    assert described == flags - {"help", "output"}
    with pytest.raises(ValueError, match="grade"):
        crowdgrade.describe_options("nothing")


FRESH = """
import sys
from pathlib import Path
import crowdgrade
heavy = {"celery", "django", "narwhals", "numpy", "pandas", "polars", "scipy", "torch"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
assert crowdgrade.__version__
import platform
platform.system()
from celery.app.utils import find_app
app = find_app("crowdgrade")
app.loader.import_default_modules()
assert [name for name in app.tasks if name.startswith("evaluation.")]
"""
USED = """
import logging
import sys
from pathlib import Path
import crowdgrade
import pandas as pd
handlers = list(logging.getLogger().handlers)
rows = [(w, q, w * 3 + q) for w in "abc" for q in "xyz"]
frame = pd.DataFrame(rows, columns=["worker", "question", "answer"])
result = crowdgrade.grade(frame, embedder="tfidf-word", bootstrap=0)
assert len(result.workers) == 3
assert "torch" not in sys.modules
assert logging.getLogger().handlers == handlers
"""
FOREIGN = """
from django.conf import settings
settings.configure(INSTALLED_APPS=[])
import crowdgrade
try:
    crowdgrade.describe_options("grade")
except RuntimeError as error:
    assert "another Django project" in str(error)
else:
    raise AssertionError
"""


@pytest.mark.slow
@pytest.mark.parametrize("code", [FRESH, USED, FOREIGN], ids=["import", "use", "foreign"])
def test_a_fresh_process_uses_the_package(code: str, tmp_path) -> None:
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_examples_of_the_document_run() -> None:
    text = (ROOT / "platform" / "docs" / "python.md").read_text("utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "aqer|embedder:" in ran.stdout
    assert "column_missing" in ran.stdout
