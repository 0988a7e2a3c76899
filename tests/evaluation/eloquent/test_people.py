"""Experts judge whether replies mean the same: blindly, beside the judge, and as files read it."""

import csv
import io
import json
import re

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotations.models import Share
from evaluation.eloquent.report import SAME_MEANING, build_report, load_findings_with_experts
from evaluation.models import Exhibit, HumanJudgement, JudgementRequest
from evaluation.runs.judging import draw_sample
from evaluation.runs.reports.judging import build_judging_report
from tests.evaluation.core.backends.chat.fake import FakeChat, said
from tests.evaluation.eloquent.test_evaluate import prompts_text
from tests.evaluation.eloquent.test_run_type import (
    done,
    options,
    question_set,
    registered,
    rita,
    small,
    world,
)

__all__ = ["question_set", "rita", "small", "world"]  # fixtures


@pytest.fixture
def other(rita):
    """A model that says something else, and is judged as the first one."""
    server = FakeChat(lambda body: said(f"other words for {body['messages'][-1]['content']}"))
    yield registered(rita, "verbose-machine", server.spec)
    server.close()


@pytest.fixture
def run(question_set, small, other, world):
    return done(question_set, options([small, other], [small]))


def judged(run, name, grades):
    """An expert's grades by (system, item), of everything with a grade."""
    user = User.objects.create_user(name)
    Share.objects.create(question_set=run.version.question_set, user=user, role="expert")
    for exhibit in draw_sample(run, SAME_MEANING, 100, 0):
        system, item, _ = exhibit.key
        if (system, item) in grades:
            HumanJudgement.objects.create(exhibit=exhibit, expert=user, grade=grades[system, item])
    return user


OF_ED = {("small", "001"): 5, ("small", "002"): 2, ("verbose-machine", "001"): 1}
OF_EVE = {("small", "001"): 4, ("small", "002"): 2, ("verbose-machine", "002"): 3}


def test_every_set_that_a_judge_sees_can_be_shown_and_nothing_tells_the_system(run):
    drawn = draw_sample(run, SAME_MEANING, 100, 0)
    # Two items with two wordings in English; the Swedish one is alone.
    assert {tuple(one.key) for one in drawn} == {
        (system, item, "en") for system in ("small", "verbose-machine") for item in ("001", "002")
    }
    for one in drawn:
        text = json.dumps(one.shown)
        assert "verbose-machine" not in text
        assert "small" not in text
        assert "Similarity score" not in text
        asked, *replies = one.shown
        assert (asked["folded"], len(replies)) == (True, 2)
        assert [part["title"] for part in replies] == ["Reply 1", "Reply 2"]


@pytest.mark.medium
def test_the_order_of_replies_is_random_and_the_seeds(run):
    orders = set()
    for seed in range(12):
        [first] = [
            one
            for one in draw_sample(run, SAME_MEANING, 9, seed)
            if one.key == ["small", "001", "en"]
        ]
        orders.add(tuple(part["text"] for part in first.shown[1:]))
        Exhibit.objects.all().delete()
    assert len(orders) == 2


@pytest.mark.medium
def test_an_expert_judges_blindly_one_set_after_the_other(client, run, rita):
    ed = User.objects.create_user("ed")
    Share.objects.create(question_set=run.version.question_set, user=ed, role="expert")
    client.force_login(rita)
    page = reverse("admin:results-judging", args=[run.public_id, "same-meaning"])
    assert client.get(page).context["report"].experts == []
    client.post(page, {"count": 4, "seed": 3, "experts": [ed.pk]})
    of_ed = Client()
    of_ed.force_login(ed)
    start = reverse("admin:judging", args=[run.version.question_set.public_id])
    (queue,) = of_ed.get(start).context["queues"]
    assert (queue.progress.done, queue.progress.total) == (0, 4)
    asked = JudgementRequest.objects.filter(expert=ed).order_by("place").first()
    at = reverse("admin:judge", args=[run.version.question_set.public_id, asked.public_id])
    for number in range(1, 5):
        shown = of_ed.get(at).content.decode()
        said = re.sub(r"(?s)<head>.*?</head>", "", shown)
        assert f"Set of replies {number} of 4" in said
        assert SAME_MEANING.question in said
        for hidden in ("verbose-machine", "small model", str(run.public_id), "Similarity"):
            assert hidden not in said, hidden
        at = of_ed.post(at, {"grade": str(number)}).url
    assert at == start
    assert HumanJudgement.objects.filter(expert=ed).count() == 4
    assert "4 of 4 judged" in client.get(page).content.decode()


