"""The expert check: a requester starts it, experts find it, judge blindly, and it is read."""

import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotations.models import QuestionSet, Share
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import SITE
from evaluation.grading.storage.inputs import load_inputs
from evaluation.models import Audit, HumanJudgement, JudgementRequest, Run
from evaluation.runs.judging.audit import draw_audit_sample
from evaluation.runs.judging.declaration import ANSWERS, HALF_KEY
from evaluation.site.judging import PROBLEMS
from evaluation.trust.report import build_trust_report
from tests.evaluation.grading.results import world
from tests.evaluation.judging_world import drawn, expert, grade
from tests.evaluation.site.handles import element_text, error_codes, notices, numbers, states

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(rana):
    return world.finished(owner=rana, n_workers=9, n_questions=10)


def page(run):
    return reverse("admin:results-audit", kwargs={"run": run.public_id})


def of_set(name, run, *more):
    return reverse(f"admin:{name}", args=[run.version.question_set.public_id, *more])


def ask(site, run, *experts, **given):
    who = [user.pk for user in experts]
    form = {"do": "ask", "count": 20, "design": "question", "seed": 0, "experts": who}
    return site.post(page(run), form | given)


def codes_of(response):
    """The codes of a form's errors by its fields."""
    errors = response.context_data["form"].errors.as_data()
    return {field: error_codes(found) for field, found in errors.items()}


def text(response, status=200):
    assert response.status_code == status
    return response.content.decode()


def test_before_starting_it_says_what_a_sample_will_tell(site, run):
    said = text(site.get(page(run)))
    # All 90 answers, a correlation of .7, 19 times of 20.
    assert numbers(element_text(said, "foreseen-for")) == [90, 0.7, 19, 20]
    rows = dict(re.findall(r'class="cg-number">(\d+)</th>.*?(± 0\.\d\d)', said))
    # Fisher's error with t of 9 degrees, for there are 10 questions: arctanh .7 = .867, less and
    # plus 2.262 / sqrt(n - 3), which is .855, .549, .330.
    assert rows == {"10": "± 0.46", "20": "± 0.29", "50": "± 0.17"}
    assert 'name="count" value="20"' in said
    assert "no_experts" in states(said)


@pytest.mark.medium
def test_a_requester_asks_experts_and_they_find_it_on_their_first_page(site, run):
    ed, client = expert(run)
    home = reverse("admin:index")
    assert "nothing_to_judge" in states(text(client.get(home)))
    assert ask(site, run, ed).status_code == 302
    audit = Audit.objects.get(run=run)
    assert (audit.items.count(), audit.design, audit.seed) == (20, "question", 0)
    said = text(client.get(home))
    assert "0 of 20" in said
    first = re.search(r'href="([^"]+)"[^>]*>Judge</a>', said)[1]
    listed = text(client.get(reverse("admin:question-sets")))
    assert re.search(rf'<a href="{first}">Judge</a>: 0 of 20 judged', listed)
    # Judged on one device, gone on with on another: all that counts is stored.
    following = client.post(first, {"grade": "4"}).url
    client.force_login(ed)
    assert following in text(client.get(home))
    assert "1 of 20" in text(client.get(home))
    assert "1 of 20" in text(site.get(reverse("admin:runs")))
    assert "1 of 20 graded" in text(site.get(page(run)))


@pytest.mark.slow
def test_an_expert_sees_question_and_answer_and_not_whose_it_is_or_how_it_scored(site, run):
    run.answer_scores.update(score_leave_one_out=0.4321)
    ed, client = expert(run)
    ask(site, run, ed, count=40, with_models="on")
    tasks = JudgementRequest.objects.filter(expert=ed)
    assert tasks.filter(llm_response__isnull=False).count() == 10
    # The texts of this world name their writers: what stands around them must not.
    for task in tasks:
        answer = task.response or task.llm_response
        said = text(client.get(of_set("judge", run, task.public_id)))
        assert answer.text in said
        away = r"(?s)<head>.*?</head>|<blockquote.*?</blockquote>|<input[^>]*>"  # tokens of forms
        around = re.sub(away, "", said)
        for hidden in ("model", "w00", "Prolific", "score", "0.43", "rank", str(run.public_id)):
            assert hidden not in around, hidden
    for hidden in (page(run), reverse("admin:results-trust", args=[run.public_id])):
        assert client.get(hidden).status_code == 404


