"""`manage.py umwp_noise`: problems that contradict each other, and partners that are missing."""

import csv
import json

import pytest

from tests.evaluation.commands.running import manage


def problem(item, text, answer=None, category=None, relevant=None):
    return {
        "id": item, "question": text, "answer": answer, "answerable": answer is not None,
        "category": category, "relevant_ids": relevant, "source": "s",
    }  # fmt: skip


APPLES = "Ann has 3 apples and buys 2.5 kg more. How many apples does she have?"
PROBLEMS = [
    problem(1, APPLES, [5.0]),
    problem(2, APPLES.replace(" ", "  "), category=1, relevant=[1]),
    problem(3, "ann has 3 apples, and buys 2.5 kg more. How many apples does she have", [6.0]),
    problem(4, APPLES.replace("2.5", "-2.5"), category=3, relevant=[1]),
    problem(5, "Bob runs 4 miles a day. How many in a week?", [28.0]),
    problem(6, "Who is the tallest of them all?", category=5, relevant=[77]),
    problem(7, "Who is the smallest of all children?", category=5),
    problem(8, "Bob runs 4 miles a day. How many in a week?", [28.0]),
    # Another number, and another answer: nothing is wrong.
    problem(
        9, "In the long summer Eva reads 4 pages on every single day of the week. Sum?", [28.0]
    ),
    problem(
        10, "In the long summer Eva reads 5 pages on every single day of the week. Sum?", [35.0]
    ),
]


def look(folder, problems, *options):
    path = folder / "problems.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in problems))
    return manage("umwp_noise", path, "--output", folder / "out", *options)


def noise(folder):
    with (folder / "out" / "noise.csv").open(newline="") as file:
        return {(row["one"], row["other"]): row for row in csv.DictReader(file)}


def test_each_contradiction_is_named_with_its_kind(tmp_path):
    ran = look(tmp_path, PROBLEMS)
    assert ran.code == 0, ran.err
    found = noise(tmp_path)
    told = {
        both: (row["kind"], row["contradiction"], row["partners"]) for both, row in found.items()
    }
    assert told == {
        ("1", "2"): ("same_text", "labels", "true"),
        ("1", "3"): ("same_but_for_marks", "answers", "false"),
        ("2", "3"): ("same_but_for_marks", "labels", "false"),
        # A minus is no mark, and what differs by it was made so.
        ("1", "4"): ("alike", "labels", "true"),
        ("3", "4"): ("alike", "labels", "false"),
    }
    assert (found["1", "2"]["one_label"], found["1", "2"]["other_label"]) == (
        "5",
        "unanswerable (1)",
    )
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["partners_missing"] == ["6"]
    assert summary["without_partner"] == ["7"]
    assert summary["counts"]["same_text_labels_of_partners"] == 1


def test_the_similarity_is_the_share_of_common_runs_of_letters(tmp_path):
    # " abcd " has " ab", "abc", "bcd", "cd "; " abce " shares two of six.
    problems = [problem(1, "abcd", [1.0]), problem(2, "abce", category=1)]
    assert look(tmp_path, problems, "--similarity", 0.34).code == 0
    assert noise(tmp_path) == {}
    assert look(tmp_path, problems, "--similarity", 0.33).code == 0
    assert float(noise(tmp_path)["1", "2"]["similarity"]) == pytest.approx(2 / 6)


def test_a_similarity_out_of_range_is_told(tmp_path):
    ran = look(tmp_path, PROBLEMS, "--similarity", 2)
    assert ran.code == 2
    assert "no number above 0" in ran.err


@pytest.mark.medium
@pytest.mark.data
def test_the_shared_half_has_three_texts_with_both_labels(tmp_path, data_folder):
    path = data_folder / "umwp" / "StandardDataset.odd_ids.jsonl"
    assert manage("umwp_noise", path, "--output", tmp_path / "out").code == 0
    found = noise(tmp_path)
    same = [both for both, row in found.items() if row["kind"] == "same_text"]
    assert same == [("213", "2713"), ("473", "2973"), ("857", "3357")]
    assert [both for both, row in found.items() if row["kind"] == "same_but_for_marks"] == [
        ("445", "2945")
    ]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (summary["partners_missing"], summary["gold_of_unanswerable"]) == ([], ["2613"])
