"""From an alarm to green: what pages and REST say became of alarms after a remedy."""

import html

import pytest
from django.urls import reverse
from django.utils.html import escape

from annotations.exchange.importing import import_answers
from annotations.exchange.reading.source import make_bytes_source
from annotations.models import QuestionSet
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import API, SITE
from evaluation.core.stats.inference.clustered import ClusteredEstimate
from evaluation.grading.alarms.messages import RESULTS
from evaluation.grading.alarms.report import build_outcomes_report
from evaluation.grading.alarms.storage import save_review
from evaluation.models import AnswerScore, HumanJudgement, Run
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.judging.audit import draw_audit_sample
from evaluation.runs.reports.judging import ExpertsCheck
from evaluation.runs.reports.lists import annotate_runs_for_list
from evaluation.trust.report import build_trust_report
from tests.annotations import world
from tests.browser.crowds_that_ring import endings
from tests.evaluation.grading.storage import test_save_alarms as crowd
from tests.evaluation.site.handles import element_texts, error_codes, states

version = crowd.version
pytestmark = pytest.mark.django_db


@pytest.fixture
def site(version, client):
    owner = version.question_set.owner
    owner.is_staff = True
    owner.save()
    client.force_login(owner)
    return client


def graded(version, made_from=None, **parameters):
    asked = AqerParameters(**{"embedder": "tfidf-word", "bootstrap": 4, **parameters})
    run = runs.queue_run(version, version.question_set.owner_id, asked, made_from=made_from)
    assert work_one_turn()
    run.refresh_from_db()
    assert run.state == Run.State.DONE, run.error
    return run


def fact(run):
    return next(fact for fact in build_trust_report(run).facts if fact.name == "alarms")


def rows(run):
    return {
        (row.case, tuple(worker.name for worker in row.workers)): row
        for row in build_outcomes_report(run).rows
    }


def page(site, run, name="results-decision", **more):
    return site.get(
        reverse(f"admin:{name}", kwargs={"run": run.public_id, **more})
    ).content.decode()


@pytest.mark.medium
def test_collapsing_the_group_turns_the_alarm_green_by_itself(site, version):
    before = graded(version)
    assert build_outcomes_report(before) is None
    # The copies, and a ranking of so few that hangs on one of them, which this does not mend.
    assert fact(before).values == {"count": 2}
    after = graded(version, before, collapse_copies=True, collapse_workers=("cy", "dee"))
    assert fact(after).values == {"count": 1}
    assert [one.kind for one in after.alarms.filter(severity="alarm", answered=False)] == [
        "leverage"
    ]
    row = rows(after)["copies", ("cy", "dee")]
    assert (row.is_settled, row.before, row.place) == (True, 0, 0)
    assert (row.outcome.code, row.outcome.values["workers"]) == ("outcome.collapsed", 2)
    assert annotate_runs_for_list(Run.objects.filter(pk=after.pk)).get().n_alarms == 1
    save_review(after.alarms.get(kind="leverage"), after.owner, "dismissed", "Ten people are few.")
    assert fact(after).level == "care"  # notices
    after.alarms.filter(severity="notice").update(state="dismissed")
    green = fact(after)
    assert (green.level, green.case, green.values) == (
        *("good", "answered"),
        {"count": 1, "dismissed": 3},
    )
    shown = page(site, after)
    assert 'id="outcomes"' in shown
    assert SITE.format_message(row.outcome) in shown
    assert reverse("admin:results-alarms", args=[before.public_id]) in shown
    assert f"{RESULTS['problem']}, answered" in page(site, after, "results-alarms")
    assert "answered" in states(page(site, after, "results-alarm", place=0))


@pytest.mark.medium
def test_an_answered_alarm_that_somebody_opens_again_rings_again(site, version):
    run = graded(version, collapse_copies=True)
    alarm = run.alarms.get(kind="copies")
    save_review(alarm, run.owner, "open", "They are four people.")
    assert fact(run).level == "bad"
    assert not rows(run)["copies", ("cy", "dee")].is_settled
    assert f"{RESULTS['problem']}, answered" not in page(site, run, "results-alarms")
    assert annotate_runs_for_list(Run.objects.filter(pk=run.pk)).get().n_alarms == 2