@pytest.mark.medium
def test_half_steps_are_given_in_words_and_by_two_keys(site, run):
    ed, client = expert(run)
    ask(site, run, ed, count=3)
    first = reverse("admin:judge", args=[*task_of(client, run)])
    shown = client.get(first)
    said = text(shown)
    buttons = re.findall(r'data-key="(h?[0-5])" name="grade" value="([\d.]+)".*?<span>(.*?)<', said)
    assert len(buttons) == 11
    words = {choice.code: choice.words for choice in ANSWERS.choices}
    assert buttons[6:9] == [
        ("3", "3", words["3"]),
        ("h3", "3.5", words["3.5"]),
        ("4", "4", words["4"]),
    ]
    # Keys from 0 to 5, and h before a half.
    keys = shown.context["keys"]
    assert keys in said
    assert numbers(keys) == [0, 5]
    assert f" {HALF_KEY} " in keys
    ((level, notice),) = notices(client.post(first, {"grade": "3.5"}, follow=True))
    assert (level, numbers(notice)) == ("success", [3.5])
    assert words["3.5"] in notice
    assert HumanJudgement.objects.get().grade == 3.5
    again = text(client.get(first))
    assert re.search(r'value="3.5" aria-pressed="true"', again)
    assert numbers(element_text(again, "given")) == [3.5]
    refused = client.post(first, {"grade": "3.25"})
    assert PROBLEMS["grade"] in text(refused, 400)


def test_a_grade_of_another_scale_stays_as_it_was_given(site, run):
    ed, client = expert(run)
    ask(site, run, ed, count=3)
    address = task_of(client, run)
    task = JudgementRequest.objects.get(public_id=address[1])
    HumanJudgement.objects.create(response=task.response, expert=ed, grade=3.7)
    said = text(client.get(reverse("admin:judge", args=address)))
    assert numbers(element_text(said, "given")) == [3.7]
    assert 'aria-pressed="true"' not in said
    assert HumanJudgement.objects.get().grade == 3.7


def test_the_reference_answer_is_shown_where_there_is_one(site, run):
    ed, client = expert(run)
    ask(site, run, ed, count=3)
    address = task_of(client, run)
    assert "Reference answer" not in text(client.get(reverse("admin:judge", args=address)))
    question = JudgementRequest.objects.get(public_id=address[1]).response.question
    for accepted, shown in (
        (["twice <a day>"], ["Reference answer</h2>", "twice &lt;a day&gt;"]),
        ([["1858", "in 1858"], "1866"], ["Reference answers</h2>", "1858 / in 1858<br>1866"]),
    ):
        question.accepted_answers = accepted
        question.save()
        said = text(client.get(reverse("admin:judge", args=address)))
        assert all(one in said for one in shown)


@pytest.mark.medium
def test_the_last_judgement_can_be_undone(site, run):
    ed, client = expert(run)
    ask(site, run, ed, count=3)
    first = reverse("admin:judge", args=[*task_of(client, run)])
    assert '/undo/"' not in text(client.get(first))
    second = client.post(first, {"grade": "4"}).url
    undo = re.search(r'action="([^"]+/undo/)"', text(client.get(second)))[1]
    assert client.get(undo).status_code == 405
    assert client.post(undo).url == first
    assert not HumanJudgement.objects.exists()
    assert "0 of 3" in text(client.get(reverse("admin:index")))
    assert client.post(undo).status_code == 302  # twice changes nothing
    for address in (first, second):
        following = client.post(address, {"grade": "2"}).url
    client.post(following, {"grade": "1"})
    done = text(client.get(of_set("judging", run)))
    assert "judging_done" in states(done)
    assert client.post(re.search(r'action="([^"]+/undo/)"', done)[1]).url == following
    assert sorted(HumanJudgement.objects.values_list("grade", flat=True)) == [2, 2]


def task_of(client, run):
    queue = client.get(of_set("judging", run)).context["queues"][0]
    return run.version.question_set.public_id, queue.progress.next


