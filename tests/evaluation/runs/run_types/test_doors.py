"""A kind that one line adds is at every door: pages, REST and the command line."""

import csv
import io
import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape
from rest_framework.test import APIClient

from evaluation.models import Run
from evaluation.models.runs import known_kinds
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.run_types import UnknownKindError, list_kinds
from tests.evaluation.runs.run_types.texts import numbers_of
from tests.evaluation.runs.run_types.words import WordOptions

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def finished(rivers):
    run = runs.queue_run(rivers.latest_version(), rivers.owner_id, WordOptions(), "words")
    while work_one_turn():
        pass
    run.refresh_from_db()
    return run


@pytest.fixture
def site(client, rivers):
    client.force_login(rivers.owner)
    return client


@pytest.fixture
def api(rivers):
    client = APIClient()
    client.force_authenticate(rivers.owner)
    return client


def page(site, name, run, *more):
    return site.get(reverse(f"admin:{name}", args=[run.public_id, *more]))


def test_its_run_page_shows_progress_then_counts_and_options(site, rivers):
    run = runs.queue_run(rivers.latest_version(), rivers.owner_id, WordOptions(longest=6), "words")
    assert 'data-run-state="queued"' in page(site, "run", run).content.decode()
    work_one_turn()
    later = timezone.now() + timedelta(days=1)
    Run.objects.filter(pk=run.pk).update(state="running", lease_owner="w", lease_until=later)
    status = page(site, "run-status", run).json()
    assert (status["stage"], status["total"]) == ("counting", 4)
    Run.objects.filter(pk=run.pk).update(state="queued", lease_until=None)
    while work_one_turn():
        pass
    said = page(site, "run", run).content.decode()
    assert "Word counts: Counts the words of each worker" in said
    assert "<dt>Longest word</dt><dd>6</dd>" in said
    assert "<strong>2</strong>workers" in said


def test_its_start_form_is_reached_from_the_page_of_the_set_and_starts_it(site, rivers):
    address = reverse("admin:start", args=[rivers.public_id, "words"])
    of_set = site.get(reverse("admin:question-set", args=[rivers.public_id])).content.decode()
    assert f'<a href="{address}">Word counts</a>' in of_set
    assert "Counts the words of each worker" in of_set
    assert reverse("admin:grade", args=[rivers.public_id]) in of_set
    said = site.get(address).content.decode()
    assert 'name="longest" value="100"' in said
    assert "Words with more letters are not counted." in said
    started = site.post(address, {"longest": "6", "seconds": "0"})
    run = Run.objects.get()
    assert started.url == reverse("admin:run", args=[run.public_id])
    assert (run.kind, run.parameters) == ("words", {"longest": 6, "seconds": 0.0})


def test_its_start_form_says_what_is_wrong_and_starts_nothing(site, rivers):
    address = reverse("admin:start", args=[rivers.public_id, "words"])
    refused = site.post(address, {"longest": "0", "seconds": "0"})
    assert refused.status_code == 400
    assert "0 is less than 1" in refused.content.decode()
    assert not Run.objects.exists()
    unknown = reverse("admin:start", args=[rivers.public_id, "guess"])
    assert site.get(unknown).status_code == 404


def test_its_start_form_begins_with_the_parameters_of_a_run(site, rivers):
    run = runs.queue_run(rivers.latest_version(), rivers.owner_id, WordOptions(longest=6), "words")
    address = reverse("admin:start", args=[rivers.public_id, "words"])
    said = site.get(f"{address}?like={run.public_id}").content.decode()
    assert 'name="longest" value="6"' in said
    # Of another kind: the defaults.
    graded = reverse("admin:grade", args=[rivers.public_id])
    assert site.get(f"{graded}?like={run.public_id}").status_code == 200


def upload(site, address, content, **more):
    file = SimpleUploadedFile("more.csv", content)
    return site.post(address, {"file": "more", "more": file, **more}, follow=True).content.decode()


def test_its_start_page_takes_the_files_that_it_declares(site, rivers, settings):
    settings.RUN_KINDS = ["tests.evaluation.runs.run_types.words.STARTED"]
    address = reverse("admin:start", args=[rivers.public_id, "words"])
    said = site.get(address).content.decode()
    assert "Counts the words of each worker&#x27;s answers. Nobody needs it." in said
    assert "<strong>2 questions.</strong>" in said  # too few to start anything
    assert "Start the run" not in said
    assert "More questions" in said
    more = b"question,text\nq3,Who owns it?\n"
    assert "Line 3, column text: nobody is sure. Tick." in upload(site, address, more)
    assert rivers.latest_version().questions.count() == 2
    assert "larger than 1000" in upload(site, address, b"x" * 1001, sure="1")
    assert "Choose a file." in site.post(address, {"file": "more"}, follow=True).content.decode()
    taken = upload(site, address, more, sure="1")
    assert [1, 1, 0, 0] in [numbers_of(line) for line in taken.splitlines()]
    assert '<p class="cg-field">3 questions.</p>' in taken
    assert "Start the run" in taken


