"""What a kind puts before experts by a declaration: drawn, asked, judged blindly, compared."""

import csv
import io
import re

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from annotations.models import Share
from evaluation.models import Exhibit, HumanJudgement, JudgementRequest
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.judging import (
    Choice,
    Judging,
    draw_sample,
    load_judgements,
    request_judgements,
)
from evaluation.runs.reports.judging import build_judging_report
from tests.desk.forms_on_pages import Page
from tests.evaluation.runs.run_types.words import PLENTY, SORT, WordOptions


@pytest.fixture
def run(rivers, settings):
    settings.RUN_KINDS = [*settings.RUN_KINDS[:-1], "tests.evaluation.runs.run_types.words.JUDGED"]
    run = runs.queue_run(rivers.latest_version(), rivers.owner_id, WordOptions(), "words")
    while work_one_turn():
        pass
    run.refresh_from_db()
    return run


@pytest.fixture
def site(client, rivers):
    client.force_login(rivers.owner)
    return client


def expert(run, name):
    user = User.objects.create_user(name)
    Share.objects.create(question_set=run.version.question_set, user=user, role="expert")
    client = Client()
    client.force_login(user)
    return user, client


def page(run, name="plenty"):
    return reverse("admin:results-judging", args=[run.public_id, name])


def start(run):
    return reverse("admin:judging", args=[run.version.question_set.public_id])


def ask(site, run, *experts, name="plenty", count=2, seed=0):
    who = [user.pk for user in experts]
    return site.post(page(run, name), {"count": count, "seed": seed, "experts": who})


def tasks(run, user):
    of_set = run.version.question_set.public_id
    asked = JudgementRequest.objects.filter(expert=user).order_by("place", "pk")
    return [reverse("admin:judge", args=[of_set, one.public_id]) for one in asked]


def words_of(client, task):
    return re.search(r"<blockquote[^>]*>(\d+)</blockquote>", client.get(task).content.decode())[1]


def judged(run, name, grades, judging=PLENTY):
    """An expert who judged: a value by worker."""
    user, _ = expert(run, name)
    for one in draw_sample(run, judging, 2, 0):
        value = grades.get(one.key[0])
        if value is not None:
            given = {"grade": value} if judging.graded else {"label": value}
            HumanJudgement.objects.create(exhibit=one, expert=user, **given)


def test_experts_are_asked_about_a_random_sample_and_judge_it_by_keys_of_their_scale(site, run):
    ed, client = expert(run, "ed")
    assert ask(site, run, ed).status_code == 302
    (queue,) = client.get(start(run)).context["queues"]
    assert (queue.judging.name, queue.progress.done, queue.progress.total) == ("plenty", 0, 2)
    first, second = tasks(run, ed)
    said = client.get(first).content.decode()
    assert "Did they write plenty?" in said
    assert re.findall(r'data-key="(\d)" name="grade" value="\1"', said) == list("012345")
    assert client.post(first, {"grade": "4"}).url == second
    assert client.post(second, {"grade": "1"}).url == start(run)
    (queue,) = client.get(start(run)).context["queues"]
    assert (queue.progress.done, queue.progress.next) == (2, None)
    # Ann wrote 4 words, Ben 6: whatever the order was, each has the grade given to its text.
    given = {one.key: one.value for one in load_judgements(run, PLENTY)}
    assert given == {
        ("ann",): 4.0 if words_of(client, first) == "4" else 1.0,
        ("ben",): 4.0 if words_of(client, first) == "6" else 1.0,
    }


def test_a_label_is_stored_as_its_code_and_can_be_changed(site, run):
    ed, client = expert(run, "ed")
    ask(site, run, ed, name="sort")
    first, _ = tasks(run, ed)
    assert 'data-key="f"' in client.get(first).content.decode()
    for code in ("few", "few", "many"):
        assert client.post(first, {"grade": code}).status_code == 302
    assert list(HumanJudgement.objects.values_list("grade", "label")) == [(None, "many")]
    said = client.get(first).content.decode()
    assert 'data-key="m" name="grade" value="many" aria-pressed="true"' in said
    refused = client.post(first, {"grade": "3"})
    assert refused.status_code == 400
    assert refused.context["problem"] in refused.content.decode()
    assert refused.context["problem"] != ""
    assert HumanJudgement.objects.get().label == "many"