@pytest.mark.medium
def test_the_alarms_of_the_excluded_are_gone_and_named(site, version):
    before = graded(version)
    save_review(before.alarms.get(kind="copies"), before.owner, "examined", "Same wording.")
    after = graded(version, before, exclude_workers=("dee",))
    row = rows(after)["copies", ("cy", "dee")]
    assert (row.is_settled, row.place, row.said, row.note) == (
        True, None, "Examined", "Same wording.",
    )  # fmt: skip
    shown = page(site, after)
    values = row.outcome.values
    assert (row.outcome.code, values["excluded"], values["workers"]) == (
        *("outcome.some_excluded", 1, 2),
    )
    assert SITE.format_message(row.outcome) in shown
    (before_it,) = element_texts(shown, "reviewed_before")
    assert before_it.endswith(": examined, “Same wording.”")


@pytest.mark.medium
def test_an_alarm_that_other_settings_do_not_have_is_told_of_the_run_before(version):
    before = graded(version)
    after = graded(version, before, embedder="tfidf-char")
    became = rows(after)
    assert became["copies", ("cy", "dee")].outcome.code == "outcome.still"
    assert not became["copies", ("cy", "dee")].is_settled
    gone = {row.outcome.code for row in became.values() if row.place is None}
    assert gone <= {"outcome.settings", "outcome.unchecked"}


@pytest.mark.medium
def test_the_form_of_an_alarm_collapses_that_group_and_keeps_those_before(site, version):
    run = graded(version)
    Run.objects.filter(pk=run.pk).update(
        parameters=run.parameters | {"collapse_copies": True, "collapse_workers": ["ada"]}
    )
    shown = page(site, run, "results-alarm", place=0)
    assert "collapse_workers=ada%0Acy%0Adee" in shown
    link = next(part for part in shown.split('"') if "collapse_workers=" in part)
    form = site.get(link.replace("&amp;", "&")).context["form"]
    assert form.initial["collapse_workers"] == "ada\ncy\ndee"
    sent = site.post(
        link.replace("&amp;", "&"), {**fields(form, collapse_workers="cy"), "seed": "0"}
    )
    assert sent.status_code == 302, sent.context and sent.context["form"].errors
    made = Run.objects.latest("pk")
    assert (made.made_from, made.parameters["collapse_workers"]) == (run, ["cy"])


def fields(form, **changes):
    """What the form would send, with changes; boxes that are not ticked are not sent."""
    values = {**form.initial, **changes}
    return {name: "on" if value is True else value for name, value in values.items() if value}


@pytest.mark.parametrize(
    ("changes", "code", "named"),
    [
        (
            {"collapse_copies": "on", "collapse_workers": "zebra"},
            "unknown_in_groups",
            "zebra",
        ),
        ({"collapse_workers": "cy"}, "only_with", ""),
    ],
)
def test_members_that_will_not_do_are_refused_before_a_run_is_started(
    site, version, changes, code, named
):
    form = reverse("admin:grade", args=[version.question_set.public_id])
    known = {**fields(site.get(form).context["form"]), "group_vote": "0.25", "seed": "0"}
    answer = site.post(form, known | {"embedder": "tfidf-word"} | changes)
    assert answer.status_code == 400
    (errors,) = answer.context["form"].errors.as_data().values()
    assert error_codes(errors) == [code]
    assert named in errors[0].message
    assert errors[0].message in html.unescape(answer.content.decode())
    assert not Run.objects.exists()


@pytest.mark.medium
def test_rest_tells_what_became_of_each_alarm(site, version):
    before = graded(version)
    after = graded(version, before, collapse_copies=True)
    address = reverse("api:results-alarms", kwargs={"run_id": after.public_id})
    found = site.get(address).json()
    [entry] = [one for one in found["alarms"]["results"] if one["kind"] == "copies"]
    assert (entry["answered"], entry["state"]) == (True, "remedied")
    outcome = rows(after)["copies", ("cy", "dee")].outcome
    assert (outcome.code, entry["outcome"]) == ("outcome.collapsed", API.format_message(outcome))
    [row] = [one for one in found["outcomes"] if one["case"] == "copies"]
    assert (row["is_settled"], row["before"]) == (True, 0)
    assert (
        site.get(address.replace(str(after.public_id), str(before.public_id))).json()["outcomes"]
        == []
    )


@pytest.fixture
def two_ways(db, monkeypatch):
    """A run by letters over a crowd that words rank otherwise, and the run by words after it."""
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    question_set = QuestionSet.objects.create(owner=world.user("rana", is_staff=True), name="ways")
    rows = "".join(f"{who},{what},{text}\n" for (who, what), text in endings().items())
    file = make_bytes_source("answers.csv", f"worker,question,answer\n{rows}".encode())
    import_answers(question_set, file, create_questions=True)
    version = question_set.latest_version()
    before = graded(version, embedder="tfidf-char")
    return before, graded(version, before)