def test_its_results_have_its_own_tabs_and_settings(site, finished):
    said = page(site, "results-run", finished).content.decode()
    tabs = said.split('class="results-tabs"')[1].split("</nav>")[0]
    assert f'href="{reverse("admin:run", args=[finished.public_id])}"' in tabs
    assert reverse("admin:results-trust", args=[finished.public_id]) not in said


def test_it_is_cancelled_and_done_again_from_its_page(site, rivers):
    run = runs.queue_run(rivers.latest_version(), rivers.owner_id, WordOptions(), "words")
    site.post(reverse("admin:run-cancel", args=[run.public_id]))
    run.refresh_from_db()
    assert run.state == "cancelled"
    form = site.get(reverse("admin:run-again", args=[run.public_id]), follow=True)
    site.post(form.request["PATH_INFO"], form.context["form"].initial)
    assert list(Run.objects.order_by("pk").values_list("kind", "state")) == [
        ("words", "cancelled"),
        ("words", "queued"),
    ]


def test_the_list_of_runs_names_it(site, finished):
    said = site.get(reverse("admin:runs")).content.decode()
    assert "<td>Word counts</td>" in said
    assert "minilm" not in said


def test_without_pages_of_its_own_its_report_and_tables_are_shown(site, finished):
    said = page(site, "results-run", finished).content.decode()
    assert '<dt>Most</dt><dd dir="auto">ben</dd>' in said
    assert '<td dir="auto">ann</td><td dir="auto">4</td>' in said
    assert reverse("admin:results-table", args=[finished.public_id, "workers"]) in said


def test_its_tables_are_files(site, finished):
    response = page(site, "results-table", finished, "workers")
    rows = list(csv.reader(io.StringIO(b"".join(response).decode("utf-8-sig"))))
    assert [row[:2] for row in rows] == [["worker", "words"], ["ann", "4"], ["ben", "6"]]
    assert page(site, "results-table", finished, "models").status_code == 404


def test_what_it_says_of_how_a_run_stands_is_on_the_page_of_the_run(site, rivers, settings):
    settings.RUN_KINDS = ["tests.evaluation.runs.run_types.words.STANDING"]
    run = runs.queue_run(rivers.latest_version(), rivers.owner_id, WordOptions(longest=6), "words")
    work_one_turn()
    said = page(site, "run", run).content.decode()
    part = page(site, "run-standing", run).content.decode()
    assert "First-half" in said
    assert "First-half" in part
    assert "<html" not in part
    assert f'data-run-standing="{reverse("admin:run-standing", args=[run.public_id])}"' in said
    assert "<dd>6 letters</dd>" in said


def test_without_it_there_is_no_such_part(site, finished):
    assert page(site, "run-standing", finished).status_code == 404


def test_a_page_that_it_declares_has_an_address(site, finished, settings):
    settings.RUN_KINDS = ["tests.evaluation.runs.run_types.words.PAGED"]
    said = page(site, "results-page", finished, "most").content.decode()
    assert '<dt>Ben</dt><dd dir="auto">6</dd>' in said
    assert 'aria-current="page">The most</a>' in said
    assert page(site, "results-page", finished, "least").status_code == 404


def test_pages_and_files_of_aqer_know_no_run_of_another_kind(site, api, finished):
    for name in (
        "results-models",
        "results-alarms",
        "results-trust",
        "results-summary",
        "results-decision",
    ):
        assert page(site, name, finished).status_code == 404, name
    assert page(site, "results-chart", finished, "grades").status_code == 404
    for end in ("workers/", "alarms/", "trust/", "comparisons/", "consensus/"):
        address = f"{reverse('api:results-run', args=[finished.public_id])}{end}"
        assert api.get(address).status_code == 404, end


def test_it_is_started_watched_and_read_over_the_api(api, rivers):
    body = {
        "question_set": str(rivers.public_id),
        "kind": "words",
        "parameters": {"longest": 6},
    }
    started = api.post("/api/v1/runs/", body, format="json")
    assert started.status_code == 202, started.json()
    assert (started.json()["kind"], started.json()["state"]) == ("words", "queued")
    while work_one_turn():
        pass
    done = api.get(started["Location"]).json()
    assert done["parameters"] == {"longest": 6, "seconds": 0.0}
    assert api.get(done["results"]).json() == {"most": "ben", "words": 5}
    [table] = api.get(f"{done['results']}tables/").json()["results"]
    assert table["name"] == "workers"
    lines = b"".join(api.get(table["url"])).decode().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"worker": "ann", "words": 2},
        {"worker": "ben", "words": 5},
    ]
    assert b"".join(api.get(f"{table['url']}?format=csv")).startswith(b"\xef\xbb\xbfworker,words")
    assert api.get(f"{table['url']}?format=pdf").status_code == 400
    assert api.get(f"{done['results']}tables/models/").status_code == 404


