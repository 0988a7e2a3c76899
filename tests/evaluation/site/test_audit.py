"""The expert check: a requester starts it, experts find it, judge blindly, and it is read."""

import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotations.models import QuestionSet, Share
from evaluation.flow.parameters import AqerParameters
from evaluation.judging.audit import draw_audit
from evaluation.models import Audit, HumanJudgement, JudgementRequest, Run
from evaluation.steps.grading import load
from tests.evaluation.judging_world import drawn, expert, grade
from tests.evaluation.reports import world

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


def text(response, status=200):
    assert response.status_code == status
    return response.content.decode()


def test_before_starting_it_says_what_a_sample_will_tell(site, run):
    said = text(site.get(page(run)))
    assert "If scores and grades of all 90 answers correlate 0.7" in said
    rows = dict(re.findall(r'class="cg-number">(\d+)</th>.*?(± 0\.\d\d)', said))
    # Fisher's error with t of 9 degrees, for there are 10 questions: arctanh .7 = .867, less and
    # plus 2.262 / sqrt(n - 3), which is .855, .549, .330.
    assert rows == {"10": "± 0.46", "20": "± 0.29", "50": "± 0.17"}
    assert 'name="count" value="20"' in said
    assert "Nobody is asked about this run yet." in said


def test_a_requester_asks_experts_and_they_find_it_on_their_first_page(site, run):
    ed, client = expert(run)
    home = reverse("admin:index")
    assert "Nobody asks you to judge anything" in text(client.get(home))
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
    assert "1 of 20 judged" in text(site.get(reverse("admin:runs")))
    assert "1 of 20 graded" in text(site.get(page(run)))


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


def test_half_steps_are_given_in_words_and_by_two_keys(site, run):
    ed, client = expert(run)
    ask(site, run, ed, count=3)
    first = reverse("admin:judge", args=[*task_of(client, run)])
    said = text(client.get(first))
    buttons = re.findall(r'data-key="(h?[0-5])" name="grade" value="([\d.]+)".*?<span>(.*?)<', said)
    assert len(buttons) == 11
    assert buttons[6:9] == [
        ("3", "3", "more right than wrong"),
        ("h3", "3.5", "right, with something wrong"),
        ("4", "4", "mostly right"),
    ]
    assert "keys 0 to 5, h and then a digit for a half more" in said
    saved = text(client.post(first, {"grade": "3.5"}, follow=True))
    assert "Saved: 3.5, right, with something wrong." in saved
    assert HumanJudgement.objects.get().grade == 3.5
    again = text(client.get(first))
    assert re.search(r'value="3.5" aria-pressed="true"', again)
    assert "You gave it 3.5." in again
    assert "Choose a grade from 0 to 5." in text(client.post(first, {"grade": "3.25"}), 400)


def test_a_grade_of_another_scale_stays_as_it_was_given(site, run):
    ed, client = expert(run)
    ask(site, run, ed, count=3)
    address = task_of(client, run)
    task = JudgementRequest.objects.get(public_id=address[1])
    HumanJudgement.objects.create(response=task.response, expert=ed, grade=3.7)
    said = text(client.get(reverse("admin:judge", args=address)))
    assert "You gave it 3.7." in said
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


def test_the_last_judgement_can_be_undone(site, run):
    ed, client = expert(run)
    ask(site, run, ed, count=3)
    first = reverse("admin:judge", args=[*task_of(client, run)])
    assert "Undo the last one" not in text(client.get(first))
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
    assert "Done, thank you." in done
    assert client.post(re.search(r'action="([^"]+/undo/)"', done)[1]).url == following
    assert sorted(HumanJudgement.objects.values_list("grade", flat=True)) == [2, 2]


def task_of(client, run):
    queue = client.get(of_set("judging", run)).context["queues"][0]
    return run.version.question_set.public_id, queue.progress.next


def test_what_will_not_do_is_said_at_its_field_and_what_was_chosen_stays(site, run):
    ed, _ = expert(run)
    said = text(ask(site, run, count=0, design="grade", seed=7), 400)
    assert "Choose who grades." in said
    assert "greater than or equal to 1" in said
    assert '<option value="grade" selected>' in said
    assert 'name="seed" value="7"' in said
    assert not Audit.objects.exists()
    stranger = User.objects.create_user("otto")
    assert "not one of the available choices" in text(ask(site, run, stranger), 400)
    run.worker_grades.update(grade=None, rank=None)
    said = text(ask_followed(site, run, ed, design="grade"))
    assert "Fewer than 3 workers have a grade" in said


def ask_followed(site, run, *experts, **given):
    ask(site, run, *experts, **given)
    return site.get(page(run))


def test_what_has_no_grade_can_be_taken_back_from_an_expert(site, run):
    ed, client = expert(run)
    ask(site, run, ed)
    client.post(reverse("admin:judge", args=[*task_of(client, run)]), {"grade": "4"})
    taken = site.post(page(run), {"do": "take-back", "expert": ed.pk}, follow=True)
    assert "19 answers taken back" in text(taken)
    assert "1 of 1 graded" in text(site.get(page(run)))
    for wrong in ("", "x", "9" * 30):
        assert site.post(page(run), {"do": "take-back", "expert": wrong}).status_code == 302