def test_what_will_not_do_is_said_at_its_field_and_what_was_chosen_stays(site, run):
    ed, _ = expert(run)
    refused = ask(site, run, count=0, design="grade", seed=7)
    said = text(refused, 400)
    assert codes_of(refused) == {"experts": ["required"], "count": ["min_value"]}
    assert '<option value="grade" selected>' in said
    assert 'name="seed" value="7"' in said
    assert not Audit.objects.exists()
    stranger = User.objects.create_user("otto")
    refused = ask(site, run, stranger)
    text(refused, 400)
    assert codes_of(refused) == {"experts": ["invalid_choice"]}
    run.worker_grades.update(grade=None, rank=None)
    followed = ask_followed(site, run, ed, design="grade")
    ((level, notice),) = notices(followed)
    assert (level, numbers(notice)) == ("error", [3])  # workers with a grade are needed
    assert not Audit.objects.exists()


def ask_followed(site, run, *experts, **given):
    ask(site, run, *experts, **given)
    return site.get(page(run))


@pytest.mark.medium
def test_what_has_no_grade_can_be_taken_back_from_an_expert(site, run):
    ed, client = expert(run)
    ask(site, run, ed)
    client.post(reverse("admin:judge", args=[*task_of(client, run)]), {"grade": "4"})
    taken = site.post(page(run), {"do": "take-back", "expert": ed.pk}, follow=True)
    (*_, (level, notice)) = notices(taken)  # after that of asking
    assert (level, numbers(notice)) == ("success", [19])
    assert "1 of 1 graded" in text(site.get(page(run)))
    for wrong in ("", "x", "9" * 30):
        assert site.post(page(run), {"do": "take-back", "expert": wrong}).status_code == 302


def test_who_judges_sees_what_came_only_after_the_last_answer(site, run, rana):
    audit = drawn(run, 6, experts=[rana])
    grade(audit, rana, lambda item: item.place % 3 if item.place < 5 else None)
    said = text(site.get(page(run)))
    assert "still_grading" in states(said)
    assert 'id="came"' not in said
    HumanJudgement.objects.all().delete()
    grade(audit, rana, lambda item: item.place % 3)
    assert 'id="came"' in text(site.get(page(run)))


@pytest.mark.medium
def test_decision_trust_and_print_say_what_experts_said(site, run):
    decision = reverse("admin:results-decision", args=[run.public_id])
    shown = site.get(decision)
    experts = shown.context_data["report"].experts
    assert (experts.case, experts.values["fewest"]) == ("nobody", 20)
    assert f'href="{page(run)}"' in text(shown)
    ed, _ = expert(run)
    grade(drawn(run, 30), ed, lambda item: round(5 * (item.place / 30), 1))
    fact = next(fact for fact in build_trust_report(run).facts if fact.name == "experts")
    values = fact.values
    assert (values["count"], values["experts"], values["sampled"]) == (30, 1, True)
    assert values["correlation"] is not None
    for name in ("results-decision", "results-trust", "results-summary"):
        said = text(site.get(reverse(f"admin:{name}", args=[run.public_id])))
        assert SITE.format_message(fact.said) in said
    table = site.get(reverse("admin:results-table", args=[run.public_id, "audit"]))
    assert b"".join(table.streaming_content).count(b"human:ed") == 30


def test_somebody_who_is_only_invited_cannot_be_asked(site, run):
    pia = User.objects.create_user("pia")
    Share.objects.create(
        question_set=run.version.question_set, user=pia, role="expert", pending=True
    )
    said = text(site.get(page(run)))
    assert element_text(said, "expert_invited").startswith("pia ")
    assert "pia (" not in said
    text(ask(site, run, pia), 400)


def test_what_is_asked_of_a_set_that_is_shared_no_longer_leaves_the_inbox(site, run):
    ed, client = expert(run)
    ask(site, run, ed)
    other = QuestionSet.objects.create(owner=run.owner, name="Lakes")
    Share.objects.create(question_set=other, user=ed, role="expert")
    Share.objects.filter(question_set=run.version.question_set).delete()
    said = text(client.get(reverse("admin:index")))
    assert "nothing_to_judge" in states(said)


@pytest.mark.parametrize("anchors", [False, True])
def test_aqer_sees_judgements_only_where_anchors_are_switched_on(run, anchors):
    ed, _ = expert(run)
    audit = drawn(run, 30, with_models=True)
    parameters = AqerParameters(embedder="bow", anchors=anchors).as_dict()
    again = Run.objects.create(owner=run.owner, version=run.version, parameters=parameters)
    before = load_inputs(again.pk)
    grade(audit, ed, lambda item: item.place % 6)
    after = load_inputs(again.pk)
    assert before.anchors == []
    assert len(after.anchors) == (23 if anchors else 0)  # of 30, 7 are models'
    assert after.answered.texts == before.answered.texts


