"""A study of a kind: asked in steps, kept in a folder, gone on with by the same command."""

import argparse
import json

import pytest

from evaluation.management.asking_arguments import add_asking_arguments, build_ask_settings
from evaluation.runs.flow.asking.asker import BUDGET_USED_UP
from tests.evaluation.commands.running import manage
from tests.evaluation.core.backends.chat.fake import FakeChat

REPLIES = """\
question,reply,status
say-0,rivers begin high up,
say-1,they end low,
shorten-0,high up,
shorten-1,low,
"""


@pytest.fixture
def lines(tmp_path):
    file = tmp_path / "lines.txt"
    file.write_text("Where do they begin?\nWhere do they end?\n")
    return file


@pytest.fixture
def replies(tmp_path):
    file = tmp_path / "scripted.csv"
    file.write_text(REPLIES)
    return file


@pytest.fixture
def chat():
    server = FakeChat()
    yield server
    server.close()


@pytest.fixture
def study(with_words, lines, replies, tmp_path):
    def ask(*more, model=None):
        spec = model or f"replies:{replies}"
        return manage("study", "words", lines, "--model", spec, "--output", tmp_path / "out", *more)

    return ask


def found(tmp_path):
    return json.loads((tmp_path / "out" / "words.json").read_text())


def journal(tmp_path):
    return [
        json.loads(line) for line in (tmp_path / "out" / "requests.jsonl").read_text().splitlines()
    ]


def test_each_step_asks_with_its_own_parameters_and_the_second_what_the_first_got(study, tmp_path):
    ran = study("--name", "sage")
    # "high up" and "low"
    assert (ran.code, ran.out) == (0, "3 words\n")
    assert found(tmp_path)["system"] == "sage"
    asked = [(one["question"], one["request"]) for one in journal(tmp_path)]
    assert [name for name, _ in asked] == ["say-0", "say-1", "shorten-0", "shorten-1"]
    assert [request["temperature"] for _, request in asked] == [1.0, 1.0, 0.0, 0.0]
    assert asked[2][1]["messages"][0]["content"] == "Shorter: rivers begin high up"


def test_the_steps_are_counted_apart(study, tmp_path):
    study()
    steps = found(tmp_path)["steps"]
    assert [one["step"] for one in steps] == ["say", "shorten"]
    assert [one["statuses"]["text"] for one in steps] == [2, 2]
    assert steps[0]["prompt_hash"] != steps[1]["prompt_hash"]


def test_an_error_is_told_by_the_exit_code_and_asked_again_by_the_same_command(
    study, replies, tmp_path
):
    replies.write_text(REPLIES.replace("shorten-1,low,\n", ""))
    assert study().code == 3
    assert found(tmp_path)["words"] == {"shorten-0": 2, "shorten-1": 0}
    replies.write_text(REPLIES)
    assert study().code == 0
    assert found(tmp_path)["words"] == {"shorten-0": 2, "shorten-1": 1}
    # Four and, again, the one that had none.
    assert len(journal(tmp_path)) == 5


def test_the_budget_ends_it_between_steps_and_counts_what_earlier_steps_cost(
    study, chat, lines, tmp_path
):
    # A reply has 5 tokens and may have 8: two lines and one shorter one make 15, and 8 do not fit.
    model = chat.spec
    paid = ("--price-in", "0", "--price-out", "1000000", "--max-tokens", "8")
    ran = study(*paid, "--budget", "20", "--concurrency", "1", model=model)
    assert ran.code == 3
    assert BUDGET_USED_UP in ran.out
    assert not (tmp_path / "out" / "words.json").exists()
    assert sum(one["cost"] for one in journal(tmp_path)) == 15
    again = study(*paid, "--budget", "20", "--concurrency", "1", model=model)
    assert again.code == 3
    assert len(chat.bodies) == 3
    assert study(*paid, "--budget", "100", model=model).code == 0


def test_a_model_that_is_unknown_is_bad_usage(study):
    ran = study(model="oracle:delphi")
    assert ran.code == 2
    assert "'oracle:delphi'" in ran.err


def test_its_arguments_are_its_own_and_those_of_asking(with_words):
    said = manage("study", "words", "--help").out
    for name in ("lines", "--output", "--longest", "--model", "--budget", "--key-variable"):
        assert name in said
    assert "requests.jsonl" in said


def test_an_option_of_the_kind_takes_the_place_of_that_of_asking():
    parser = argparse.ArgumentParser()
    parser.add_argument("--max-tokens", type=int, default=7)
    add_asking_arguments(parser, without=("max_tokens",))
    asking = build_ask_settings(vars(parser.parse_args(["--model", "replies:x.csv"])))
    assert asking.parameters == {"temperature": 0.0, "max_tokens": 7}


def test_a_kind_without_a_study_is_no_method(with_words, lines):
    ran = manage("study", "aqer", lines)
    assert ran.code == 2
    assert "invalid choice: 'aqer'" in ran.err