def test_things_of_two_sorts_are_judged_one_sort_after_the_other(site, run):
    ed, client = expert(run, "ed")
    ask(site, run, ed)
    ask(site, run, ed, name="sort")
    found = client.get(start(run)).context["queues"]
    assert [(one.judging.name, one.progress.total) for one in found] == [
        ("plenty", 2),
        ("sort", 2),
    ]
    first = reverse("admin:judge", args=[start_set(run), found[0].progress.next])
    following = client.post(first, {"grade": "2"}).url
    assert "Worker 2 of 2" in client.get(following).content.decode()
    assert "Did they write plenty?" in client.get(following).content.decode()


def start_set(run):
    return run.version.question_set.public_id


def test_a_larger_sample_holds_the_smaller_one_and_keeps_its_seed(run):
    [one] = draw_sample(run, PLENTY, 1, seed=5)
    both = draw_sample(run, PLENTY, 9, seed=77)
    assert both[0].key == one.key
    assert {part.key[0] for part in both} == {"ann", "ben"}
    assert {part.seed for part in both} == {5}
    assert draw_sample(run, PLENTY, 1, seed=5) == [one]
    assert Exhibit.objects.count() == 2


def test_the_seed_decides_what_is_drawn_first(run):
    firsts = set()
    for seed in range(12):
        firsts.add(draw_sample(run, PLENTY, 1, seed)[0].key[0])
        Exhibit.objects.all().delete()
    assert firsts == {"ann", "ben"}  # alike for all seeds once in 2048


def test_each_expert_has_an_order_of_their_own_that_the_seed_tells(run):
    drawn = draw_sample(run, PLENTY, 2, 0)

    def order(user):
        request_judgements(drawn, user.pk)
        asked = JudgementRequest.objects.filter(expert=user).order_by("place", "pk")
        return [(one.exhibit.key[0], one.place) for one in asked]

    users = [User.objects.create_user(f"expert {at}") for at in range(10)]
    orders = [order(user) for user in users]
    assert len({tuple(name for name, _ in one) for one in orders}) == 2
    JudgementRequest.objects.all().delete()
    assert [order(user) for user in users] == orders


def test_asking_twice_changes_nothing(site, run):
    ed, _ = expert(run, "ed")
    for _ in range(2):
        ask(site, run, ed)
    assert JudgementRequest.objects.count() == 2


@pytest.mark.medium
def test_two_experts_and_a_program_are_compared(run):
    judged(run, "ed", {"ann": 4, "ben": 5})
    judged(run, "eve", {"ann": 2, "ben": 5})
    report = build_judging_report(run, PLENTY)
    [pair] = report.between
    # 4 and 5 beside 2 and 5: alike in one of two, 2 apart in the other.
    assert (pair.one, pair.other) == ("ed", "eve")
    assert (pair.found.n, pair.found.alike, pair.found.distance) == (2, 0.5, 1.0)
    assert pair.found.difference == 1.0
    # In halves: (8, 10) and (4, 10). Observed 16 + 0; expected (16 + 4 + 36 + 0) / 2 = 28.
    assert pair.found.kappa.value == pytest.approx(1 - 16 / 28)
    # The counter says 4 and 5 (6 words are 5 at most), as Ed does.
    beside = {pair.one: pair.found for pair in report.with_machines}
    assert (beside["ed"].alike, beside["ed"].kappa.value) == (1.0, 1.0)
    assert (report.n_drawn, report.n_judged, report.n_by_two, report.n_given) == (2, 2, 2, 4)
    assert [(row.choice.code, row.n) for row in report.counts if row.n] == [
        ("2", 1),
        ("4", 1),
        ("5", 2),
    ]


def test_labels_are_compared_by_kappa_alone(run):
    judged(run, "ed", {"ann": "few", "ben": "many"}, SORT)
    judged(run, "eve", {"ann": "few", "ben": "few"}, SORT)
    [pair] = build_judging_report(run, SORT).between
    # Alike in one of two; expected alike: few .5 * 1, many .5 * 0. 1 - .5 / .5 = 0.
    assert (pair.found.alike, pair.found.kappa.value) == (0.5, 0.0)
    assert (pair.found.distance, pair.found.rank_correlation) == (None, None)


def test_the_page_shows_agreement_and_the_table_has_a_row_for_each_judgement(site, run):
    judged(run, "ed", {"ann": 4, "ben": 5})
    judged(run, "eve", {"ann": 2})
    response = site.get(page(run))
    said = response.content.decode()
    assert "<strong>3</strong> judgements" in said
    between, with_machines = response.context["groups"]
    for group in (between, with_machines):
        assert group["pairs"]
        assert f'<th scope="rowgroup" colspan="7">{group["title"]}</th>' in said
    address = reverse("admin:results-table", args=[run.public_id, "plenty"])
    text = b"".join(site.get(address).streaming_content).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {(row["worker"], row["judge"], row["repeat"], float(row["score"])) for row in rows} == {
        ("ann", "human:ed", "1", 4.0),
        ("ben", "human:ed", "1", 5.0),
        ("ann", "human:eve", "1", 2.0),
    }


