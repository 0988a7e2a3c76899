"""Runs of every kind over one set, with models that are really asked, seen together."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.html import escape

from evaluation.model_overview.run.findings import ViewsSummary
from evaluation.runs.result_pages import build_tabs
from evaluation.runs.run_types import get_run_kind, list_run_kinds
from tests.evaluation.model_overview.asked import Server, ask_all, options, prepare
from tests.evaluation.model_overview.test_run_type import done, page, rivers, table  # noqa: F401
from tests.sentences import site_sentence


@pytest.fixture
def asked(rivers, settings):  # noqa: F811
    settings.MODEL_NETWORKS = ["127.0.0.0/8"]
    server = Server()
    prepare(rivers, server)
    yield ask_all(rivers)
    server.chat.close()


@pytest.mark.medium
def test_every_kind_that_tells_views_stands_beside_the_others(
    client,
    rivers,  # noqa: F811
    asked,
    rendered_messages,
):
    telling = {kind.name for kind in list_run_kinds().values() if kind.views}
    assert set(options()) <= telling
    run = done(rivers)
    summary = ViewsSummary.from_json(run.summary)
    assert {source.run for source in summary.sources} == {
        str(one.public_id) for one in asked.values()
    }
    assert summary.missing == []
    assert summary.repeated == 0
    client.force_login(rivers.owner)
    rows = {(row["model"], row["question"]): row for row in table(client, run, "views")}
    assert len(rows) == 3 * 12
    means = {
        (row["model"], row["view"]): float(row["mean"])
        for row in table(client, run, "models")
        if row["mean"]
    }
    for number in range(12):
        elk, ox = rows["Elk", f"q{number}"], rows["Ox", f"q{number}"]
        # Elk says the same three times, so no entropy; it notices where there is no answer.
        assert float(elk["semantic_entropy"]) == 0
        assert float(elk["stated_confidence"]) == pytest.approx(90 - number)
        assert float(elk["notices:direct"]) == 1
        assert float(ox["notices:direct"]) == number % 2
        assert float(elk["reply_similarity"]) == pytest.approx(1)
    assert means["Ox", "semantic_entropy"] > 0
    assert means["Ox", "notices:direct"] == pytest.approx(6 / 12)
    assert means["Ox", "reply_similarity"] < means["Elk", "reply_similarity"]
    place = summary.models.index("Elk")
    rendered_messages.clear()
    said = page(client, "results-views-model", run=run.public_id, place=place)
    noticed = next(one for one in rendered_messages if one.code == "views.mean_answerability")
    assert (noticed.values["mean"], noticed.values["questions"]) == (1.0, 12)
    assert escape(site_sentence(noticed.code, **noticed.values)) in said
    for one in asked.values():
        assert reverse("admin:results-run", args=[one.public_id]) in said
    # Yak was asked by nobody, so its page offers to.
    yak = page(client, "results-views-model", run=run.public_id, place=summary.models.index("Yak"))
    assert reverse("admin:start", args=[rivers.public_id, "maqa"]) in yak


@pytest.mark.slow
def test_no_page_of_any_kind_makes_more_statements_than_a_dozen(client, rivers, asked):  # noqa: F811
    client.force_login(rivers.owner)
    found = {}
    for run in (*asked.values(), done(rivers)):
        tabs = [tab for group in build_tabs(get_run_kind(run), run, "") for tab in group.pages]
        addresses = {tab.title: tab.address for tab in tabs}
        addresses["run"] = reverse("admin:run", args=[run.public_id])
        for title, address in addresses.items():
            client.get(address)
            with CaptureQueriesContext(connection) as statements:
                assert client.get(address).status_code == 200, address
            found[run.kind, title] = len(statements)
    assert {key: n for key, n in found.items() if n > 12} == {}
    assert {kind for kind, _ in found} == {*options(), "views"}