@pytest.mark.long
def test_the_schema_describes_requests_runs_and_the_report_of_each_kind(tmp_path):
    """Of the kinds that the settings of a process name: the one of the tests is among them."""
    made = tmp_path / "openapi.yaml"
    subprocess.run(
        [sys.executable, "manage.py", "spectacular", "--fail-on-warn", "--file", made],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "tests.evaluation.runs.run_types.settings"},
        check=True,
        timeout=120,
    )
    schemas = yaml.safe_load(made.read_text())["components"]["schemas"]
    asked = schemas["NewRunRequest"]
    assert asked["discriminator"]["mapping"]["words"] == "#/components/schemas/NewWordsRunRequest"
    of_words = schemas["NewWordsRunRequest"]
    assert [of_words["properties"][key]["enum"] for key in ("run_type", "kind")] == [["words"]] * 2
    assert set(of_words["required"]) == {"question_set"}  # either name of the run type will do
    parameters = schemas["WordsParametersRequest"]
    assert set(parameters["properties"]) == {"longest", "seconds"}
    assert parameters["additionalProperties"] is False
    assert "kind" not in schemas["NewAqerRunRequest"]["required"]  # it is the one that is meant
    assert {"$ref": "#/components/schemas/WordsRun"} in schemas["Run"]["oneOf"]
    assert {"$ref": "#/components/schemas/ResultWordReport"} in schemas["Report"]["oneOf"]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"kind": "guess"}, "kind"),
        ({"parameters": {"longest": 0}}, "longest"),
        ({"parameters": {"embedder": "bow"}}, "embedder"),
        ({"kind": "aqer", "parameters": {"longest": 6}}, "longest"),
    ],
)
def test_the_api_refuses_what_is_no_option_of_the_kind(api, rivers, changed, field):
    body = {"question_set": str(rivers.public_id), "kind": "words"} | changed
    refused = api.post("/api/v1/runs/", body, format="json")
    assert refused.status_code == 400
    assert field in json.dumps(refused.json()["errors"])
    assert not Run.objects.exists()


def test_the_command_line_runs_it_prints_and_writes_its_tables(
    rivers, monkeypatch, tmp_path, capsys
):
    def watch(run, show):
        while work_one_turn():
            pass
        run.refresh_from_db()

    monkeypatch.setattr("evaluation.management.running.follow_run", watch)
    call_command("run", "words", "rivers", "--longest", "6", "--output", str(tmp_path / "out"))
    said = capsys.readouterr().out
    assert "worker  words\n------  -----\nann         2\nben         5" in said
    assert "workers.csv written to" in said
    rows = (tmp_path / "out" / "workers.csv").read_text("utf-8-sig").splitlines()
    assert rows[1].startswith("ann,2")
    with pytest.raises(CommandError, match="longest"):
        call_command("run", "words", "rivers", "--longest", "0")


def test_a_run_of_a_kind_that_was_taken_out_still_has_a_page(site, api, finished, settings):
    settings.RUN_KINDS = settings.RUN_KINDS[:1]
    assert list(list_kinds()) == ["aqer"]
    response = page(site, "run", finished)
    said = response.content.decode()
    assert isinstance(response.context["unknown"], UnknownKindError)
    assert escape(str(UnknownKindError("words"))) in said
    assert "Results</a>" not in said
    assert page(site, "results-run", finished).status_code == 404
    assert page(site, "results-table", finished, "workers").status_code == 404
    assert site.get(reverse("admin:runs")).status_code == 200
    address = reverse("api:run-detail", args=[finished.public_id])
    assert api.get(address).json()["kind"] == "words"
    assert api.get(f"{address}results/").status_code == 404


def test_a_kind_for_files_only_is_no_kind_of_run(api, rivers, settings):
    settings.RUN_KINDS = [*settings.RUN_KINDS[:1], "tests.evaluation.runs.run_types.words.ON_FILES"]
    assert "words" in list_kinds()
    assert known_kinds() == [("aqer", "AQER")]
    asked = {"question_set": rivers.public_id, "kind": "words"}
    answer = api.post("/api/v1/runs/", asked, format="json")
    assert answer.status_code == 400
    assert "There are aqer." in str(answer.data)
    with pytest.raises(UnknownKindError, match="words"):
        runs.queue_run(rivers.latest_version(), rivers.owner_id, WordOptions(), "words")
