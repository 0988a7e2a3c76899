"""The files of the demo agree with each other and say what they are."""

import csv
from collections import Counter
from pathlib import Path

from annotations import demo
from evaluation.core.backends.chat import smollm2
from tests.benchmarks import recording


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def question_ids() -> list[str]:
    return [question.id for question in demo.load_questions()]


def test_there_are_two_passages_of_readable_length_and_each_has_at_least_seven_questions():
    passages = demo.load_passages()
    asked = Counter(question.passage for question in demo.load_questions())
    assert len({passage.id for passage in passages}) == len(passages) == 2
    assert all(150 <= len(passage.text.split()) <= 250 for passage in passages)
    assert set(asked) == {passage.id for passage in passages}
    assert min(asked.values()) >= 7


def test_question_ids_are_unique():
    ids = question_ids()
    assert len(ids) >= 12
    assert len(set(ids)) == len(ids)


def test_no_two_questions_ask_the_same_in_the_same_words():
    texts = [question.text for question in demo.load_questions()]
    assert len(set(texts)) == len(texts)


def test_every_workers_answer_belongs_to_a_question_of_the_set():
    answers = rows(demo.ANSWERS)
    assert {row["question"] for row in answers} == set(question_ids())
    assert len({row["worker"] for row in answers}) >= 24


def test_nobody_answers_a_question_twice():
    pairs = Counter((row["worker"], row["question"]) for row in rows(demo.ANSWERS))
    assert set(pairs.values()) == {1}


def test_ids_come_trimmed_and_no_answer_is_only_blanks():
    for row in rows(demo.ANSWERS):
        assert all(value == value.strip() for value in row.values()), row
        assert row["worker"]


def test_every_kind_of_worker_is_there_and_a_worker_is_of_one_kind():
    kinds = {(row["worker"], row["written_as"]) for row in rows(demo.ANSWERS)}
    counts = Counter(kind for _, kind in kinds)
    assert set(counts) == set(demo.KINDS)
    assert sum(counts.values()) == len({worker for worker, _ in kinds})
    assert counts["expert"] >= 5
    assert counts["average"] >= 10
    assert counts["careless"] >= 5


def test_some_answers_are_missing_and_every_worker_and_question_has_at_least_five():
    answers = rows(demo.ANSWERS)
    given = [row for row in answers if row["answer"]]
    assert len(given) < len(answers)
    assert min(Counter(row["worker"] for row in given).values()) >= 5
    assert min(Counter(row["question"] for row in given).values()) >= 5


def test_only_copies_and_pasted_texts_repeat_a_long_answer():
    # Short ones ("the cable broke") are said by several people in life as well.
    longer = [row for row in rows(demo.ANSWERS) if len(row["answer"].split()) > 8]
    original = [row["answer"] for row in longer if row["written_as"] not in {"copy", "paste"}]
    assert len(set(original)) == len(original)


def test_the_label_says_that_no_real_people_answered():
    assert "no real people" in demo.LABEL
    readme = (demo.FOLDER / "README.md").read_text(encoding="utf-8")
    assert "no real people" in readme


def test_the_readme_names_every_worker_under_its_kind():
    table = (demo.FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
    for kind in demo.KINDS:
        workers = {row["worker"] for row in rows(demo.ANSWERS) if row["written_as"] == kind}
        line = next(line for line in table if line.startswith(f"| {kind} |"))
        assert set(line.split("|")[2].replace(",", " ").split()) == workers


def test_every_system_answers_every_question_once_and_carries_the_models_label():
    answers = rows(demo.MODEL_ANSWERS)
    assert tuple(answers[0]) == recording.COLUMNS
    pairs = Counter((row["model"], row["question"]) for row in answers)
    names = [system.name for system in recording.SYSTEMS]
    assert pairs == Counter((name, question) for name in names for question in question_ids())
    assert {row["label"] for row in answers} == {demo.MODEL_LABEL}


def test_a_recorded_answers_status_and_end_are_told():
    for row in rows(demo.MODEL_ANSWERS):
        assert row["status"] == ("text" if row["answer"].strip() else "empty")
        assert row["finish_reason"] in {"stop", "length"}


def test_the_recording_names_the_documented_file_its_settings_and_the_systems():
    details = demo.load_recording()
    answers = rows(demo.MODEL_ANSWERS)
    assert details["label"] == demo.MODEL_LABEL
    assert details["file_sha256"] == smollm2.SHA256
    assert {system["name"] for system in details["systems"]} == {row["model"] for row in answers}
    assert details["answers"] == len(answers)
    assert details["cut_at_max_tokens"] == sum(row["finish_reason"] == "length" for row in answers)
    assert {"model", "file", "date", "command", "versions", "server", "prompts"} <= set(details)
    for row in answers:
        system = next(s for s in details["systems"] if s["name"] == row["model"])
        assert float(row["temperature"]) == system["temperature"]
        assert int(row["seed"]) == system["seed"]
        assert (row["passage"] == "yes") is system["passage"]


def test_what_the_recording_tells_of_prompts_and_settings_is_what_the_recorder_sends_today():
    details = demo.load_recording()
    assert details["prompts"] == {
        "system": recording.SYSTEM_PROMPT,
        "with_passage": recording.WITH_PASSAGE,
        "without_passage": recording.WITHOUT_PASSAGE,
    }
    assert details["max_tokens"] == recording.MAX_TOKENS
    assert details["sampling"] == recording.SAMPLING
    assert details["server"] == smollm2.SETTINGS
