"""What a run asks beside the wordings: follow-ups, changed prompts, a system text, a budget."""

import csv
import io

import pytest
from django.urls import reverse

from evaluation.core.messages.message import Message
from evaluation.core.options import SITE, OptionError
from evaluation.eloquent.options import EloquentRunOptions
from evaluation.eloquent.storage import load_findings
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from tests.evaluation.commands.running import called as manage
from tests.evaluation.core.backends.chat.fake import error, said
from tests.evaluation.eloquent.test_evaluate import prompts_text
from tests.evaluation.eloquent.test_run_type import (
    done,
    options,
    question_set,
    refused,
    rita,
    small,
    world,
)

__all__ = ["question_set", "rita", "small", "world"]  # fixtures

CHANGED = """item,language,variant,prompt,reason
001,en,2,Which rules are there?,"The model took ""What rules?"" for an outcry."
"""
INSTRUCTIONS = "item,instruction\n001,Compare the facts only.\n"
FOLLOW_UPS = "Why?\n\nShorter, please.\n"


def table(client, run, name):
    address = reverse("admin:results-table", args=[run.public_id, name])
    text = b"".join(client.get(address).streaming_content).decode("utf-8-sig")
    rows = csv.DictReader(io.StringIO(text))
    return [{name: row[name] for name in row if name != "crowdgrade:defused"} for row in rows]


@pytest.mark.medium
def test_a_run_asks_and_records_what_the_study_on_files_does(
    question_set, small, world, client, rita, tmp_path
):
    """The same prompts, follow-ups, change and judge: the same requests, replies and numbers."""
    world.replies["Why?"] = "because"
    run = done(
        question_set,
        options(
            [small],
            [small],
            follow_ups=FOLLOW_UPS,
            changed_wordings=CHANGED,
            judge_instructions=INSTRUCTIONS,
        ),
    )
    of_run = [body["messages"] for body in world.server.bodies]
    world.server.bodies.clear()
    (tmp_path / "prompts.json").write_text(prompts_text())
    (tmp_path / "changed.csv").write_text(CHANGED)
    (tmp_path / "instructions.csv").write_text(INSTRUCTIONS)
    ran = manage(
        *("study", "eloquent", tmp_path / "prompts.json", "--model", world.server.spec),
        *("--judge", world.server.spec, "--name", "small", "--embedder", "tfidf-word"),
        *("--bootstrap", "20", "--follow-up", "Why?", "--follow-up", "Shorter, please."),
        *("--changed-prompts", tmp_path / "changed.csv", "--output", tmp_path / "out"),
        *("--judge-instructions", tmp_path / "instructions.csv"),
    )
    assert (ran.code, ran.err) == (0, "")
    of_study = [body["messages"] for body in world.server.bodies]
    assert sorted(map(str, of_run)) == sorted(map(str, of_study))
    assert len(of_run) == 3 * 5 + 2
    assert sum("Compare the facts only. A reply" in str(messages) for messages in of_run) == 1
    client.force_login(rita)
    for name in ("replies", "metrics", "items", "reply-sets"):
        file = tmp_path / "out" / f"{name.replace('-', '_')}.csv"
        theirs = list(csv.DictReader(io.StringIO(file.read_text("utf-8-sig"))))
        known = [row for row in theirs if row.get("system") == "small"]
        assert [row for row in table(client, run, name) if row["system"] == "small"] == [
            {one: cell for one, cell in row.items() if one != "crowdgrade:defused"} for row in known
        ], name
    (other,) = [row for row in table(client, run, "replies") if row["changed"] == "yes"]
    assert other["prompt"] == "Which rules are there?"
    assert other["change_reason"] == 'The model took "What rules?" for an outcry.'
    assert (other["turns"], other["follow_ups"]) == ("3", "Why?\nShorter, please.")
    assert other["reply"] == (
        "reply to Which rules are there?\n\nbecause\n\nreply to Shorter, please."
    )
    assert (run.summary["changed_prompts"], run.summary["follow_up_turns"]) == (1, 10)
    texts = client.get(reverse("admin:results-reply-texts", args=[run.public_id]))
    shown = texts.content.decode()
    assert shown.count("data-changed") == 1
    assert "Shorter, please." in shown