def test_scores_of_people_stand_beside_the_judges_and_change_none_of_its_numbers(run):
    before = build_report(run)
    judged(run, "ed", OF_ED)
    judged(run, "eve", OF_EVE)
    report = build_report(run)
    small, verbose = report.systems
    # Of small: item 001 (5 + 4)/2 = 4.5, 002 (2 + 2)/2 = 2; their mean 3.25. The judge says 4, 4.
    assert (small.human_mean, small.human_n, small.judged_mean) == (3.25, 2, 4.0)
    assert (verbose.human_mean, verbose.human_n) == (2.0, 2)
    assert [(one.sum, one.mean, one.rank) for one in report.systems] == [
        (one.sum, one.mean, one.rank) for one in before.systems
    ]
    # Furthest apart: verbose on 001, 4 by the judge and 1 by Ed.
    first = report.apart[0]
    assert (first.system, first.item, first.score, first.human_score) == (
        "verbose-machine",
        "001",
        4.0,
        1.0,
    )
    pairs = {(one.judge, one.other): one.n for one in report.agreements}
    assert pairs == {
        ("small", "human:ed"): 3,
        ("small", "human:eve"): 3,
        ("human:ed", "human:eve"): 2,
    }


def test_where_only_people_judged_their_scores_make_the_sums(question_set, small, world):
    run = done(question_set, options([small]))
    assert build_report(run).systems[0].sum is None
    judged(run, "ed", OF_ED)
    (system,) = build_report(run).systems
    assert (system.sum, system.n, system.mean) == (7.0, 2, 3.5)
    assert build_report(run).apart == []


@pytest.mark.medium
def test_experts_are_compared_with_each_other_and_with_the_judge(run):
    judged(run, "ed", OF_ED)
    judged(run, "eve", OF_EVE)
    report = build_judging_report(run, SAME_MEANING)
    [people] = report.between
    # 5 and 4, 2 and 2: half alike, .5 apart.
    assert (people.found.n, people.found.alike, people.found.distance) == (2, 0.5, 0.5)
    beside = {pair.one: pair.found for pair in report.with_machines}
    # The judge gives 4 to each: 5, 2, 1 are 1, 2 and 3 away.
    assert (beside["ed"].n, beside["ed"].distance) == (3, 2.0)


def csv_of(client, run, name):
    address = reverse("admin:results-table", args=[run.public_id, name])
    return b"".join(client.get(address).streaming_content)


def rows_of(data):
    rows = csv.DictReader(io.StringIO(data.decode("utf-8-sig")))
    return [{name: row[name] for name in row if name != "crowdgrade:defused"} for row in rows]


@pytest.mark.medium
def test_the_command_makes_the_same_numbers_of_what_is_taken_away(client, run, rita, tmp_path):
    judged(run, "ed", OF_ED)
    judged(run, "eve", OF_EVE)
    client.force_login(rita)
    (tmp_path / "prompts.json").write_text(prompts_text())
    for name in ("replies", "judgements", "same-meaning"):
        (tmp_path / f"{name}.csv").write_bytes(csv_of(client, run, name))

    def evaluated(*judgements):
        output = tmp_path / f"of {len(judgements)} {judgements[0]}"
        call_command(
            "evaluate",
            "eloquent",
            str(tmp_path / "prompts.json"),
            *("--replies", str(tmp_path / "replies.csv")),
            *(part for one in judgements for part in ("--judgements", str(tmp_path / one))),
            *("--embedder", "tfidf-word", "--bootstrap", "20", "--output", str(output)),
        )
        return output

    both = evaluated("judgements.csv")
    for name, file in (
        ("metrics", "metrics.csv"),
        ("items", "items.csv"),
        ("reply-sets", "reply_sets.csv"),
        ("agreement", "agreement.csv"),
    ):
        ours = rows_of(csv_of(client, run, name))
        theirs = [row for row in rows_of((both / file).read_bytes()) if row.get("system") != ""]
        ours = [row for row in ours if row.get("system") != ""]  # counts of prompts, averages
        assert ours == theirs, name
        assert ours
    # What people said is a file of its own, too: alone it makes the scores.
    alone = rows_of((evaluated("same-meaning.csv") / "metrics.csv").read_bytes())
    sums = {
        row["system"]: float(row["value"])
        for row in alone
        if row["metric"] == "sum" and not row["group"]
    }
    assert sums == {"small": 6.5, "verbose-machine": 4.0}


@pytest.mark.medium
def test_the_pages_say_what_people_said(client, run, rita):
    client.force_login(rita)
    page = reverse("admin:results-run", args=[run.public_id])
    assert 'id="apart"' not in client.get(page).content.decode()
    judged(run, "ed", OF_ED)
    shown = client.get(page).content.decode()
    assert 'id="apart"' in shown
    assert "human:ed" in shown
    findings = load_findings_with_experts(run)
    assert findings.find_metric("small", "human_mean").value == 3.5
    texts = client.get(reverse("admin:results-reply-texts", args=[run.public_id]))
    assert "human:ed" in texts.content.decode()


@pytest.mark.medium
def test_judgements_are_evaluated_once_until_somebody_says_something_else(run):
    ed = judged(run, "ed", OF_ED)
    first = load_findings_with_experts(run)
    assert load_findings_with_experts(run) is first
    one = HumanJudgement.objects.filter(expert=ed, grade=5).get()
    one.grade = 1
    one.save()
    # Of small: 1 and 2 in place of 5 and 2.
    assert load_findings_with_experts(run).find_metric("small", "human_mean").value == 1.5
