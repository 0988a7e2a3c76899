"""`manage.py umwp_templates`: wordings that separate, chosen in one half, told by the other."""

import csv
import json
import re

import pytest

from evaluation.management.commands import umwp_templates
from tests.evaluation.commands.running import manage

# Equal words are alike by their letters, and no model is needed.
QUICK = ("--encoder", "tfidf-char", "--threshold", 0.8)
HIDDEN = "that stays a riddle"


def replies(n=40):
    """Half say the hidden wording, or one that a template knows; the others give a number."""
    found = []
    for number in range(n):
        found += [
            {"id": f"u{number}", "reply": f"{number} books, {HIDDEN}.", "label": "Unanswerable"},
            {"id": f"a{number}", "reply": f"The sum of them is {number}.", "label": "answerable"},
            {"id": f"k{number}", "reply": "It is not stated.", "label": "unanswerable"},
        ]  # fmt: skip
    return found


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def mine(folder, rows, *options):
    known = folder / "known.txt"
    known.write_text("It is not stated.\n")
    path = write(folder / "labelled.jsonl", rows)
    arguments = [path, "--templates", known, "--output", folder / "out", *QUICK, *options]
    return manage("umwp_templates", *arguments)


def candidates(folder):
    with (folder / "out" / "candidates.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def summary(folder):
    return json.loads((folder / "out" / "summary.json").read_text())


def test_the_wording_that_only_unanswerable_replies_have_is_found_and_measured(tmp_path):
    ran = mine(tmp_path, replies())
    assert ran.code == 0, ran.err
    found = summary(tmp_path)
    counts = found["counts"]
    assert counts["mined"]["unanswerable"] + counts["kept"]["unanswerable"] == 80
    chosen = [row for row in candidates(tmp_path) if row["chosen"] == "true"]
    assert chosen[0]["template"] in {HIDDEN, f"books, {HIDDEN}"}
    # Nothing of the hidden ones was found before, all of the known ones.
    hidden = [row for row in replies() if row["id"].startswith("u")]
    kept = int(chosen[0]["kept_found"])
    assert int(chosen[0]["gain"]) + kept == len(hidden)
    assert (chosen[0]["kept_wrong"], chosen[0]["kept_precision"]) == ("0", "1.0")
    assert int(chosen[0]["kept_new"]) == kept
    assert found["kept_before"]["recall"] == pytest.approx(
        1 - kept / counts["kept"]["unanswerable"]
    )
    assert found["kept_after"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    # What the known template finds already is a candidate that adds nothing.
    assert "adds_nothing" in {row["reason"] for row in candidates(tmp_path)}
    # The file is one that evaluate umwp takes.
    lines = (tmp_path / "out" / "templates.txt").read_text().splitlines()
    assert lines == ["It is not stated.", *(row["template"] for row in chosen)]


@pytest.mark.parametrize(("missing", "counts"), [(0, []), (1, ["1"])])
def test_the_terminal_counts_the_candidates_beyond_the_rows_of_its_table(
    tmp_path, monkeypatch, missing, counts
):
    assert mine(tmp_path, replies()).code == 0
    found = len(candidates(tmp_path))
    assert found > 1
    monkeypatch.setattr(umwp_templates, "MAX_SHOWN", found - missing)
    ran = mine(tmp_path, replies())
    assert re.findall(r"^And (\d+) ", ran.out, re.MULTILINE) == counts


def test_numbers_and_rare_wordings_are_no_candidates(tmp_path):
    assert (
        mine(tmp_path, [*replies(), {"reply": "Only once, alas.", "label": "unanswerable"}]).code
        == 0
    )
    texts = [row["template"] for row in candidates(tmp_path)]
    assert not [text for text in texts if any(letter.isdigit() for letter in text)]
    assert "only once" not in texts
    assert mine(tmp_path, replies(), "--least", 1000).code == 0
    assert candidates(tmp_path) == []
    assert summary(tmp_path)["counts"]["patterns"] == 0


def test_a_wording_that_answers_share_is_no_candidate(tmp_path):
    rows = replies()
    rows += [{"reply": f"Riddle or not, {HIDDEN}: {n}.", "label": "answerable"} for n in range(40)]
    assert mine(tmp_path, rows).code == 0
    assert HIDDEN not in {row["template"] for row in candidates(tmp_path)}


def test_labels_may_be_those_of_problems_and_pairs_stay_in_one_half(tmp_path):
    problems, said = [], []
    for n in range(30):
        base = {"question": f"Question {n}?", "source": "s"}
        problems.append({**base, "id": n, "answer": [n], "answerable": True, "relevant_ids": None})
        problems.append(
            {**base, "id": 100 + n, "question": f"What {n}?", "answer": None, "answerable": False,
             "category": 1, "relevant_ids": [n]}
        )  # fmt: skip
        said += [
            {"id": n, "reply": f"It is {n}."},
            {"id": 100 + n, "reply": f"Books: {HIDDEN}."},
        ]
    said += [{"id": 999, "reply": "x"}, {"id": 1, "system": "b", "status": "refused"}]
    path = write(tmp_path / "problems.jsonl", problems)
    replies_of = write(tmp_path / "said.jsonl", said)
    ran = manage(
        "umwp_templates", replies_of, "--problems", path, "--output", tmp_path / "out",
        "--encoder", "tfidf-char", "--threshold", 0.8,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    found = summary(tmp_path)
    assert found["counts"]["mined"] == {"unanswerable": 15, "answerable": 15}
    assert {one["reason"]: one["count"] for one in found["exclusions"]} == {
        "unknown_item": 1,
        "without_text": 1,
    }
    assert any(HIDDEN in row["template"] for row in candidates(tmp_path) if row["chosen"] == "true")


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([{"reply": "a", "label": "maybe"}], "line 1, column label, label_unknown"),
        ([{"reply": "a", "label": "answerable"}], "column label, one_label_only"),
        (
            [{"reply": "a", "label": "answerable"}, {"reply": "b", "label": "unanswerable"}],
            "half_of_one_label",
        ),
    ],
)
def test_what_cannot_be_mined_is_refused(tmp_path, rows, fault):
    ran = mine(tmp_path, rows)
    assert (ran.code, (tmp_path / "out").exists()) == (2, False)
    (refusal,) = ran.refusals
    assert refusal.rpartition("/")[2] == f"labelled.jsonl, {fault}"


def test_problems_without_replies_are_told(tmp_path):
    path = write(tmp_path / "problems.jsonl", [])
    ran = manage("umwp_templates", "--problems", path, "--output", tmp_path / "out")
    assert ran.code == 2
    assert "without replies" in ran.err


@pytest.mark.model
@pytest.mark.long
def test_the_replies_of_the_project_are_mined_where_none_are_given(tmp_path):
    ran = manage("umwp_templates", "--output", tmp_path / "out")
    assert ran.code == 0, ran.err
    found = summary(tmp_path)
    # As the threshold was told: see RECORDED.
    assert found["kept_before"]["f1"] == pytest.approx(0.838, abs=2e-3)
    assert found["counts"]["kept"] == {"unanswerable": 87, "answerable": 83}