def test_who_may_look_and_who_may_ask(site, run):
    ed, of_ed = expert(run, "ed")
    vera = User.objects.create_user("vera")
    Share.objects.create(question_set=run.version.question_set, user=vera, role="viewer")
    of_vera = Client()
    of_vera.force_login(vera)
    otto = User.objects.create_user("otto", is_staff=True)
    of_otto = Client()
    of_otto.force_login(otto)
    assert site.get(page(run)).status_code == 200
    assert of_vera.get(page(run)).status_code == 200
    assert 'name="count"' not in of_vera.get(page(run)).content.decode()
    assert ask(of_vera, run, ed).status_code == 403
    for stranger in (of_ed, of_otto):  # an expert judges blindly: there are no results for them
        assert stranger.get(page(run)).status_code == 404
        assert ask(stranger, run, ed).status_code == 404
    assert not JudgementRequest.objects.exists()
    assert site.get(page(run, "nothing")).status_code == 404


def test_only_experts_of_the_set_and_oneself_can_be_asked(site, run, rivers):
    stranger = User.objects.create_user("stranger")
    for who in ([stranger.pk], ["x"], []):
        site.post(page(run), {"count": 2, "seed": 0, "experts": who})
    site.post(page(run), {"count": 0, "seed": -1, "experts": [rivers.owner_id]})
    assert not JudgementRequest.objects.exists()
    assert site.post(page(run), {"count": 1, "seed": 0, "experts": [rivers.owner_id]}).url == start(
        run
    )
    assert JudgementRequest.objects.get().expert == rivers.owner


def test_what_cannot_be_asked_comes_back_marked_and_as_it_was_sent(site, run):
    response = site.post(page(run), {"count": "0", "seed": "5"})
    assert response.status_code == 400
    shown = Page(response.content.decode())
    assert {control["name"] for control, _ in shown.wrong} == {"count", "experts"}
    assert "No request" in shown.alerts
    form = next(one for one in shown.forms if "seed" in one.asked)
    assert (form.held["count"], form.held["seed"]) == (["0"], ["5"])
    assert not run.exhibits.exists()


def test_an_expert_sees_only_what_was_asked_of_them(site, run):
    ed, of_ed = expert(run, "ed")
    _, of_eve = expert(run, "eve")
    ask(site, run, ed)
    first, _ = tasks(run, ed)
    assert of_eve.get(first).status_code == 404
    assert of_eve.post(first, {"grade": "1"}).status_code == 404
    said = re.sub(r"(?s)<head>.*?</head>", "", of_ed.get(first).content.decode())
    for hidden in ("ann", "ben", str(run.public_id), "counter"):
        assert hidden not in said.casefold(), hidden
    assert not Exhibit.objects.visible_to(ed).exists()
    assert not HumanJudgement.objects.visible_to(ed).exists()


def test_without_its_kind_nothing_of_it_is_asked_and_nothing_is_lost(site, run, settings):
    ed, client = expert(run, "ed")
    ask(site, run, ed)
    settings.RUN_KINDS = settings.RUN_KINDS[:-1]
    assert client.get(start(run)).context["queues"] == []
    assert client.get(tasks(run, ed)[0]).status_code == 404
    settings.RUN_KINDS = [*settings.RUN_KINDS, "tests.evaluation.runs.run_types.words.JUDGED"]
    (queue,) = client.get(start(run)).context["queues"]
    assert (queue.judging.name, queue.progress.done, queue.progress.total) == ("plenty", 0, 2)


def test_the_database_refuses_a_judgement_of_nothing_of_two_things_and_of_two_sorts(run, rivers):
    [exhibit] = draw_sample(run, PLENTY, 1, 0)
    response = rivers.latest_version().questions.first().responses.first()
    for wrong in (
        {"grade": 3},
        {"grade": 3, "exhibit": exhibit, "response": response},
        {"exhibit": exhibit},
        {"grade": 3, "label": "few", "exhibit": exhibit},
        {"grade": 6, "exhibit": exhibit},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            HumanJudgement.objects.create(expert=rivers.owner, **wrong)


def test_a_scale_is_of_grades_or_of_labels():
    with pytest.raises(ValueError, match=r"^x: "):
        Judging(
            name="x",
            title="",
            one="",
            many="",
            words="",
            question="",
            choices=(Choice("0", "none", 0), Choice("?", "cannot tell")),
        )
