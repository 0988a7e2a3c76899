"""All that a run found as one download, of any kind: on the site, by REST, from a terminal."""

import csv
import io
import json
import zipfile

import pytest
from django.urls import reverse
from openpyxl import load_workbook
from rest_framework.test import APIClient

from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.run_types import list_kinds
from evaluation.runs.run_types.data_sheets import (
    build_run_readme,
    build_run_workbook,
    build_run_zip,
    find_column_description,
)
from tests.evaluation.runs.run_types.words import WORDS, WordOptions


@pytest.fixture
def run(rivers):
    type(rivers).objects.filter(pk=rivers.pk).update(notice="Invented people.")
    run = runs.queue_run(rivers.latest_version(), rivers.owner_id, WordOptions(), "words")
    while work_one_turn():
        pass
    run.refresh_from_db()
    return run


def unzipped(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name).decode("utf-8-sig") for name in archive.namelist()}


def bytes_of(response):
    assert response.status_code == 200
    return b"".join(response.streaming_content)


# Ann wrote 4 words, Ben 6.
WORDS_OF = [["worker", "words"], ["ann", "4"], ["ben", "6"]]


def test_the_zip_has_every_table_the_summary_the_signature_and_a_readme(run):
    files = unzipped(b"".join(build_run_zip(WORDS, run)))
    assert list(files) == ["README.md", "summary.json", "signature.txt", "workers.csv"]
    rows = list(csv.reader(io.StringIO(files["workers.csv"])))
    assert [row[:2] for row in rows] == WORDS_OF
    assert files["signature.txt"] == f"{run.signature}\n" == "words|longest:100\n"
    told = json.loads(files["summary.json"])
    assert (told["kind"], told["run"]) == ("words", str(run.public_id))
    assert told["summary"] == run.summary
    assert told["parameters"]["longest"] == 100
    assert "Invented people." in files["README.md"]
    assert "## workers.csv\n\n- `worker`: the worker's id\n- `words`\n" in files["README.md"]


def test_the_workbook_has_a_sheet_for_each_table_behind_what_columns_hold(run):
    book = load_workbook(io.BytesIO(b"".join(build_run_workbook(WORDS, run))), read_only=True)
    assert book.sheetnames == ["README", "workers"]
    rows = [[cell.value for cell in row] for row in book["workers"].iter_rows()]
    assert [row[:2] for row in rows] == [["worker", "words"], ["ann", 4], ["ben", 6]]
    about = [tuple(cell.value for cell in row)[:3] for row in book["README"].iter_rows()]
    assert ("workers", "worker", "the worker's id") in about
    assert (None, "signature", run.signature) in about


def test_the_same_run_is_the_same_file(run):
    assert b"".join(build_run_zip(WORDS, run)) == b"".join(build_run_zip(WORDS, run))
    assert b"".join(build_run_workbook(WORDS, run)) == b"".join(build_run_workbook(WORDS, run))


def test_site_rest_and_terminal_give_the_same_files(run, client, rivers, tmp_path, capsys):
    client.force_login(rivers.owner)
    api = APIClient()
    api.force_authenticate(rivers.owner)
    expected = b"".join(build_run_zip(WORDS, run))
    of_site = client.get(reverse("admin:results-data", args=[run.public_id, "zip"]))
    assert bytes_of(of_site) == expected
    assert of_site["Content-Type"] == "application/zip"
    at = f"/api/v1/runs/{run.public_id}/results/data/"
    assert bytes_of(api.get(at)) == expected
    assert bytes_of(api.get(f"{at}?format=xlsx")) == b"".join(build_run_workbook(WORDS, run))
    assert api.get(f"{at}?format=csv").status_code == 400
    assert client.get(reverse("admin:results-data", args=[run.public_id, "csv"])).status_code == 404
    page = client.get(reverse("admin:run", args=[run.public_id])).content.decode()
    assert reverse("admin:results-data", args=[run.public_id, "xlsx"]) in page


@pytest.mark.parametrize("output", ["out", "out.zip", "out.xlsx"])
def test_a_command_writes_a_folder_or_one_file(run, rivers, tmp_path, monkeypatch, capsys, output):
    from evaluation.management.commands.run import Command
    from evaluation.management.running import RunCommand

    command = Command()
    assert isinstance(command, RunCommand)
    command.write_tables(WORDS, run, tmp_path / output)
    said = capsys.readouterr().out
    files = unzipped(b"".join(build_run_zip(WORDS, run)))
    if output == "out":
        assert {path.name for path in (tmp_path / output).iterdir()} == set(files)
        written = (tmp_path / output / "workers.csv").read_bytes().decode("utf-8-sig")
        assert written == files["workers.csv"]
        assert "workers.csv written to" in said
    elif output == "out.zip":
        assert unzipped((tmp_path / output).read_bytes()) == files
    else:
        assert load_workbook(tmp_path / output).sheetnames == ["README", "workers"]


def test_a_run_that_is_not_done_has_nothing_to_take_away(rivers, client):
    run = runs.queue_run(rivers.latest_version(), rivers.owner_id, WordOptions(), "words")
    client.force_login(rivers.owner)
    assert client.get(reverse("admin:results-data", args=[run.public_id, "zip"])).status_code == 404
    api = APIClient()
    api.force_authenticate(rivers.owner)
    assert api.get(f"/api/v1/runs/{run.public_id}/results/data/").status_code == 409


def test_a_kind_may_say_what_its_columns_hold(run, monkeypatch):
    from dataclasses import replace

    kind = replace(WORDS, columns={"workers.words": "words that were counted"})
    assert "- `words`: words that were counted" in build_run_readme(kind, run)
    assert find_column_description("workers", "worker") == "the worker's id"
    assert find_column_description("workers", "no such column") == ""


def test_no_two_sheets_of_a_kind_have_one_name():
    for kind in list_kinds().values():
        names = [name[:31] for name in kind.tables]
        assert len(names) == len(set(names))
