"""Whether models notice that there is no answer: runs in turns, and what they keep."""

import csv
import json

import pytest
from django.urls import reverse

from annotations.models import QuestionSet
from evaluation.core.messages.message import Message
from evaluation.core.options import OptionError
from evaluation.runs.background import runs
from evaluation.runs.run_types import get_kind
from evaluation.runs.steps.asking import study_asking as in_turns
from evaluation.umwp.report.results import build_replies_page, build_report
from evaluation.umwp.storage.running import estimate_requests
from tests.evaluation.core.backends.chat.fake import error, said
from tests.evaluation.umwp.world import done, options, registered, replied, said_by, table


def test_models_are_asked_and_the_numbers_are_those_by_hand(question_set, small, server):
    run = done(question_set, options(small))
    assert len(server.bodies) == 5
    (model,) = build_report(run).models
    # It noticed 3 and 4, gave up on 5, and answered 1 and 2.
    assert (model.noticed, model.without_answer, model.wrongly, model.with_answer) == (2, 2, 1, 3)
    assert model.precision.value == pytest.approx(2 / 3)
    assert model.recall.value == 1
    assert model.f1.value == pytest.approx(4 / 5)
    assert model.answer_accuracy.value == pytest.approx(2 / 3)
    # Of the pairs 3-1 and 4-2; the text of 4 stands there with both labels, so it is in none.
    assert (model.pairs.value, model.pairs.n) == (1, 1)
    summary = run.summary
    assert (summary["questions"], summary["answerable"], summary["unanswerable"]) == (5, 3, 2)
    assert summary["cost"] == pytest.approx(5 * 5 / 1_000_000)
    assert "|threshold:0.8|" in run.signature
    assert "|encoder:TfidfVectorizer(analyzer='char_wb'" in run.signature


@pytest.mark.medium
def test_the_numbers_of_a_run_are_those_of_files_cell_by_cell(
    question_set, small, large, server, tmp_path
):
    run = done(question_set, options(small, large, instruction=True))
    assert len(server.bodies) == 5 * 2 * 2
    problems, replies = tmp_path / "problems.jsonl", tmp_path / "replies.csv"
    exported = table(run, "problems")
    problems.write_text("".join(json.dumps(one) + "\n" for one in exported))
    with replies.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["system", "id", "form", "reply", "status"])
        writer.writeheader()
        writer.writerows(table(run, "replies"))
    systems = tmp_path / "systems.csv"
    systems.write_text("system,size,tuning\nsmall,135M,instruct\nlarge,7B,base\n")
    said_by(
        *("evaluate", "umwp", problems, "--replies", replies, "--systems", systems),
        *("--encoder", "tfidf-char", "--threshold", 0.8, "--bootstrap", 20),
        *("--output", tmp_path / "out"),
    )
    files = ("metrics", "items", "pairs", "ablation", "comparisons", "sizes", "size-trends")
    for name in files:
        path = tmp_path / "out" / f"{name.replace('-', '_')}.csv"
        with path.open(newline="") as file:
            of_files = [tuple(map(as_cell, row.items())) for row in csv.DictReader(file)]
        of_run = [tuple(map(as_cell, row.items())) for row in table(run, name)]
        assert of_run or name == "size-trends"
        if name == "metrics":  # overall rows stand first in the file
            assert sorted(of_run) == sorted(of_files)
        else:
            assert of_run == of_files, name


def as_cell(named):
    """A cell of either as a text: nothing, a number (1 is 1.0), yes or no."""
    name, value = named
    if value is None:
        return name, ""
    if isinstance(value, bool):
        return name, str(value).lower()
    try:
        return name, repr(float(value))
    except ValueError:
        return name, value


def test_models_are_compared_on_the_questions_of_both(question_set, small, large):
    run = done(question_set, options(small, large))
    rows = {row["measure"]: row for row in table(run, "comparisons")}
    told = rows["told_apart"]
    # small is right about 1, 2, 3, 4; large (always 55) about 1, 2, 5.
    assert (told["system"], told["other"], told["n"]) == ("small", "large", 5)
    assert (told["only_system"], told["only_other"]) == (2, 1)
    assert told["difference"] == pytest.approx(1 / 5)
    # Exact: 2 of 3 discordant, 2 * P(X <= 1) = 2 * (1 + 3) / 8 = 1.
    assert (told["p_value"], told["adjusted_p_value"]) == (1.0, 1.0)
    # Of 1, 2 and 5 small answers 1 and 2, large 1.
    answered = rows["answered"]
    assert (answered["n"], answered["only_system"], answered["only_other"]) == (3, 1, 0)


