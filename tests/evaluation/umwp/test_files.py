"""`manage.py evaluate umwp`: what it writes, by hand, and what it leaves out or refuses."""

import csv
import json

import pytest

from evaluation.umwp.options import UmwpParameters
from tests.evaluation.commands.running import manage
from tests.evaluation.runs.run_types.texts import places_of
from tests.problems import check_problem
from tests.sentences import terminal_sentence

# Letters in groups tell equal sentences from others, and need no model.
QUICK = ("--encoder", "tfidf-char", "--threshold", 0.9, "--bootstrap", 20)
UNKNOWN = "It cannot be determined."


def problem(item, answer=None, category=None, relevant=None, source="SVAMP", **more):
    return {
        "id": item, "question": f"Question {item}?", "answer": answer,
        "answerable": answer is not None, "category": category,
        "relevant_ids": relevant, "source": source, **more,
    }  # fmt: skip


PROBLEMS = [
    problem(1, [460.0]),
    problem(2, [2.5], category=0, source="GSM8K"),
    problem(3, category=1, relevant=[1]),
    problem(4, category=2, relevant=[2], source="GSM8K"),
    problem(5, category=2, relevant=[99], source="GSM8K"),
    problem(6, category=5, relevant=[1], source="GSM8K"),
]
REPLIES = [
    {"id": 1, "reply": "46 * 10 = 460, so the answer is 460."},
    {"id": 2, "reply": "The answer is 2.5 km."},
    {"id": 3, "reply": f"We look. {UNKNOWN}"},
    {"id": 4, "reply": "The answer is 3n + 2."},
    {"id": 5, "reply": "The answer is 7."},
    {"id": 6, "status": "Refused"},
]


def evaluate(folder, replies=REPLIES, problems=PROBLEMS, *options):
    one, other = folder / "problems.jsonl", folder / "replies.jsonl"
    one.write_text("".join(json.dumps(entry) + "\n" for entry in problems))
    other.write_text("".join(json.dumps(entry) + "\n" for entry in replies))
    arguments = [one, "--replies", other, "--output", folder / "out", *(options or QUICK)]
    return manage("evaluate", "umwp", *arguments)


