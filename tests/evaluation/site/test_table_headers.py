"""Tables of the site have the names of columns that the files of `evaluate aqer` have."""

import csv
import io
import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.runs.run_types import get_kind
from tests.evaluation.grading.results import world
from tests.evaluation.site.test_pages import page, question_of, worker_of

pytestmark = pytest.mark.django_db
# A table of the site, and the file of the command that says the same. What stands behind is what
# only the site has; nothing of the file is missing, and nothing is called otherwise.
ALIKE = {
    "workers": ("workers.csv", {"panel", "leave_one_out"}),
    "questions": ("exemplars.csv", {"text", "mean_score_leave_one_out"}),
    "models": ("models.csv", {"details", "reason"}),
    "model-answers": ("model_answers.csv", set()),
    "alarms": ("alarms.csv", set()),
    "facts": ("facts.csv", set()),
    "answer-facts": ("answer_facts.csv", set()),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Headers of the files of a small grading, and the keys of its pairs of models."""
    place = tmp_path_factory.mktemp("files")
    people, models = place / "answers.csv", place / "models.csv"
    rows = [f"w{w},q{q},the river {q} runs {w % 2}" for w in range(4) for q in range(6)]
    people.write_text("\n".join(["worker,question,answer", *rows]))
    rows = [f"m{m},q{q},the river {q} runs {m}" for m in range(2) for q in range(6)]
    models.write_text("\n".join(["model,question,answer", *rows]))
    output = place / "out"
    call_command(
        *("evaluate", "aqer", str(people), "--models", str(models), "--output", str(output)),
        *("--embedder", "bow", "--bootstrap", "0"),
    )
    found = {}
    for path in output.glob("*.csv"):
        with path.open(encoding="utf-8-sig", newline="") as file:
            found[path.name] = next(csv.reader(file))
    [pair, *_] = json.loads((output / "summary.json").read_text())["model_comparisons"]
    return {**found, "comparisons": list(pair)}


def header_of(site, address):
    data = b"".join(site.get(address).streaming_content).decode("utf-8-sig")
    return [name for name in next(csv.reader(io.StringIO(data))) if ":" not in name]


@pytest.mark.parametrize("name", ALIKE)
def test_a_table_of_the_site_has_the_columns_of_the_file(site, rana, files, name):
    run = world.finished(owner=rana)
    file, only_here = ALIKE[name]
    header = header_of(site, page("results-table", run, name=name))
    assert set(header) - set(files[file]) == only_here
    assert set(files[file]) <= set(header)


def test_pairs_of_models_have_the_names_of_the_summary(site, rana, files):
    run = world.finished(owner=rana)
    header = header_of(site, page("results-table", run, name="comparison"))
    assert set(header) == set(files["comparisons"])


def test_answers_of_a_worker_and_to_a_question_have_the_columns_of_answers(site, rana, files):
    run = world.finished(owner=rana)
    wanted = set(files["answers.csv"])
    for address in (
        page("results-worker-table", run, worker=worker_of(run)),
        page("results-question-table", run, question=question_of(run)),
    ):
        assert wanted <= set(header_of(site, address)), address


def test_who_and_what_a_row_is_of_is_called_alike_in_every_table(site, rana):
    run = world.finished(owner=rana)
    ids = {"worker", "model", "model_a", "model_b", "question", "system", "view"}
    others = {"name", "id", "who", "external_id", "worker_id", "question_id", "model_id"}
    for name in get_kind("aqer").tables:
        header = header_of(site, reverse("admin:results-table", args=[run.public_id, name]))
        # A fact or a mean is of a worker or of a model, as its `kind` says; so it is in the file.
        named = {"name"} if name in ("answer-facts", "expert-estimates") else set()
        assert others & set(header) == named, name
        of_the_run = ("convergence", "planner", "alarms", "expert-agreement")
        assert (ids | named) & set(header) or name in of_the_run, name