@pytest.mark.medium
def test_questions_of_which_nobody_knows_are_asked_and_count_in_nothing(
    question_set, small, large, server
):
    version = question_set.latest_version()
    before = done(question_set, options(small, large))
    version.questions.create(
        external_id="crowd", text="Why is it so?", position=9, accepted_answers=["7"]
    )
    version.questions.create(
        external_id="word", text="Which colour?", position=10, answerable=True,
        accepted_answers=["red"],
    )  # fmt: skip
    version.questions.create(external_id="later", text="", position=11)
    run = done(question_set, options(small, large))
    assert len(server.bodies) == 2 * 5 + 2 * 2
    items = {(row["item"], row["system"]): row for row in table(run, "items")}
    crowd = items["crowd", "small"]
    assert (crowd["taken_as"], crowd["answerable"]) == ("unanswerable", None)
    assert crowd["reason"] == "answerable_unknown"
    assert items["crowd", "large"]["taken_as"] == "answerable"
    assert {row["id"]: row["answer"] for row in table(run, "problems")}["crowd"] is None
    found = {one["reason"]: one["count"] for one in run.summary["exclusions"]}
    assert (found["answerable_unknown"], found["no_number_to_compare"]) == (1, 1)
    assert found["no_text"] == 1
    small_before, small_now = (
        build_report(before).models[0],
        build_report(run).models[0],
    )
    # "word" has an answer: giving up on it counts, its number does not.
    assert small_now.recall == small_before.recall
    assert (small_now.wrongly, small_now.with_answer) == (2, 4)
    assert small_now.answer_accuracy.n == small_before.answer_accuracy.n == 3


def test_without_any_label_the_run_tells_only_what_was_taken_for_what(rita, small):
    made = QuestionSet.objects.create(owner=rita, name="crowd")
    made.draft().questions.create(external_id="1", text="Why?", position=1)
    run = done(made, options(small))
    assert [warning["code"] for warning in run.warnings] == ["umwp.no_labels", "umwp.not_math"]
    (model,) = build_report(run).models
    assert (model.f1.value, model.f1.reason) == (
        None,
        "no_unanswerable_problem_and_none_taken_for_one",
    )
    assert [row["taken_as"] for row in table(run, "items")] == ["unanswerable"]


def test_each_model_and_question_is_told_to_the_page_of_all_views(question_set, small):
    run = done(question_set, options(small, instruction=True))
    kind = get_kind("umwp")
    viewed = {one.view.name: one for one in kind.views}
    rows = table(run, "items")
    told = {(row["item"], row["form"]): viewed["notices"].number(row) for row in rows}
    assert told["3", "direct"] == told["4", "instruction"] == told["1", "direct"] == 1
    assert told["5", "direct"] == 0
    says = {row["item"]: viewed["says_no_answer"].number(row) for row in rows}
    assert says == {"1": 0, "2": 0, "3": 1, "4": 1, "5": 1}
    # A file has text cells.
    assert viewed["notices"].number({"answerable": "true", "taken_as": "answerable"}) == 1
    assert viewed["notices"].number({"answerable": "false", "taken_as": "unanswerable"}) == 1
    assert viewed["notices"].number({"answerable": "", "taken_as": "unanswerable"}) is None


@pytest.mark.medium
def test_another_turn_goes_on_and_another_run_asks_nothing_twice(
    question_set, small, server, monkeypatch
):
    monkeypatch.setattr(in_turns, "AT_ONCE", 1)
    came = []

    def one_more(body):
        came.append(body)
        found = replied(body)
        found.delay = 0.3
        return found

    server.reply = one_more
    monkeypatch.setattr(
        in_turns._StepModelsAsker, "is_turn_over", lambda self: bool(came) and came.clear() is None
    )
    run = done(question_set, options(small))
    assert len(server.bodies) == 5
    assert run.attempt > 2
    again = done(question_set, options(small, rules="paper"))
    assert len(server.bodies) == 5
    assert (again.summary["requests"], again.summary["reused"]) == (0, 5)