def test_a_run_graded_after_the_audit_is_the_run_graded_before_it(run):
    """Also by its input: a signature or hash that changed would say that AQER read them."""
    from evaluation.runs.background import runs as lifecycle
    from evaluation.runs.background.work import work_one_turn

    ed, _ = expert(run)
    found = []
    for _ in range(2):
        started = lifecycle.queue_run(
            run.version, run.owner_id, AqerParameters(embedder="bow", bootstrap=20)
        )
        while work_one_turn():
            pass
        started.refresh_from_db()
        assert started.state == "done", started.error
        grades = started.worker_grades.order_by("worker").values_list("grade", "raw", "rank_low")
        found.append((list(grades), started.input_hash, started.signature))
        if len(found) == 1:
            grade(drawn(run, 40), ed, lambda item: item.place % 6)
    assert found[0] == found[1]


def test_a_sample_that_grows_is_asked_of_those_who_are_named_again(site, run):
    ed, _ = expert(run)
    ask(site, run, ed, count=20)
    ask(site, run, ed, count=30, design="random", seed=5)
    audit = Audit.objects.get()
    assert (audit.items.count(), audit.design, audit.seed) == (30, "question", 0)
    assert JudgementRequest.objects.filter(expert=ed).count() == 30
    assert draw_audit_sample(run, 10, "random", False, 0).items.count() == 30


def test_a_tenth_and_two_hundred_are_presets_and_the_step_can_be_changed(site, run):
    ed, eve = expert(run, "ed")[0], expert(run, "eve")[0]
    shown = site.get(page(run))
    presets = dict(shown.context_data["form"].fields["preset"].choices)
    assert numbers(presets["tenth"]) == [9]
    assert numbers(presets["200"]) == [200, 90]  # here there are 90 only
    assert presets["tenth"] in text(shown)
    ask(site, run, ed, eve, count=20, preset="tenth", step="1.5")
    audit = Audit.objects.get(run=run)
    assert (audit.items.count(), audit.step) == (9, 1.5)
    ask(site, run, ed, preset="200")
    audit.refresh_from_db()
    assert (audit.items.count(), audit.step) == (90, 1.5)
    refused = ask(site, run, ed, step="0.3")
    text(refused, 400)
    assert codes_of(refused) == {"step": ["step_size"]}


@pytest.mark.medium
def test_a_third_is_asked_to_settle_from_the_page(site, run):
    (ed, of_ed), (eve, _) = expert(run, "ed"), expert(run, "eve")
    ask(site, run, ed, eve, count=5)
    audit = Audit.objects.get(run=run)
    grade(audit, ed, lambda item: 1)
    grade(audit, eve, lambda item: 4 if item.place < 3 else 1)
    said = text(site.get(page(run)))
    # On 3 of 5 answers grades are more than 1 apart; 0 are settled.
    assert numbers(element_text(said, "disputed")) == [3, 5, 1, 0]
    offered = said.split('id="settles"')[1]
    assert re.findall(r'<option value="\d+">(.*?)</option>', offered) == ["rana (you)"]
    mo, client = expert(run, "mo")
    for wrong in ("", "x", str(ed.pk)):
        answer = site.post(page(run), {"do": "settle", "expert": wrong}, follow=True)
        assert [level for level, _ in notices(answer)] == ["error"]
        assert not JudgementRequest.objects.filter(expert=mo).exists()
    asked = site.post(page(run), {"do": "settle", "expert": mo.pk}, follow=True)
    ((level, notice),) = notices(asked)
    assert (level, numbers(notice)) == ("success", [3])
    assert numbers(element_text(text(site.get(page(run))), "disputed")) == [3, 5, 1, 0, 3]
    address = reverse("admin:judge", args=[*task_of(client, run)])
    assert "They gave 1 and 4." in text(client.get(address))
    client.post(address, {"grade": "2.5"})
    # 1 is settled, 2 are being settled.
    assert numbers(element_text(text(site.get(page(run))), "disputed")) == [3, 5, 1, 1, 2]
    assert of_ed.post(page(run), {"do": "settle", "expert": mo.pk}).status_code == 404
