"""Questions in other words over a question set: in turns, equal to files, on pages, by REST."""

import csv
import io
import json

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils.html import escape
from rest_framework.test import APIClient

from annotations.models import Question, Response, Variant
from evaluation.core.messages.message import Message
from evaluation.core.messages.reasons import describe_reason
from evaluation.core.options import OptionError
from evaluation.models import LanguageModel, RunData
from evaluation.multiqa.messages import METRIC_DESCRIPTIONS, STEPS
from evaluation.multiqa.run import study
from evaluation.multiqa.run_type import MULTIQA
from evaluation.multiqa.storage.running import (
    load_comparison_rows,
    load_crowd_rows,
    load_item_rows,
    load_metric_rows,
    load_reply_rows,
    load_rewording_rows,
)
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.run_types.data_sheets import build_run_readme
from evaluation.runs.steps.asking import study_asking
from tests.evaluation.core.backends.chat.fake import error, said
from tests.evaluation.cross_encoders import save_cross_encoder
from tests.evaluation.multiqa.world import (
    QUESTIONS,
    RIGHT,
    WRONG,
    done,
    options,
    queued,
    replied,
    rivers,
    worked,
)
from tests.evaluation.runs.run_types.texts import numbers_of
from tests.sentences import site_sentence


def value(run, system, metric, group=""):
    rows = {(row.system, row.metric, row.group): row.value for row in load_metric_rows(run)}
    return rows[system, metric, group]


@pytest.mark.medium
def test_typed_wordings_are_asked_and_the_numbers_are_worked_out_by_hand(world, good, shaky):
    run = done(rivers(world.owner), options([good, shaky]))
    # Five questions in three wordings, to each of two models.
    assert len(world.server.bodies) == 30
    assert value(run, "good", "accuracy") == value(run, "good", "worst_case") == 1.0
    # The shaky one knows the original of each of the four questions that have a key: it is right
    # once in three wordings of each, never in all, and two wrong replies outvote the right one.
    assert value(run, "shaky", "accuracy") == value(run, "shaky", "best_case") == 1.0
    assert value(run, "shaky", "worst_case") == value(run, "shaky", "plurality") == 0.0
    assert value(run, "shaky", "item_difficulty") == pytest.approx(1 / 3)
    # Two of three wordings say the same: of 3 pairs 1 agrees, with 3 choices.
    assert value(run, "shaky", "free_marginal_kappa", "kind:choice") == pytest.approx(0.0)
    assert value(run, "shaky", "chance_worst_case", "kind:choice") == pytest.approx(3**-3)
    assert value(run, "good", "accuracy", "dataset:rivers") == 1.0
    (row,) = [one for one in load_comparison_rows(run) if one.metric == "worst_case"]
    assert (row.system_a, row.system_b, row.difference, row.n) == ("good", "shaky", 1.0, 4)
    # Exact McNemar: 4 to 0, twice (1/2)^4; one pair alone stays as it is under Holm.
    assert row.p_value == row.adjusted_p_value == pytest.approx(2 / 16)
    assert {one.kind for one in load_rewording_rows(run)} == {"rewording", "dialect"}
    assert "|inputs:" in run.signature
    reasons = {one["reason"] for one in run.summary["exclusions"]}
    assert reasons == {"no_accepted_answer"}


@pytest.mark.medium
def test_people_measure_what_has_no_key(world, good, shaky):
    run = done(rivers(world.owner), options([good, shaky]))
    rows = {row.system: row for row in load_crowd_rows(run)}
    assert {row.item for row in rows.values()} == {"q5"}
    assert rows["good"].crowd_score == pytest.approx(rows["good"].crowd_score_original)
    assert rows["good"].spread_rewordings == pytest.approx(0.0)
    assert rows["shaky"].crowd_worst < rows["shaky"].crowd_score_original
    assert rows["shaky"].spread_people > 0
    # The mean over the wordings of the one question is the number of the system.
    assert value(run, "shaky", "crowd_score") == pytest.approx(rows["shaky"].crowd_score)
    scored = [row for row in load_reply_rows(run) if row.item == "q5"]
    assert all(row.right is None and row.crowd_score is not None for row in scored)
    assert run.summary["crowd"] == {"crowd_answers": 3, "crowd_workers": 3, "crowd_items": 1}
    without = done(rivers(world.owner), options([good], crowd=False))
    assert list(load_crowd_rows(without)) == []
    assert without.summary["items"] == 4


