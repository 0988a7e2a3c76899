"""`manage.py compose_maqa`: lists, controls, and questions made of yes/no questions."""

import json
from collections import Counter

import pytest

from evaluation.maqa.composing import (
    QUESTIONS_PROMPT,
    STATEMENTS_PROMPT,
    ComposingRequest,
    YesNoQuestion,
    are_bounds_valid,
    compose_question_file,
    compose_questions,
    get_size_category,
)
from tests.evaluation.commands.running import manage

YES_NO = [YesNoQuestion(f"Is {n} even?", n % 2 == 0, f"{n} is even.") for n in range(40)]


def test_a_composed_question_asks_for_the_letters_of_what_is_true():
    for one in compose_questions(YES_NO, 5):
        first, *lines = one.text.splitlines()
        assert first == STATEMENTS_PROMPT
        assert [line[:3] for line in lines] == ["A) ", "B) ", "C) ", "D) ", "E) "]
        even = [line[0] for line in lines if int(line[3:].split()[0]) % 2 == 0]
        assert list(one.answers) == even
        assert 1 <= len(even) <= 4


def test_each_question_is_used_once_and_the_seed_tells_which():
    found = list(compose_questions(YES_NO, 5, seed=1))
    used = [line[3:] for one in found for line in one.text.splitlines()[1:]]
    assert len(used) == len(set(used)) <= 40
    assert (
        found
        == list(compose_questions(YES_NO, 5, seed=1))
        != list(compose_questions(YES_NO, 5, seed=2))
    )


def test_controls_have_one_right_answer_and_many_have_many():
    assert {len(one.answers) for one in compose_questions(YES_NO, 4, 1, 1)} == {1}
    assert {len(one.answers) for one in compose_questions(YES_NO, 10, 8, 10)} <= {8, 9, 10}
    assert len({len(one.answers) for one in compose_questions(YES_NO * 10, 5)}) == 4
    assert [get_size_category(n) for n in (0, 1, 2, 7, 8)] == ["", "single", "few", "few", "many"]


def test_of_5_to_15_statements_at_least_2_are_true_and_2_are_false():
    pool = [YesNoQuestion(f"Is {n} even?", n % 2 == 0, f"{n} is even.") for n in range(4000)]
    made = list(compose_questions(pool, 5, 2, largest=15))
    sizes = Counter(len(one.text.splitlines()) - 1 for one in made)
    assert set(sizes) == set(range(5, 16))
    assert all(one.options == len(one.text.splitlines()) - 1 for one in made)
    # Drawn evenly: 11 sizes of mean 10 share the 400 questions that 4,000 statements make.
    assert max(sizes.values()) < 3 * min(sizes.values())
    true = {(one.options, len(one.answers)) for one in made}
    assert all(2 <= n <= size - 2 for size, n in true)
    used = [line[3:] for one in made for line in one.text.splitlines()[1:]]
    assert len(used) == len(set(used))


@pytest.mark.parametrize(
    ("bounds", "sound"),
    [
        ((5, 2, 0, 15), True),
        ((5, 3, 0, 15), True),
        ((5, 4, 0, 15), False),  # 5 - 2 is below 4
        ((15, 2, 0, 5), False),
        ((5, 2, 0, 5), False),  # no range
        ((5, 2, 6, 15), False),  # 5 options cannot have 6 true ones
        ((5, 2, 0, 27), False),
    ],
)
def test_bounds_of_a_range_hold_for_its_least_number(bounds, sound):
    assert are_bounds_valid(*bounds) is sound


def test_without_a_statement_of_each_the_questions_are_asked():
    bare = [YesNoQuestion(one.question, one.yes) for one in YES_NO]
    first = next(iter(compose_questions(bare, 3)))
    assert first.text.splitlines()[0] == QUESTIONS_PROMPT
    assert first.text.splitlines()[1].endswith("even?")


@pytest.mark.parametrize("bounds", [(1, 1, 1), (27, 1, 2), (4, 0, 2), (4, 3, 2), (4, 1, 5)])
def test_bounds_that_do_not_fit_are_an_error(bounds):
    with pytest.raises(ValueError, match="fewest"):
        list(compose_questions(YES_NO, *bounds))