def judged_like(run, n, drawn_for=None):
    """An expert grades a random sample of n answers in the order of a run's scores."""
    audit = draw_audit_sample(drawn_for or run, n, "random", with_models=False, seed=1)
    scores = dict(
        AnswerScore.objects.filter(run=run).values_list("response_id", "score_leave_one_out")
    )
    keys = list(audit.items.values_list("response_id", flat=True))
    order = sorted(keys, key=lambda key: scores[key])
    HumanJudgement.objects.bulk_create(
        HumanJudgement(response_id=key, expert=run.owner, grade=round(5 * at / (n - 1), 1))
        for at, key in enumerate(order)
    )


def by_words(run):
    (row,) = [row for row in build_outcomes_report(run).rows if row.case == "grader_disagreement"]
    return row


@pytest.mark.medium
def test_a_run_by_words_takes_a_side_and_says_that_experts_settle_it(client, two_ways):
    before, after = two_ways
    (alarm,) = before.alarms.filter(kind="grader_disagreement")
    row = by_words(after)
    assert (row.outcome.code, row.is_settled) == ("outcome.by_words", False)
    assert row.outcome.values["agreement"] == pytest.approx(alarm.statistic)
    assert row.asks_experts
    client.force_login(after.owner)
    shown = page(client, after)
    assert escape(SITE.format_message(row.outcome)) in shown
    cards = shown[shown.index('id="outcomes"') :]
    assert reverse("admin:results-audit", args=[after.public_id]) in cards[: cards.index("</ul>")]


@pytest.mark.medium
@pytest.mark.parametrize("at", [0, 1])
def test_experts_who_agree_with_the_run_by_words_settle_it_wherever_they_were_asked(two_ways, at):
    after = two_ways[1]
    judged_like(after, 30, two_ways[at])
    row = by_words(after)
    assert (row.outcome.code, row.is_settled) == ("outcome.by_words_agree", True)
    values = row.outcome.values
    assert values["count"] == 30
    assert values["correlation"] > 0.8 > values["before"]
    assert build_outcomes_report(after).n_left == 0


@pytest.mark.medium
def test_experts_who_agree_with_the_run_before_leave_it_open_and_say_so(two_ways):
    before, after = two_ways
    judged_like(before, 30)
    row = by_words(after)
    assert (row.outcome.code, row.is_settled) == ("outcome.by_words_unsure", False)
    values = row.outcome.values
    assert (values["count"], values["fewest"]) == (30, 20)
    assert values["before"] > values["correlation"]


@pytest.mark.medium
def test_a_few_grades_settle_nothing(two_ways):
    _, after = two_ways
    judged_like(after, 10)
    row = by_words(after)
    assert (row.outcome.code, row.is_settled) == ("outcome.by_words_unsure", False)
    # Too few to say.
    assert (row.outcome.values["count"], row.outcome.values["fewest"]) == (10, 20)


@pytest.mark.medium
def test_grades_that_go_with_neither_run_settle_nothing(two_ways):
    _, after = two_ways
    judged_like(after, 30)
    for at, one in enumerate(HumanJudgement.objects.order_by("pk")):
        HumanJudgement.objects.filter(pk=one.pk).update(grade=5 * (at % 2))
    row = by_words(after)
    assert (row.outcome.code, row.is_settled) == ("outcome.by_words_unsure", False)
    # They are enough, and agree with neither.
    values = row.outcome.values
    assert (values["count"], values["fewest"]) == (30, 20)
    assert abs(values["correlation"]) < 0.5
    assert abs(values["before"]) < 0.5


@pytest.mark.medium
@pytest.mark.parametrize(
    ("before", "settled"), [(0.7, True), (None, True), (0.8, False), (0.85, False)]
)
def test_where_experts_agree_with_both_runs_the_better_one_settles_it(
    two_ways, monkeypatch, before, settled
):
    def check(run, audit, judged):
        value = 0.8 if run == two_ways[1] else before
        answers = ClusteredEstimate(value, 0.6, 0.9, 30, n_clusters=12)
        return ExpertsCheck(answers, 1, None, sampled=True, chose=False)

    monkeypatch.setattr("evaluation.grading.alarms.report.outcomes.check_experts", check)
    row = by_words(two_ways[1])
    assert row.is_settled == settled
    assert row.outcome.code == f"outcome.by_words_{'agree' if settled else 'unsure'}"