def table(client, run, name):
    got = client.get(reverse("admin:results-table", args=[run.public_id, name]))
    assert got.status_code == 200, name
    return b"".join(got).decode("utf-8-sig")


@pytest.mark.medium
def test_evaluate_multiqa_on_the_exported_replies_gives_the_same_cells(
    client, world, good, shaky, tmp_path
):
    world.server.reply = mixed
    run = done(rivers(world.owner), options([good, shaky]))
    client.force_login(world.owner)
    for name in ("questions", "replies"):
        (tmp_path / f"{name}.csv").write_text(table(client, run, name))
    (tmp_path / "crowd.csv").write_text(
        "worker,question,answer\n"
        + "".join(f"{worker},q5,{text}\n" for worker, text in people(run))
    )
    call_command(
        *("evaluate", "multiqa", str(tmp_path / "questions.csv")),
        *("--replies", str(tmp_path / "replies.csv"), "--output", str(tmp_path / "out")),
        *("--crowd", str(tmp_path / "crowd.csv"), "--embedder", "tfidf-word"),
        *("--bootstrap", "20"),
        stdout=io.StringIO(),
    )
    for name in ("metrics", "items", "crowd"):
        of_files = list(csv.reader(io.StringIO((tmp_path / "out" / f"{name}.csv").read_text())))
        of_run = list(csv.reader(io.StringIO(table(client, run, name))))
        if of_run[0][-1] == "crowdgrade:defused":  # where a cell looks like a formula
            of_run = [row[:-1] for row in of_run]
        assert of_run == of_files, name
        assert len(of_run) > 1
    told = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert told["wrong_by_form"] == run.summary["wrong_by_form"] != []
    assert told["left_out_of_metrics"] == run.summary["left_out_of_metrics"]


def people(run):
    rows = Response.objects.filter(question__version=run.version).order_by("pk")
    return rows.values_list("submission__worker__external_id", "text")


def mixed(body):
    """Refusals, empty replies, letters out of range: what real models do."""
    content = body["messages"][-1]["content"]
    if body["model"] == "shaky" and "Tell me" in content and "Basel" in content:
        return said("Z")
    if body["model"] == "shaky" and "Please say" in content and "bend" in content:
        return said("", "content_filter")
    if body["model"] == "good" and "Please say" in content and "Dresden" in content:
        return said("")
    return replied(body)


@pytest.mark.medium
def test_a_run_goes_on_where_its_worker_was_lost_and_asks_nothing_twice(
    world, good, shaky, monkeypatch
):
    # A killed process waits for no late replies; this one, an exception, would for 10 seconds.
    monkeypatch.setattr("evaluation.runs.steps.asking.conversation.SECONDS_TO_COME_IN", 0.2)
    rewriter = world.model("rewriter")
    whole = world.server.reply
    # The worker dies of it, as one that is killed: nothing is released, its lease runs out.
    run = queued(rivers(world.owner, variants=False), options([good, shaky], rewriter))

    class KilledError(BaseException):
        pass

    def kill(body):
        answer = whole(body)
        answer.delay = 0.05
        return answer

    world.server.reply = kill
    before = study_asking._StepModelsAsker.count_replies

    def count(self, posts):
        before(self, posts)
        if self.all[0].step == "asking models" and len(world.bodies("good")) > 3:
            raise KilledError

    study_asking._StepModelsAsker.count_replies = count
    try:
        with pytest.raises(KilledError):
            work_one_turn()
    finally:
        study_asking._StepModelsAsker.count_replies = before
    world.server.reply = whole
    worked(run)
    assert run.attempt == 2
    contents = [(body["model"], body["messages"][-1]["content"]) for body in world.server.bodies]
    # What was under way when it died may have been asked again: no more than was at once.
    assert len(contents) - len(set(contents)) <= 2 * study_asking.AT_ONCE
    assert len(world.bodies("rewriter")) == 5
    assert value(run, "shaky", "worst_case") == 0.0
    assert run.summary["replies"] == 30