def rows(folder, name):
    with (folder / "out" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def metrics(folder, group="", system="model"):
    return {
        row["metric"]: (float(row["value"]) if row["value"] else None, row["reason"])
        for row in rows(folder, "metrics.csv")
        if (row["group"], row["system"]) == (group, system)
    }


def excluded(folder):
    found = json.loads((folder / "out" / "summary.json").read_text())["exclusions"]
    return {one["reason"]: one["count"] for one in found}


def test_replies_are_told_apart_and_the_numbers_are_those_by_hand(tmp_path):
    ran = evaluate(tmp_path)
    assert ran.code == 0, ran.err
    items = {row["item"]: row for row in rows(tmp_path, "items.csv")}
    assert {item: (row["taken_as"], row["decided_by"]) for item, row in items.items()} == {
        "1": ("answerable", "nothing"),
        "2": ("answerable", "nothing"),
        "3": ("unanswerable", "template"),
        "4": ("unanswerable", "expression"),
        "5": ("answerable", "nothing"),
        "6": ("refused", "refused"),
    }
    assert (items["3"]["window"], items["3"]["template"]) == (UNKNOWN.lower()[:-1], UNKNOWN)
    assert (items["4"]["expression"], items["2"]["answer"]) == ("3n+2", "2.5")
    found = metrics(tmp_path)
    # Noticed 2 of 3 that were not refused, took none wrongly, answered 2 of 2.
    expected = {"precision": 1, "recall": 2 / 3, "f1": 4 / 5, "answer_accuracy": 1}
    assert {name: found[name][0] for name in expected} == pytest.approx(expected)
    counts = {"true_positives": 2, "false_positives": 0, "false_negatives": 1, "refusals": 1}
    assert {name: found[name][0] for name in counts} == counts
    assert metrics(tmp_path, "category:2")["recall"][0] == 1 / 2
    assert metrics(tmp_path, "category:2")["precision"] == (None, "no_answerable_problem")
    assert metrics(tmp_path, "source:SVAMP")["f1"][0] == 1
    assert metrics(tmp_path, "form:direct") == found


def test_pairs_set_a_problem_beside_the_one_it_was_made_of(tmp_path):
    assert evaluate(tmp_path).code == 0
    found = {row["unanswerable"]: row for row in rows(tmp_path, "pairs.csv")}
    assert [found["3"][name] for name in ("noticed", "answered", "right", "reason")] == [
        "true", "true", "true", "",
    ]  # fmt: skip
    assert found["5"]["reason"] == "partner_missing"
    assert found["6"]["noticed"] == "false"
    # Of the three pairs with both replies two are right throughout.
    assert metrics(tmp_path)["pairs"][0] == pytest.approx(2 / 3)
    assert excluded(tmp_path) == {"partner_missing": 1}


def test_forms_are_never_pooled(tmp_path):
    replies = [
        *({"form": "direct", **reply} for reply in REPLIES),
        *({"form": "In_Context", "id": one["id"], "reply": UNKNOWN} for one in PROBLEMS),
    ]
    assert evaluate(tmp_path, replies).code == 0
    assert set(metrics(tmp_path).values()) == {(None, "forms_are_not_pooled")}
    assert metrics(tmp_path, "form:direct")["recall"][0] == pytest.approx(2 / 3)
    # All taken for unanswerable: 4 of 6 rightly.
    assert metrics(tmp_path, "form:in-context")["precision"][0] == pytest.approx(4 / 6)
    assert metrics(tmp_path, "category:2,form:in-context")["recall"][0] == 1


def test_an_empty_reply_is_answerable_without_a_number(tmp_path):
    replies = [{"id": 1, "status": "empty"}, {"id": 3, "reply": " "}]
    assert evaluate(tmp_path, replies).code == 0
    items = rows(tmp_path, "items.csv")
    assert [(row["taken_as"], row["decided_by"]) for row in items[:3]] == [
        ("answerable", "empty"),
        ("", ""),
        ("answerable", "empty"),
    ]
    found = metrics(tmp_path)
    assert (found["recall"][0], found["answer_accuracy"][0]) == (0, 0)
    assert found["precision"] == (None, "nothing_taken_for_unanswerable")


def test_the_rules_of_the_paper_cannot_read_decimals_and_take_units_for_variables(tmp_path):
    replies = [{"id": 1, "reply": "460 cm is 4.6m"}, {"id": 2, "reply": "The answer is 2.5"}]
    assert evaluate(tmp_path, replies).code == 0
    assert metrics(tmp_path)["answer_accuracy"][0] == 1 / 2  # the last number is 4.6
    assert evaluate(tmp_path, replies, PROBLEMS, *QUICK, "--rules", "paper").code == 0
    items = rows(tmp_path, "items.csv")
    assert (items[0]["taken_as"], items[0]["expression"]) == ("unanswerable", "460cm")
    assert (items[1]["taken_as"], items[1]["right"]) == ("answerable", "false")


def test_own_templates_are_taken_instead_and_the_paper_s_threshold_with_them(tmp_path):
    (tmp_path / "templates.txt").write_text("Nobody knows.\n\nnobody knows\n")
    replies = [{"id": 3, "reply": "Nobody knows!"}, {"id": 4, "reply": UNKNOWN}]
    options = ("--encoder", "tfidf-char", "--templates", tmp_path / "templates.txt")
    assert evaluate(tmp_path, replies, PROBLEMS, *options).code == 0
    assert metrics(tmp_path)["recall"][0] == 1 / 2
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (summary["threshold"], summary["templates"]) == (0.75, ["Nobody knows."])
    assert summary["warnings"][-1] == terminal_sentence("umwp.threshold_not_tuned")


def test_what_cannot_be_used_is_counted(tmp_path):
    problems = [*PROBLEMS, {**problem(7, category=3, relevant=[1]), "question": "Question  1?"}]
    replies = [{"id": 1, "reply": "460"}, {"id": 77, "reply": "x"}, {"id": 2, "status": "error"}]
    assert evaluate(tmp_path, replies, problems).code == 0
    found = excluded(tmp_path)
    assert {name: found[name] for name in ("unknown_item", "error", "no_reply")} == {
        "unknown_item": 1,
        "error": 1,
        "no_reply": 5,
    }
    assert found["text_with_both_labels"] == 2
    assert "7" not in {row["unanswerable"] for row in rows(tmp_path, "pairs.csv")}
    assert rows(tmp_path, "items.csv")[1]["reason"] == "error"


@pytest.mark.parametrize(
    ("replies", "problems", "code", "values"),
    [
        (
            REPLIES,
            [*PROBLEMS, problem(1)],
            *("problem_labelled_twice", {"file": "problems.jsonl", "line": 7, "column": "id"}),
        ),
        (
            [{"id": 1, "said": "5"}],
            PROBLEMS,
            *("no_replies", {"file": "replies.jsonl", "line": None, "column": "reply"}),
        ),
    ],
)
def test_a_bad_file_is_told_and_nothing_is_written(
    tmp_path, told_problems, replies, problems, code, values
):
    ran = evaluate(tmp_path, replies, problems)
    assert (ran.code, (tmp_path / "out").exists()) == (2, False)
    (told,) = told_problems
    check_problem(told, code, **values)
    assert str(told) in ran.err


def test_an_encoder_that_there_is_not_is_refused(tmp_path):
    assert "nonsense" in evaluate(tmp_path, REPLIES, PROBLEMS, "--encoder", "nonsense").err
    ran = evaluate(tmp_path, REPLIES, PROBLEMS, "--encoder", "precomputed:x.npz")
    assert (ran.code, "--encoder: " in ran.err) == (2, True)
    (problem,) = UmwpParameters(encoder="precomputed:x.npz").find_problems()
    assert (problem.code, problem.option) == ("unreadable", "encoder")


def test_templates_alone_lose_what_only_expressions_notice(tmp_path):
    replies = [
        {"id": 1, "reply": "The answer is 460."},
        {"id": 2, "reply": f"{UNKNOWN}"},
        {"id": 3, "reply": f"We look. {UNKNOWN}"},
        {"id": 4, "reply": "The answer is 3n + 2."},
        {"id": 5, "reply": f"It is 2k + 1. {UNKNOWN}"},
        {"id": 6, "reply": "The answer is 7."},
    ]
    assert evaluate(tmp_path, replies).code == 0
    found = {
        (row["part"], row["metric"]): (float(row["value"]), int(row["n"]), row["low"])
        for row in rows(tmp_path, "ablation.csv")
    }
    value = {both: one[0] for both, one in found.items()}
    # Both notice 3, 4, 5 and are wrong in 2; templates miss 4, expressions 3.
    assert (
        value["both", "f1"] == pytest.approx(2 * 3 / (2 * 3 + 1 + 1)) == metrics(tmp_path)["f1"][0]
    )
    assert value["templates", "f1"] == pytest.approx(2 * 2 / (2 * 2 + 1 + 2))
    assert value["templates", "precision"] == pytest.approx(2 / 3)
    assert value["expressions", "recall"] == pytest.approx(2 / 4)
    assert value["expressions", "precision"] == 1
    assert value["templates", "f1_lost"] == pytest.approx(6 / 8 - 4 / 7)
    assert found["templates", "f1_lost"][1] == 6
    assert found["templates", "f1_lost"][2] != ""
    assert ("both", "f1_lost") not in found


def test_f1_is_told_by_the_size_of_the_systems(tmp_path):
    replies = [{"system": name, **reply} for name in ("small", "large") for reply in REPLIES]
    systems = tmp_path / "systems.csv"
    systems.write_text("system,size,tuning\nlarge,7B,chat\nsmall,135M,base\n")
    assert evaluate(tmp_path, replies, PROBLEMS, *QUICK, "--systems", systems).code == 0
    found = rows(tmp_path, "sizes.csv")
    assert [(row["system"], float(row["parameters"]), row["f1"]) for row in found] == [
        ("small", 135e6, "0.8"),
        ("large", 7e9, "0.8"),
    ]
    assert rows(tmp_path, "size_trends.csv")[0]["reason"] == "fewer_than_3_sizes"
    picture = (tmp_path / "out" / "f1_by_size.svg").read_text()
    assert picture.startswith("<?xml")
    assert "direct: F1" in picture
    systems.write_text("system,size\nlarge,huge\n")
    ran = evaluate(tmp_path, replies, PROBLEMS, *QUICK, "--systems", systems)
    assert ran.code == 2
    assert places_of(ran.err)[0] == ("systems.csv", 2, "size")
    assert " huge " in ran.err


def test_a_problem_of_which_nobody_knows_is_classified_and_counts_in_nothing(tmp_path):
    problems = [*PROBLEMS, problem(7, answerable=None)]
    replies = [*REPLIES, {"id": 7, "reply": UNKNOWN}]
    assert evaluate(tmp_path).code == 0
    before = metrics(tmp_path)
    assert evaluate(tmp_path, replies, problems).code == 0
    assert metrics(tmp_path) == before
    item = rows(tmp_path, "items.csv")[-1]
    assert (item["answerable"], item["taken_as"]) == ("", "unanswerable")
    assert item["reason"] == "answerable_unknown"
    assert excluded(tmp_path)["answerable_unknown"] == 1
    missing = {name: value for name, value in problem(8).items() if name != "answerable"}
    refused = evaluate(tmp_path, REPLIES, [*PROBLEMS, missing])
    assert places_of(refused.err)[0] == ("problems.jsonl", 7, "answerable")


@pytest.mark.data
def test_the_published_problems_have_the_counts_of_the_paper_s_half(tmp_path, data_folder):
    lines = (data_folder / "umwp" / "StandardDataset.odd_ids.jsonl").read_text().splitlines()
    problems = [json.loads(line) for line in lines]
    said = {
        one["id"]: f"The answer is {one['answer'][0]}." for one in problems if one["answerable"]
    }
    replies = [{"id": one["id"], "reply": said.get(one["id"], UNKNOWN)} for one in problems]
    assert evaluate(tmp_path, replies, problems).code == 0
    counts = json.loads((tmp_path / "out" / "summary.json").read_text())["counts"]
    assert (counts["answerable"], counts["unanswerable"]) == (1300, 1300)
    assert list(counts["by_category"].values()) == [427, 635, 137, 50, 51]
    assert counts["texts_with_both_labels"] == 3
    found = metrics(tmp_path)
    assert (found["f1"][0], found["answer_accuracy"][0], found["pairs"][0]) == (1, 1, 1)


@pytest.mark.medium
@pytest.mark.model
def test_with_the_default_encoder_numbers_are_answers_and_doubts_are_not(tmp_path):
    replies = [
        {"id": 1, "reply": "He has 46 magazines on each of 10 shelves. The answer is 460."},
        {"id": 2, "reply": "The answer is 2.5."},
        {"id": 3, "reply": "There is not enough information to answer this question."},
        {"id": 4, "reply": "The problem cannot be solved, as the price is not given."},
        {"id": 5, "reply": "We can't determine it. The number of bags is missing."},
    ]
    assert evaluate(tmp_path, replies, PROBLEMS, "--bootstrap", 0).code == 0
    assert metrics(tmp_path)["f1"][0] == 1