@pytest.fixture
def files(tmp_path):
    world = [{"question": "Which seas?", "answer": ["Baltic", ["North Sea", "German Ocean"]]}]
    single = [{"question": "Who sang?", "answer": ["Bob Dylan"]}]
    (tmp_path / "world.json").write_text(json.dumps(world))
    (tmp_path / "single.json").write_text(json.dumps(single))
    lines = [{"question": one.question, "answer": one.yes} for one in YES_NO]
    (tmp_path / "yes.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    return tmp_path


def test_lists_controls_and_composed_questions_become_one_set(files):
    lists = (f"world_knowledge={files / 'world.json'}", f"control={files / 'single.json'}")
    out = files / "set.json"
    command = ("compose_maqa", "--lists", *lists, "--yes-no", files / "yes.jsonl", "--output", out)
    ran = manage(*command, "--options", 6, "--fewest", 2)
    assert ran.code == 0, ran.err
    entries = json.loads(out.read_text())
    assert [one["id"] for one in entries[:3]] == ["world_knowledge-0", "control-0", "commonsense-0"]
    assert entries[0]["answer"] == ["Baltic", ["North Sea", "German Ocean"]]
    assert [one["category"] for one in entries[:2]] == ["few", "single"]
    assert f"{len(entries)} questions (world_knowledge 1, control 1, commonsense" in ran.out
    # It is what `evaluate maqa` takes, with a group for each data set and size.
    right = entries[2]["answer"]
    said = {"commonsense-0": ", ".join(right), "control-0": "x"}
    lines = [json.dumps({"item": item, "reply": text}) for item, text in said.items()]
    (files / "r.jsonl").write_text("\n".join(lines))
    given = (out, "--replies", files / "r.jsonl", "--output", files / "o", "--bootstrap", 0)
    done = manage("evaluate", "maqa", *given)
    assert done.code == 0, done.err
    metrics = (files / "o" / "metrics.csv").read_text()
    assert "model,dataset:commonsense,exact_set,1.0" in metrics
    assert "model,category:single,f1,0.0" in metrics


def test_the_command_draws_the_number_of_options_from_a_range(files):
    out = files / "set.json"
    ran = manage(
        *("compose_maqa", "--yes-no", files / "yes.jsonl", "--output", out, "--options", "4-7")
    )
    assert ran.code == 0, ran.err
    entries = json.loads(out.read_text())
    sizes = [len(one["question"].splitlines()) - 1 for one in entries]
    assert len(set(sizes)) > 1
    assert set(sizes) <= {4, 5, 6, 7}
    for size, one in zip(sizes, entries, strict=True):
        assert 2 <= len(one["answer"]) <= size - 2
    request = ComposingRequest(files / "again.json", {}, files / "yes.jsonl", 4, 2, largest=7)
    assert compose_question_file(request).left_over == len(YES_NO) - sum(sizes)
    assert (files / "again.json").read_text() == out.read_text()


def test_a_bad_yes_no_question_is_refused_and_nothing_is_written(files):
    with (files / "yes.jsonl").open("a") as file:
        file.write(json.dumps({"question": "Is 0 even?", "answer": False}) + "\n")
    ran = manage("compose_maqa", "--yes-no", files / "yes.jsonl", "--output", files / "set.json")
    refusal = f"yes.jsonl, line {len(YES_NO) + 1}, column answer, entry_contradicts"
    assert (ran.code, ran.refusals) == (2, (refusal,))
    assert not (files / "set.json").exists()


@pytest.mark.parametrize(
    ("more", "refusal"),
    [
        (("--output", "set.json"), "set.json, nothing_to_compose"),
        (("--output", "set.csv"), "set.csv, composed_not_json"),
        (("--output", "set.json", "--fewest", 9), "--options, bounds_unordered"),
        (("--output", "set.json", "--options", "15-5"), "--options, bounds_unordered"),
        (("--output", "set.json", "--options", "5-"), "--options"),
        (("--output", "set.json", "--lists", "world"), "--lists"),
    ],
)
def test_arguments_that_will_not_do_are_refused(more, refusal):
    ran = manage("compose_maqa", *more)
    assert (ran.code, ran.refusals) == (2, (refusal,))
