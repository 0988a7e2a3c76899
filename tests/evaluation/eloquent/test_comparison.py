"""Models of a run compared: on its page, in its table, with the items on which two differ most."""

import io
import json
import zipfile

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from rest_framework.test import APIClient

from annotations.exchange.reading.prompt_replies import read_prompt_replies
from annotations.models import Share
from evaluation.eloquent.report.comparison import build_differences_page, compare_run_groups
from evaluation.eloquent.report.results import load_findings_with_people
from evaluation.eloquent.run.replies import match_replies
from evaluation.eloquent.run_type import ELOQUENT
from evaluation.eloquent.storage import load_items
from evaluation.runs.flow.metrics import Exclusions
from evaluation.runs.run_types.data_sheets import (
    build_run_readme,
    build_run_zip,
    find_column_description,
)
from tests.evaluation.core.backends.chat.fake import FakeChat, said
from tests.evaluation.eloquent.test_run_type import (
    done,
    options,
    question_set,
    registered,
    rita,
    small,
    world,
)
from tests.evaluation.runs.run_types.texts import numbers_of

__all__ = ["question_set", "rita", "small", "world"]  # fixtures


@pytest.fixture
def run(question_set, small, rita, world):
    """Small says something else to each wording, steady always the same; the judge sees it."""
    steady = FakeChat(lambda body: said("Always the same <b>words</b>."))

    def judged(body):
        shown = body["messages"][-1]["content"]
        return said(f"So.\nSimilarity score: {5 if 'Always the same' in shown else 1}")

    judge = FakeChat(judged)
    try:
        models = [small, registered(rita, "steady", steady.spec)]
        yield done(question_set, options(models, [registered(rita, "strict", judge.spec)]))
    finally:
        steady.close()
        judge.close()


def page(run, **asked):
    query = "&".join(f"{name}={value}" for name, value in asked.items())
    return f"{reverse('admin:results-reply-models', args=[run.public_id])}?{query}"


def test_the_page_says_who_is_ahead_and_shows_the_texts_with_marks(client, run, rita):
    client.force_login(rita)
    response = client.get(page(run))
    shown = response.content.decode()
    # Two items, 1 against 5 on each: a difference of 4, which two items cannot show.
    (verdict,) = response.context["report"].whole.verdicts
    assert (verdict.better, verdict.other, verdict.apart) == ("steady", "small", False)
    assert verdict.difference == 4.0
    sentence = shown.split('<ul class="cg-after"><li>')[1].split("</li>")[0]
    assert sentence.index("<bdi>steady</bdi>") < sentence.index("<bdi>small</bdi>")
    assert numbers_of(sentence)[0] == 4.0
    assert 'id="one-model"' not in shown
    assert "<bdi>small</bdi>: 1.00" in shown
    assert "<bdi>steady</bdi>: 5.00" in shown
    assert "Always the same &lt;b&gt;words&lt;/b&gt;." in shown
    assert "<mark>mum</mark>" in shown
    assert "<mark>mother</mark>" in shown
    assert "<mark>Always" not in shown  # all of its replies say it
    turned = client.get(page(run, first="steady", second="small")).content.decode()
    assert turned.index("<bdi>steady</bdi>: 5.00") < turned.index("<bdi>small</bdi>: 1.00")
    same = client.get(page(run, first="small", second="small")).content.decode()
    assert 'id="same-model"' in same
    assert 'id="same-model"' not in shown
    assert client.get(page(run, first="nobody")).status_code == 404
    assert client.get(page(run, correction="benjamini-hochberg")).status_code == 200


def test_one_model_alone_is_not_compared(client, question_set, small, world, rita):
    run = done(question_set, options([small], [small]))
    client.force_login(rita)
    assert 'id="one-model"' in client.get(page(run)).content.decode()