def test_who_judges_sees_what_came_only_after_the_last_answer(site, run, rana):
    audit = drawn(run, 6, experts=[rana])
    grade(audit, rana, lambda item: item.place % 3 if item.place < 5 else None)
    said = text(site.get(page(run)))
    assert "once you have graded all" in said
    assert "What came</h2>" not in said
    HumanJudgement.objects.all().delete()
    grade(audit, rana, lambda item: item.place % 3)
    assert "What came</h2>" in text(site.get(page(run)))


def test_decision_trust_and_print_say_what_experts_said(site, run):
    decision = reverse("admin:results-decision", args=[run.public_id])
    assert "Let an expert grade 20 answers" in text(site.get(decision))
    ed, _ = expert(run)
    grade(drawn(run, 30), ed, lambda item: round(5 * (item.place / 30), 1))
    for name in ("results-decision", "results-trust", "results-summary"):
        said = text(site.get(reverse(f"admin:{name}", args=[run.public_id])))
        assert "30 answers drawn at random, graded by an expert: their grades correlate" in said
    table = site.get(reverse("admin:results-table", args=[run.public_id, "audit"]))
    assert b"".join(table.streaming_content).count(b"human:ed") == 30


def test_somebody_who_is_only_invited_cannot_be_asked(site, run):
    pia = User.objects.create_user("pia")
    Share.objects.create(
        question_set=run.version.question_set, user=pia, role="expert", pending=True
    )
    said = text(site.get(page(run)))
    assert "<bdi>pia</bdi> is invited as an expert" in said
    assert "pia (" not in said
    text(ask(site, run, pia), 400)


def test_what_is_asked_of_a_set_that_is_shared_no_longer_leaves_the_inbox(site, run):
    ed, client = expert(run)
    ask(site, run, ed)
    other = QuestionSet.objects.create(owner=run.owner, name="Lakes")
    Share.objects.create(question_set=other, user=ed, role="expert")
    Share.objects.filter(question_set=run.version.question_set).delete()
    said = text(client.get(reverse("admin:index")))
    assert "Nobody asks you to judge anything" in said


@pytest.mark.parametrize("anchors", [False, True])
def test_aqer_sees_judgements_only_where_anchors_are_switched_on(run, anchors):
    ed, _ = expert(run)
    audit = drawn(run, 30, with_models=True)
    parameters = AqerParameters(embedder="bow", anchors=anchors).as_dict()
    again = Run.objects.create(owner=run.owner, version=run.version, parameters=parameters)
    before = load(again.pk)
    grade(audit, ed, lambda item: item.place % 6)
    after = load(again.pk)
    assert before.anchors == []
    assert len(after.anchors) == (23 if anchors else 0)  # of 30, 7 are models'
    assert after.answered.texts == before.answered.texts


def test_a_run_graded_after_the_audit_is_the_run_graded_before_it(run):
    """Also by its input: a signature or hash that changed would say that AQER read them."""
    from evaluation.background import runs as lifecycle
    from evaluation.background.work import work_one_turn

    ed, _ = expert(run)
    found = []
    for _ in range(2):
        started = lifecycle.queue(
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
    assert draw_audit(run, 10, "random", False, 0).items.count() == 30


def test_a_tenth_and_two_hundred_are_presets_and_the_step_can_be_changed(site, run):
    ed, eve = expert(run, "ed")[0], expert(run, "eve")[0]
    said = text(site.get(page(run)))
    assert "A tenth of all answers (9)" in said
    assert "200 answers (here all 90)" in said
    ask(site, run, ed, eve, count=20, preset="tenth", step="1.5")
    audit = Audit.objects.get(run=run)
    assert (audit.items.count(), audit.step) == (9, 1.5)
    ask(site, run, ed, preset="200")
    audit.refresh_from_db()
    assert (audit.items.count(), audit.step) == (90, 1.5)
    assert "multiple of step size" in text(ask(site, run, ed, step="0.3"), 400)


def test_a_third_is_asked_to_settle_from_the_page(site, run):
    (ed, of_ed), (eve, _) = expert(run, "ed"), expert(run, "eve")
    ask(site, run, ed, eve, count=5)
    audit = Audit.objects.get(run=run)
    grade(audit, ed, lambda item: 1)
    grade(audit, eve, lambda item: 4 if item.place < 3 else 1)
    said = text(site.get(page(run)))
    assert "On 3 of 5 answers with two grades these are more than 1 apart." in said
    offered = said.split('id="settles"')[1]
    assert re.findall(r'<option value="\d+">(.*?)</option>', offered) == ["rana (you)"]
    mo, client = expert(run, "mo")
    for wrong in ("", "x", str(ed.pk)):
        answer = site.post(page(run), {"do": "settle", "expert": wrong}, follow=True)
        assert "Nobody was asked." in text(answer)
    asked = site.post(page(run), {"do": "settle", "expert": mo.pk}, follow=True)
    assert "Asked to settle 3 answers" in text(asked)
    assert "3 are being settled" in text(site.get(page(run)))
    address = reverse("admin:judge", args=[*task_of(client, run)])
    assert "They gave 1 and 4." in text(client.get(address))
    client.post(address, {"grade": "2.5"})
    assert "1 of them is settled by a third expert, 2 are being settled" in text(
        site.get(page(run))
    )
    assert of_ed.post(page(run), {"do": "settle", "expert": mo.pk}).status_code == 404