@pytest.mark.medium
def test_another_run_takes_over_every_reply(world, good):
    question_set = rivers(world.owner)
    first = done(question_set, options([good]))
    asked = len(world.server.bodies)
    run = done(question_set, options([good], bootstrap=0, matcher="levenshtein"))
    assert len(world.server.bodies) == asked
    (usage,) = run.summary["usage"]
    assert (usage["requests"], usage["reused"], usage["cost"]) == (0, 15, 0.0)
    assert {row.matcher for row in load_item_rows(run)} == {"choice", "levenshtein"}
    assert {row.matcher for row in load_item_rows(first)} == {"choice", "exact", "cosine"}


def test_a_budget_ends_it_and_nothing_that_came_is_lost(world, good):
    question_set = rivers(world.owner)
    run = done(question_set, options([good], budget=1e-9), "failed")
    assert Message.from_stored(run.error) == Message("run.budget_used_up", {"left": 15})
    assert world.server.bodies == []
    unpriced = world.model("free one", price_in=None, price_out=None)
    with pytest.raises(OptionError) as caught:
        queued(question_set, options([unpriced], budget=1.0))
    assert [one.code for one in caught.value.problems] == ["no_prices"]


def refused(question_set, parameters):
    with pytest.raises(OptionError) as caught:
        queued(question_set, parameters)
    return [(one.code, one.option) for one in caught.value.problems]


def test_what_cannot_be_found_out_is_said_before_anything_starts(world, good):
    assert refused(rivers(world.owner), options([])) == [("no_models", "models")]
    bare = rivers(world.owner, variants=False)
    assert refused(bare, options([good])) == [("no_wordings", "rewriter")]
    no_key = rivers(world.owner, people=False)
    Question.objects.filter(version__question_set=no_key).update(accepted_answers=[])
    assert refused(no_key, options([good])) == [("no_ruler", "")]
    crooked = rivers(world.owner)
    Question.objects.filter(version__question_set=crooked, external_id="q1").update(
        accepted_answers=["Danube"]
    )
    with pytest.raises(OptionError) as caught:
        queued(crooked, options([good]))
    (why,) = caught.value.problems
    assert (why.code, why.values["question"]) == ("bad_question", "q1")
    assert "'Danube'" in why.values["reason"]


def test_translations_and_unanswerable_questions_are_left_out_and_counted(world, good):
    question_set = rivers(world.owner)
    rows = Question.objects.filter(version__question_set=question_set)
    rows.filter(external_id="q1").update(answerable=False)
    Variant.objects.create(
        question=rows.get(external_id="q2"),
        external_id="de",
        text="Welcher Fluss fließt durch Dresden?",
        kind=Variant.Kind.TRANSLATION,
    )
    run = done(question_set, options([good]))
    counts = {one["reason"]: one["count"] for one in run.summary["exclusions"]}
    assert counts["unanswerable"] == counts["wording_in_another_language"] == 1
    assert run.summary["items"] == 4
    assert not any("Welcher" in str(body) for body in world.server.bodies)


@pytest.mark.medium
def test_a_model_that_does_not_reply_is_an_error_of_its_own(world, good):
    question_set = rivers(world.owner)
    bad = world.model("broken")
    whole = world.server.reply
    world.server.reply = lambda body: error(401) if body["model"] == "broken" else whole(body)
    run = done(question_set, options([good, bad]))
    assert run.summary["errors"] == 15
    assert value(run, "good", "accuracy") == 1.0
    assert value(run, "broken", "accuracy") is None
    again = done(question_set, options([bad]), "failed")
    told = Message.from_stored(again.error)
    assert (told.code, "401" in told.values["reason"]) == ("run.no_model_replied", True)


def test_a_reply_that_was_cut_off_is_no_error_and_guessers_do_not_answer_it(world, good):
    whole = world.server.reply
    refuses = "Which river flows through Basel? Please say."
    cut = "Tell me: Which river flows through Basel?"

    def reply(body):
        content = body["messages"][-1]["content"]
        if cut in content:
            return said("", "length")
        return said("", "content_filter") if refuses in content else whole(body)

    world.server.reply = reply
    run = done(rivers(world.owner), options([good]))
    assert (run.summary["errors"], run.summary["cut_off"], run.summary["no_answer"]) == (0, 1, 1)
    (usage,) = run.summary["usage"]
    assert (usage["answered"], usage["refused"], usage["cut_off"]) == (13, 1, 1)
    assert [one["code"] for one in run.warnings].count("study_replies_cut_off") == 1
    # Of q1 the original alone has a vote: 1/3; q2 has three: 3^-3.
    assert value(run, "good", "chance_worst_case", "kind:choice") == pytest.approx(
        (1 / 3 + 1 / 27) / 2
    )


