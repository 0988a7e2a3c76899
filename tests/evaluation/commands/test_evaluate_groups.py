"""``evaluate aqer`` of a crowd in groups that share no question."""

import csv
import json

from tests.evaluation.commands.running import manage

TEXTS = ("the moon pulls the water", "the far side is pulled less", "a small tide at half moon")


def written(tmp_path, *groups):
    """Write answers of groups of (workers, questions); each worker answers all of theirs."""
    path = tmp_path / "answers.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("worker", "question", "answer"))
        for workers, questions in groups:
            for n, worker in enumerate(workers.split()):
                for m, question in enumerate(questions.split()):
                    more = " ".join(f"{worker}{m}" for _ in range(n))
                    rows.writerow((worker, question, f"{TEXTS[m % 3]} {more}"))
    return path


def graded(tmp_path, *groups):
    out = tmp_path / "out"
    ran = manage(
        "evaluate",
        "aqer",
        *(written(tmp_path, *groups), "--output", out),
        *("--embedder", "tfidf-char", "--bootstrap", "20", "--no-facts"),
    )
    assert ran.code == 0, ran.err
    with (out / "workers.csv").open(newline="") as file:
        rows = {row["worker"]: row for row in csv.DictReader(file)}
    return rows, json.loads((out / "summary.json").read_text()), ran.out


def test_groups_without_a_common_question_have_ranks_of_their_own(tmp_path):
    rows, summary, shown = graded(
        tmp_path,
        ("a b c", "q1 q2 q3 q4 q5"),
        ("d e f g", "r1 r2 r3 r4 r5"),
        ("alone", "s1"),
    )
    assert list(rows["a"])[-7:-5] == ["group", "raw_leave_one_out"]
    assert [rows[one]["group"] for one in "abcdefg"] == ["2"] * 3 + ["1"] * 4
    assert sorted(rows[one]["rank"] for one in "abc") == ["1", "2", "3"]
    assert sorted(rows[one]["rank"] for one in "defg") == ["1", "2", "3", "4"]
    assert rows["alone"]["group"] == ""
    gaps = [one for one in summary["undefined"] if one["column"] == "group"]
    assert [(one["reason"], one["rows"]) for one in gaps] == [("no_shared_question", ["alone"])]
    assert "2 (their sizes: 4, 3)" in shown
    assert "support  group" in shown


def test_one_worker_who_answered_both_links_the_groups(tmp_path):
    rows, _, _ = graded(
        tmp_path,
        ("a b c", "q1 q2 q3 q4 q5"),
        ("d e f", "r1 r2 r3 r4 r5"),
        ("g", "q1 r1"),
    )
    assert "group" not in rows["a"]
    assert sorted(row["rank"] for row in rows.values()) == ["", "1", "2", "3", "4", "5", "6"]