def test_what_a_model_does_not_reply_is_counted_and_told(question_set, small, server):
    def some(body):
        if "some books" in body["messages"][-1]["content"]:
            return error(400, "content_filter")
        if "10 m" in body["messages"][-1]["content"]:
            return error(400, "bad")
        return replied(body)

    server.reply = some
    run = done(question_set, options(small))
    assert run.summary["errors"] == 1
    assert [warning["code"] for warning in run.warnings] == ["umwp.incomplete"]
    (model,) = build_report(run).models
    assert (model.refusals, model.without_answer) == (1, 1)
    outcomes = build_replies_page(run).counts
    assert outcomes == {"gave_up": 1, "refused": 1, "failed": 1, "right": 2}


def test_replies_are_counted_by_what_came_on_the_run_s_page_too(
    client, question_set, small, server, rita
):
    came = {
        "some books": said("", "content_filter"),
        "10 m": said("", "length"),
        "9 books": error(400, "bad"),
    }

    def reply(body):
        question = body["messages"][-1]["content"]
        return next((one for words, one in came.items() if words in question), replied(body))

    server.reply = reply
    run = done(question_set, options(small))
    assert (run.summary["errors"], run.summary["cut_off"]) == (1, 1)
    (usage,) = run.summary["usage"]
    # 4 and 5 have a text; 3 is refused, 2 cut off, 1 an error.
    counts = ("answered", "empty", "refused", "cut_off", "errors")
    assert [usage[name] for name in counts] == [2, 0, 1, 1, 1]
    assert sum(usage["error_codes"].values()) == 1
    cut, incomplete = run.warnings
    assert cut["code"] == "study_replies_cut_off"
    assert cut["values"] == {"count": 1, "names": "small", "raise": "max_tokens"}
    assert incomplete["code"] == "umwp.incomplete"
    reasons = {row["item"]: row["reason"] for row in table(run, "items")}
    assert (reasons["1"], reasons["2"], reasons["3"]) == ("error", "cut_off", None)
    outcomes = build_replies_page(run).counts
    assert outcomes == {"gave_up": 1, "refused": 1, "cut_off": 1, "failed": 1, "right": 1}
    client.force_login(rita)
    page = client.get(reverse("admin:run", args=[run.public_id])).content.decode()
    for name in ("refused", "cut_off", "errors"):
        assert f'data-count="{name}">1<' in page
    assert 'data-state="errors"' in page


@pytest.mark.medium
def test_what_will_be_asked_is_foreseen_and_what_is_there_is_not_asked(question_set, small, server):
    version, rita = question_set.latest_version(), question_set.owner
    both = options(small, instruction=True, max_tokens=100)
    found = estimate_requests(version, rita, both)
    # 5 questions in 2 forms; 1 for a million tokens written, at most 100 each.
    assert (found.requests, found.stored, found.completion_tokens) == (10, 0, 1000)
    assert found.cost == pytest.approx(1000 / 1_000_000)
    assert len(found.shown) == 2
    assert server.bodies == []
    done(question_set, options(small, max_tokens=100))
    assert len(server.bodies) == 5
    found = estimate_requests(version, rita, both)
    assert (found.requests, found.stored) == (5, 5)
    done(question_set, both)
    assert len(server.bodies) == 10


def refused(question_set, parameters):
    with pytest.raises(OptionError) as caught:
        runs.queue_run(question_set.latest_version(), question_set.owner_id, parameters, "umwp")
    return [(one.code, one.option) for one in caught.value.problems]


def test_a_run_that_makes_no_sense_is_not_started(question_set, small, rita, server):
    assert refused(question_set, options()) == [("no_models", "models")]
    assert refused(question_set, options(small, direct=False)) == [("no_form", "")]
    dear = registered(rita, "dear", server, price_in=None, price_out=None)
    assert refused(question_set, options(dear, budget=1.0)) == [("no_prices", "budget")]
    made = QuestionSet.objects.create(owner=rita, name="ids")
    made.draft().questions.create(external_id="1", text="", position=1)
    assert refused(made, options(small)) == [("no_questions", "")]


def test_a_budget_that_does_not_reach_ends_the_run(question_set, small):
    run = done(question_set, options(small, budget=0.000001), "failed")
    assert Message.from_stored(run.error) == Message("run.budget_used_up", {"left": 5})