@pytest.mark.medium
def test_the_pages_show_numbers_pictures_worst_questions_and_dropped_rewordings(
    client, world, good, shaky
):
    rewriter = world.model("rewriter")
    run = done(rivers(world.owner, variants=False), options([good, shaky], rewriter))
    client.force_login(world.owner)
    response = client.get(reverse("admin:results-run", args=[run.public_id]))
    page, report = response.content.decode(), response.context["report"]
    values = {"system": "shaky", "accuracy": 1.0, "worst": 0.0, "n": 4}
    assert Message("multiqa.right", values) in report.messages
    assert site_sentence("multiqa.right", **values) in page
    assert page.index(escape(METRIC_DESCRIPTIONS["alpha"].label)) < page.index(
        f"{METRIC_DESCRIPTIONS['accuracy'].label}<"
    )
    assert "chance level" in page
    assert 'data-chart="robustness"' in page
    assert 'data-chart="nearness"' in page
    assert 'id="usage"' in page
    assert STEPS["rewording"] in page

    def shown(slug, **asked):
        address = reverse("admin:results-page", args=[run.public_id, slug])
        return client.get(address, asked).content.decode()

    texts = shown("texts")
    # q1 to q4: the shaky one is right once in three, the good one always: 4 of 6 each; q5 is last.
    scores = [part.split("</span>")[0] for part in texts.split('class="results-score">')[1:]]
    assert [numbers_of(one) for one in scores].count([4, 6]) == 4
    assert texts.index("Which river flows through Basel?") < texts.index("What makes a river wide")
    assert "original wording" in texts
    assert "most frequent" in texts
    assert "crowd score" in texts
    assert describe_reason("other_numbers") in shown("wordings")
    assert "no difference shown" in shown("comparison")
    later = shown("texts", after="4")
    assert "Which river flows through Basel?" not in later
    assert 'href="?#questions"' in later
    assert 'href="?#questions"' not in texts
    for name in ("robustness", "nearness"):
        picture = client.get(reverse("admin:results-chart", args=[run.public_id, name]))
        assert b"<svg" in picture.content
    usage = list(csv.DictReader(io.StringIO(table(client, run, "usage"))))
    assert {row["model"] for row in usage} == {"good", "shaky", "rewriter"}
    settings_page = client.get(reverse("admin:run", args=[run.public_id])).content.decode()
    assert "good, shaky" in settings_page


@pytest.mark.medium
def test_the_form_says_what_will_be_asked_before_it_is(client, world, good):
    rewriter = world.model("rewriter")
    question_set = rivers(world.owner, variants=False)
    client.force_login(world.owner)
    address = reverse("admin:start", args=[question_set.public_id, "multiqa"])
    before = client.get(address)
    page = before.content.decode()
    # Questions, those with accepted answers, people who answered; no other wordings.
    assert numbers_of(before.context["before"].words) == [5, 4, 3]
    assert before.context["before"].words in page
    assert 'name="do" value="foresee"' in page
    form = {
        "models": [str(good.public_id)],
        "rewriter": str(rewriter.public_id),
        "rewordings": "2",
        "crowd": "on",
        "matcher": "by-kind",
        "embedder": "tfidf-word",
        "meaning": "0.1",
        "entailment": "0.5",
        "precision": "float32",
        "cosine": "0.6",
        "cluster_cosine": "0.6",
        "levenshtein": "0.8",
        "bootstrap": "20",
        "seed": "0",
        "temperature": "0",
        "max_tokens": "16",
        "rewriter_tokens": "64",
        "budget": "",
        "nli": "",
        "reranker": "",
    }
    preview = client.post(address, {**form, "do": "foresee"})
    assert preview.status_code == 200, preview.content.decode()
    told = preview.content.decode()
    # Five calls of the rewriter, and five questions in three wordings.
    assert "<strong>20</strong>requests" in told
    # At most 5 x 64 + 15 x 16 tokens are written, at 2 a million.
    assert "<strong>560</strong>tokens" in told
    assert (
        escape(study.build_rewriter_messages("Which river flows through Basel?", 2)[-1]["content"])
        in told
    )
    assert world.server.bodies == []
    seen = {"seen": preview.context["seen"]}
    assert client.post(address, form | seen).status_code == 302
    run = question_set.latest_version().runs.get()
    worked(run)
    assert len(world.server.bodies) == 20
    again = client.post(address, {**form, "do": "foresee"}).content.decode()
    assert '<td class="cg-number">5</td>' in again
    refused = client.post(address, {**form, "models": [], "do": "foresee"})
    assert refused.status_code == 400