def test_a_failed_follow_up_leaves_the_reply_that_there_was(question_set, small, world):
    world.replies["Why?"] = error(400)
    run = done(question_set, options([small], follow_ups="Why?"))
    first = load_findings(run).replies[0]
    assert (first.text, first.answered) == ("reply to The rules?", True)
    assert [turn.answer for turn in first.turns] == ["reply to The rules?", ""]


def test_what_the_models_are_told_first_stands_before_every_turn(question_set, small, world):
    seen = []

    def answer(body):
        seen.append(body["messages"])
        return said("short")

    world.server.reply = answer
    done(question_set, options([small], told="Be brief.", follow_ups="Why?"))
    assert all(messages[0] == {"role": "system", "content": "Be brief."} for messages in seen)
    assert [len(messages) for messages in seen] == [2] * 5 + [4] * 5


def test_a_budget_ends_the_run_and_a_higher_one_pays_for_nothing_twice(question_set, small, world):
    # A reply may cost 8 millionths and costs 5: of 16 two are sent, and 6 are left.
    run = done(question_set, options([small], budget=16e-6, max_tokens=8), "failed")
    assert Message.from_stored(run.error) == Message("run.budget_used_up", {"left": 3})
    before = len(world.server.bodies)
    assert before == 2
    again = done(question_set, options([small], budget=1.0, max_tokens=8))
    assert len(world.server.bodies) == 5
    assert again.summary["reused"] == before
    assert again.summary["requests"] == 5 - before


def test_a_budget_needs_prices(question_set, small):
    type(small).objects.filter(pk=small.pk).update(price_in=None, price_out=None)
    (problem,) = refused(question_set, options([small], budget=1.0))
    assert (problem.code, problem.option) == ("no_prices", "budget")


@pytest.mark.parametrize(
    ("option", "text", "place"),
    [
        ("changed_wordings", "item,variant,prompt,reason\n001,2,x,y\n", "line 2: "),
        ("changed_wordings", "nothing at all", ""),
        ("judge_instructions", "item,instruction\n009,x\n", "line 2: "),
    ],
)
def test_texts_that_do_not_fit_the_items_are_refused_before_anything_is_asked(
    question_set, small, world, option, text, place
):
    (problem,) = refused(question_set, options([small], **{option: text}))
    assert (problem.code, problem.option) == (f"bad_{option}", option)
    assert problem.values["reason"].startswith(place)
    assert not world.server.bodies


@pytest.mark.medium
def test_other_texts_are_another_signature(question_set, small):
    signatures = {
        done(question_set, options([small], **more)).signature
        for more in (
            {},
            {"follow_ups": "Why?"},
            {"told": "Be brief."},
            {"changed_wordings": CHANGED},
            {"judge_instructions": INSTRUCTIONS},
        )
    }
    assert len(signatures) == 5
    assert not any("Why?" in one or "\n" in one for one in signatures)


@pytest.mark.medium
def test_a_run_of_before_these_options_is_still_read(question_set, small):
    run = done(question_set, options([small]))
    for name in ("budget", "told", "follow_ups", "changed_wordings", "judge_instructions"):
        run.parameters.pop(name)
    run.save()
    version = question_set.latest_version()
    again = EloquentRunOptions.from_dict(run.parameters)
    assert (again.budget, again.follow_up_questions) == (None, ())
    started = runs.queue_run(version, question_set.owner_id, again, "eloquent")
    while work_one_turn():
        pass
    started.refresh_from_db()
    assert started.state == "done"


def test_the_form_has_them(client, question_set, small, rita):
    client.force_login(rita)
    page = client.get(reverse("admin:start", args=[question_set.public_id, "eloquent"]))
    shown = page.content.decode()
    for label in ("Budget", "Follow-up questions", "Changed wordings"):
        assert label in shown
    assert '<textarea name="follow_ups"' in shown


def test_an_unfit_change_is_said_in_the_words_of_the_form(question_set, small):
    with pytest.raises(OptionError) as caught:
        runs.queue_run(
            question_set.latest_version(),
            question_set.owner_id,
            options([small], changed_wordings="item,variant,prompt,reason\n001,2,x,y\n"),
            "eloquent",
        )
    (told,) = (SITE.format_field_problem(EloquentRunOptions, one) for one in caught.value.problems)
    assert "line 2" in told