def test_the_table_has_every_pair_in_every_group_on_the_site_and_by_rest(client, run, rita):
    api = APIClient()
    api.force_authenticate(rita)
    address = f"/api/v1/runs/{run.public_id}/results/tables/comparisons/?format=jsonl"
    rows = [json.loads(line) for line in b"".join(api.get(address).streaming_content).splitlines()]
    # Each item is a kind of variation of its own; one language alone says nothing of its own.
    assert [(row["group"], row["measure"], row["difference"], row["n"]) for row in rows] == [
        (None, "score", -4.0, 2),
        ("variation:style", "score", -4.0, 1),
        ("variation:closeness", "score", -4.0, 1),
        ("across", "similarity_across_languages", pytest.approx(rows[3]["difference"]), 1),
    ]
    assert -1 < rows[3]["difference"] < 0  # steady says the same in Swedish
    assert {row["reason"] for row in rows[1:]} == {"fewer_than_2_common_questions"}
    whole = rows[0]
    assert (whole["model_a"], whole["model_b"], whole["correction"]) == ("small", "steady", "holm")
    findings = load_findings_with_people(run)
    assert len(rows) == sum(len(one.comparisons) for one in compare_run_groups(run, findings))


def test_differences_come_largest_first_and_in_pages(run):
    findings = load_findings_with_people(run)
    sets = tuple(
        row._replace(score=3.0) if (row.system, row.item) == ("small", "001") else row
        for row in findings.sets
    )
    findings = type(findings)(**{**findings.__dict__, "sets": sets})
    whole = build_differences_page(findings, "small", "steady")
    assert [(one.item, one.difference) for one in whole.items] == [("002", -4.0), ("001", -2.0)]
    first = build_differences_page(findings, "small", "steady", 0, 1)
    assert ([one.item for one in first.items], first.next, first.total) == (["002"], 1, 2)
    second = build_differences_page(findings, "small", "steady", 1, 1)
    assert ([one.item for one in second.items], second.next) == (["001"], None)


def test_texts_come_in_pages_and_for_one_model(client, run, rita, monkeypatch):
    monkeypatch.setattr("evaluation.eloquent.report.results.SETS_SHOWN", 1)
    client.force_login(rita)
    at = reverse("admin:results-reply-texts", args=[run.public_id])
    shown = client.get(at, {"model": "steady"}).content.decode()
    assert "Always the same" in shown
    assert "reply to" not in shown
    assert client.get(at, {"model": "nobody"}).status_code == 404
    assert client.get(at, {"start": "1"}).status_code == 200
    assert client.get(at, {"start": "999"}).status_code == 200


def test_who_may_not_see_the_run_sees_no_texts(client, run):
    ed = User.objects.create_user("ed")
    Share.objects.create(question_set=run.version.question_set, user=ed, role="expert")
    client.force_login(ed)
    for name in ("results-reply-texts", "results-reply-models"):
        address = reverse(f"admin:{name}", args=[run.public_id])
        assert client.get(address).status_code == 404


def test_the_readme_of_the_download_explains_every_column(run):
    for name, table_of in ELOQUENT.tables.items():
        for column in table_of(run).header:
            assert find_column_description(name, column, ELOQUENT.columns), f"{name}.{column}"
    measure = find_column_description("comparisons", "measure", ELOQUENT.columns)
    assert f"`measure`: {measure}" in build_run_readme(ELOQUENT, run)


def test_the_download_has_the_submission_of_each_model_and_language_which_reads_as_the_same(
    run, tmp_path
):
    with zipfile.ZipFile(io.BytesIO(b"".join(build_run_zip(ELOQUENT, run)))) as archive:
        names = [name for name in archive.namelist() if name.startswith("submission_")]
        archive.extractall(tmp_path)
    assert sorted(names) == [
        f"submission_{system}_{language}.json"
        for system in ("small", "steady")
        for language in ("en", "sv")
    ]
    items = load_items(run.version)
    given = [one for name in names for one in read_prompt_replies(tmp_path / name).replies]
    exclusions = Exclusions()
    read = match_replies(items, given, exclusions).replies
    assert exclusions.as_list() == []

    def told(replies):
        return sorted((one.system, one.item, one.place, one.text) for one in replies)

    assert told(read) == told(load_findings_with_people(run).replies)
    assert len(read) == 10