@pytest.mark.medium
def test_over_rest_it_is_started_and_read(world, good):
    api = APIClient()
    api.force_authenticate(world.owner)
    body = {
        "question_set": str(rivers(world.owner).public_id),
        "kind": "multiqa",
        "parameters": {
            "models": [str(good.public_id)],
            "embedder": "tfidf-word",
            "bootstrap": 20,
        },
    }
    answered = api.post("/api/v1/runs/", body, format="json")
    assert answered.status_code == 202, answered.json()
    while work_one_turn():
        pass
    found = api.get(api.get(answered["Location"]).json()["results"]).json()
    numbers = {one["name"]: one["of"][0] for one in found["numbers"]}
    assert numbers["worst_case"]["value"] == 1.0
    assert numbers["worst_case"]["n"] == 4
    assert found["systems"] == ["good"]


def test_the_command_runs_it_and_says_what_came_out(world, good, tmp_path, monkeypatch):
    monkeypatch.setattr("evaluation.management.running.follow_run", lambda run, show: worked(run))
    question_set = rivers(world.owner)
    out = io.StringIO()
    call_command(
        *("run", "multiqa", question_set.name, "--models", "good"),
        *("--embedder", "tfidf-word", "--bootstrap", "20", "--output", str(tmp_path / "out")),
        stdout=out,
    )
    # Replies, models, wordings, questions.
    told = [numbers_of(line)[:4] for line in out.getvalue().splitlines()]
    assert [15, 1, 15, 5] in told
    assert (tmp_path / "out" / "replies.csv").exists()


def test_the_download_says_what_every_column_holds(world, good):
    run = done(rivers(world.owner), options([good]))
    told = build_run_readme(MULTIQA, run)
    for name, table_of in MULTIQA.tables.items():
        part = told.partition(f"## {name}.csv")[2].partition("\n## ")[0]
        for column in table_of(run).header:
            assert f"- `{column}`: " in part, (name, column)


def test_a_run_whose_model_was_taken_away_fails_with_the_reason(world, good):
    run = queued(rivers(world.owner), options([good]))
    LanguageModel.objects.all().delete()
    worked(run, "failed")
    missing = {"missing": 1, "what": "model"}
    assert Message.from_stored(run.error) == Message("run.models_missing", missing)
    assert not RunData.objects.filter(run=run, name__startswith="found:").exists()


def test_a_paused_run_goes_on_without_asking_again(world, good):
    run = queued(rivers(world.owner), options([good]))
    runs.pause_run(run)
    assert work_one_turn() is False
    runs.resume_run(run)
    worked(run)
    assert len(world.server.bodies) == 15


@pytest.fixture
def operator(rita):
    """Rita may name a folder of the server."""
    rita.is_superuser = True
    rita.save()


@pytest.mark.slow
@pytest.mark.usefixtures("operator")
def test_a_reranker_is_named_by_the_run_that_used_it(world, good, tmp_path):
    answers = [text for one in (RIGHT, WRONG) for text in one.values()]
    texts = [*(text for _, _, text, _ in QUESTIONS), *answers]
    scores = save_cross_encoder(tmp_path / "scores", texts, ["score"])
    asked = options([good], reranker=str(scores))
    run = done(rivers(world.owner), asked)
    told = run.summary["reranking"]
    assert (told["model"], told["without_question"]) == (str(scores), 0)
    assert f"|reranker:{scores}|reranker_revision:{told['revision']}|" in run.signature
    plain = done(rivers(world.owner), options([good]))
    assert plain.summary["reranking"] == {}
    assert "reranker" not in plain.signature


@pytest.mark.usefixtures("operator")
def test_a_reranker_that_is_not_there_fails_the_run_before_anybody_is_asked(world, good, tmp_path):
    asked = options([good], reranker=str(tmp_path / "nowhere"))
    run = done(rivers(world.owner), asked, state="failed")
    assert f"no folder {tmp_path / 'nowhere'}" in run.error
    assert world.server.bodies == []
