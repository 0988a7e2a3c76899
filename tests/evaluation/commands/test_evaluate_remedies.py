"""Remedies of `evaluate aqer`: what they write, and what they refuse with one clear line."""

import csv
import json
import sys

import numpy as np
import pytest

from evaluation.core.messages.reasons import describe_missing_choice
from evaluation.core.stats.simulation import build_correlated_weak_groups, simulate_crowd
from evaluation.grading.commands import NAMES
from tests.contracts.replay import facts_of
from tests.evaluation.commands.crowd import (
    WORKERS,
    assert_every_gap_has_its_reason,
    header_of,
    summary_of,
    table,
    write_csv,
)
from tests.evaluation.commands.running import evaluate
from tests.sentences import terminal_sentence

HEADER = ("worker", "question", "answer")


def run(crowd, output, *arguments):
    return evaluate(
        crowd.answers, "--embedder", f"precomputed:{crowd.vectors}", "--bootstrap=20",
        "--output", output, *arguments,
    )  # fmt: skip


def file_with(path, *lines):
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def in_camps(folder, seed=0, n_questions=12):
    """Half of twelve workers share an error: files of answers and vectors, and the quality."""
    found = simulate_crowd(build_correlated_weak_groups(0.8, n_workers=12), n_questions, 40, seed)
    rows = [
        (f"w{w}", f"q{q}", f"answer of {w} to {q}")
        for w, q in zip(found.workers.tolist(), found.questions.tolist(), strict=True)
    ]
    np.savez(folder / "camps.npz", answers=found.vectors)
    unit = found.vectors / np.linalg.norm(found.vectors, axis=1, keepdims=True)
    truth = found.truth / np.linalg.norm(found.truth, axis=1, keepdims=True)
    right = np.einsum("nd,nd->n", unit, truth[found.questions])
    grades = {(w, q): 5 * r for (w, q, _), r in zip(rows, right.tolist(), strict=True)}
    quality = {f"w{w}": q for w, q in enumerate(found.compute_quality().tolist())}
    return write_csv(folder / "camps.csv", HEADER, rows), folder / "camps.npz", grades, quality


def agreement(folder, quality):
    rows = [row for row in table(folder / "workers.csv") if row["grade"]]
    raw = [float(row["raw"]) for row in rows]
    return np.corrcoef(raw, [quality[row["worker"]] for row in rows])[0, 1]


@pytest.mark.parametrize("ending", ["txt", "csv"])
def test_excluded_workers_have_a_raw_score_and_nothing_else(crowd, output, tmp_path, ending):
    lines = ["Eli", "Cem"] if ending == "txt" else ["why,worker", "slow,Eli", "fast,Cem"]
    ran = run(crowd, output, "--exclude-workers", file_with(tmp_path / f"out.{ending}", *lines))
    assert (ran.code, ran.err) == (0, "")
    of = {row["worker"]: row for row in table(output / "workers.csv")}
    for worker in WORKERS:
        out = worker in ("Eli", "Cem")
        assert (of[worker]["grade"] == "") is out
        assert of[worker]["raw"] != ""
    assert of["Eli"]["rank"] == of["Cem"]["rank"] == ""
    assert_every_gap_has_its_reason(output)
    found = summary_of(output)
    assert found["remedies"]["excluded_workers"] == 2
    assert found["parameters"]["exclude_workers"] == lines[-2:] or ending == "csv"
    assert "exclude_workers(2-" in found["signature"]
    assert "exclude_workers" in found["input_hashes"]
    assert terminal_sentence("excluded_workers", count=2) in ran.out


def test_workers_are_excluded_by_ids_as_by_a_file_of_them(crowd, output, tmp_path):
    assert run(crowd, output, "--exclude-workers", 'Eli, "Cem"').code == 0
    found = summary_of(output)
    assert found["parameters"]["exclude_workers"] == ["Eli", "Cem"]
    listed = file_with(tmp_path / "out.txt", "Eli", "Cem")
    assert run(crowd, tmp_path / "by file", "--exclude-workers", listed).code == 0
    assert table(output / "workers.csv") == table(tmp_path / "by file" / "workers.csv")


def test_an_unknown_id_is_told_with_those_like_it(crowd, output):
    ran = run(crowd, output, "--exclude-workers", "eli,Nobody")
    assert ran.code == 2
    assert ran.refusals == ("eli,Nobody, listed_worker_unknown",)
    assert " eli (perhaps Eli) " in ran.err
    assert " Nobody in crowd.csv" in ran.err
    assert not output.exists()


def test_the_others_are_graded_as_in_a_file_without_the_excluded(crowd, output, tmp_path):
    run(crowd, output, "--exclude-workers", file_with(tmp_path / "out.txt", "Eli"))
    with crowd.answers.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    values = np.load(crowd.vectors)["answers"]
    kept = [at for at, row in enumerate(rows) if row[0] != "Eli"]
    answers = write_csv(tmp_path / "fewer.csv", HEADER, [rows[at] for at in kept])
    np.savez(tmp_path / "fewer.npz", answers=values[kept])
    evaluate(
        answers, "--embedder", f"precomputed:{tmp_path / 'fewer.npz'}", "--bootstrap=20",
        "--output", tmp_path / "fewer",
    )  # fmt: skip
    for name in ("workers.csv", "answers.csv", "exemplars.csv"):
        wanted = table(tmp_path / "fewer" / name)
        found = [row for row in table(output / name) if row.get("worker") != "Eli"]
        assert len(found) == len(wanted)
        for got, row in zip(found, wanted, strict=True):
            for column, value in row.items():
                if value and value[0] in "-0123456789":
                    assert float(got[column]) == pytest.approx(float(value), abs=1e-9)
                else:
                    assert got[column] == value


def test_every_remedy_is_compared_with_the_plain_run(crowd, output, tmp_path):
    ran = run(crowd, output, "--weight-cap=.25", "--unit-length")
    run(crowd, tmp_path / "plain")
    assert header_of(output / "remedies.csv") == [
        "worker", "plain_grade", "plain_rank", "grade", "rank", "change",
    ]  # fmt: skip
    for name, folder in (("plain_", tmp_path / "plain"), ("", output)):
        graded = {row["worker"]: row for row in table(folder / "workers.csv")}
        for row in table(output / "remedies.csv"):
            assert row[f"{name}grade"] == graded[row["worker"]]["grade"]
            assert row[f"{name}rank"] == graded[row["worker"]]["rank"]
    (told,) = [part for part in ran.out.split("\n\n") if NAMES["weight_cap"] in part]
    compared = summary_of(output)["remedies"]["compared_with_plain"]
    assert NAMES["unit_length"] in told
    assert facts_of(told).split()[:2] == [f"{compared['spearman']:.3f}", "5"]
    assert not (tmp_path / "plain" / "remedies.csv").exists()
    weights = [float(row["weight"]) for row in table(output / "workers.csv")]
    assert max(weights) == pytest.approx(0.25)
    assert summary_of(output)["remedies"]["compared_with_plain"]["n"] == 5
    assert "remedies:weight_cap(0.25)+unit_length" in summary_of(output)["signature"]
    assert "remedies:none" in summary_of(tmp_path / "plain")["signature"]


@pytest.mark.medium
def test_suggested_anchors_graded_by_an_expert_turn_an_inverted_ranking(
    output, tmp_path, rendered_messages
):
    answers, vectors, grades, quality = in_camps(tmp_path)
    base = (answers, "--embedder", f"precomputed:{vectors}", "--bootstrap=0", "--output")
    ran = evaluate(*base, output, "--suggest-anchors=6")
    assert (ran.code, ran.err) == (0, "")
    assert agreement(output, quality) < 0
    assert "several_rankings" in {message.code for message in rendered_messages}
    asked = table(output / "anchors.csv")
    assert len(asked) == 6
    assert list(asked[0]) == ["worker", "question", "answer", "grade"]
    assert {row["grade"] for row in asked} == {""}
    rows = [
        (row["worker"], row["question"], row["answer"], grades[row["worker"], row["question"]])
        for row in asked
    ]
    graded = write_csv(tmp_path / "graded.csv", (*HEADER, "grade"), rows)
    ran = evaluate(*base, tmp_path / "settled", "--anchors", graded)
    assert (ran.code, ran.err) == (0, "")
    assert agreement(tmp_path / "settled", quality) > 0.9
    found = summary_of(tmp_path / "settled")["remedies"]
    assert found["anchors"]["chosen"] != "default"
    correlations = [one["correlation_with_expert"] for one in found["candidates"]["found"]]
    assert len(correlations) > 1
    assert None not in correlations
    chosen = [one["name"] for one in found["candidates"]["found"]].index(found["anchors"]["chosen"])
    assert correlations[chosen] == max(correlations)


def test_new_suggestions_do_not_replace_what_an_expert_filled_in(output, tmp_path):
    answers, vectors, _, _ = in_camps(tmp_path)
    command = (
        answers, "--embedder", f"precomputed:{vectors}", "--bootstrap=0", "--suggest-anchors=6",
        "--output", output,
    )  # fmt: skip
    evaluate(*command)
    assert evaluate(*command).code == 0  # nobody graded yet
    anchors = output / "anchors.csv"
    filled = anchors.read_text("utf-8").rstrip() + "4\n"
    anchors.write_text(filled, "utf-8")
    refused = evaluate(*command)
    assert refused.code == 2
    assert refused.refusals == ("anchors.csv, grades_replaced",)
    assert anchors.read_text("utf-8") == filled


def test_equal_grades_keep_the_default_and_ask_for_more(output, tmp_path):
    answers, vectors, _, _ = in_camps(tmp_path)
    lines = ["worker,question,grade", "w0,q0,3", "w11,q1,3"]
    ran = evaluate(
        answers, "--embedder", f"precomputed:{vectors}", "--bootstrap=0", "--output", output,
        "--anchors", file_with(tmp_path / "equal.csv", *lines),
    )  # fmt: skip
    assert ran.code == 0
    assert describe_missing_choice("equal_grades") in " ".join(ran.out.split())
    assert summary_of(output)["remedies"]["anchors"] == {
        "graded": 2, "chosen": "default", "reason": "equal_grades",
    }  # fmt: skip


def test_without_camps_no_anchors_are_suggested_and_the_reason_is_told(crowd, output):
    ran = run(crowd, output, "--suggest-anchors=4")
    assert table(output / "anchors.csv") == []
    assert header_of(output / "anchors.csv")[-1] == "grade"
    suggested = summary_of(output)["remedies"]["suggested_anchors"]
    assert suggested == {"count": 0, "reason": "fewer_than_6_workers"}
    message = terminal_sentence("no_anchors_suggested", reason="fewer_than_6_workers")
    assert message in " ".join(ran.out.split())


def test_copies_are_collapsed_into_a_part_of_a_vote(output, tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.standard_normal((15, 30))
    rows, vectors = [], []
    for w in range(12):
        for q in range(15):
            # The last four paste what a poor worker wrote.
            if w < 9:
                vectors.append(truth[q] + (0.4 + 0.1 * w) * rng.standard_normal(30))
            else:
                vectors.append(vectors[8 * 15 + q])
            rows.append((f"w{w}", f"q{q}", f"pasted {q}" if w >= 8 else f"own {w} {q}"))
    answers = write_csv(tmp_path / "copies.csv", HEADER, rows)
    np.savez(tmp_path / "copies.npz", answers=np.array(vectors))
    ran = evaluate(
        answers, "--embedder", f"precomputed:{tmp_path / 'copies.npz'}", "--bootstrap=20",
        "--output", output, "--collapse-copies", "--group-vote=.5",
    )  # fmt: skip
    assert (ran.code, ran.err) == (0, "")
    groups = summary_of(output)["remedies"]["groups"]
    assert [group["workers"] for group in groups] == [["w8", "w9", "w10", "w11"]]
    assert groups[0]["collapsed"]
    of = {row["worker"]: row for row in table(output / "workers.csv")}
    assert len({of[w]["raw"] for w in groups[0]["workers"]}) == 1
    of_group = sum(float(of[w]["weight"]) for w in groups[0]["workers"])
    share = float(of["w0"]["weight"]) / float(of["w0"]["grade"])
    assert of_group == pytest.approx(0.5 * float(of["w8"]["grade"]) * share, abs=1e-9)
    assert sum(float(row["weight"]) for row in of.values()) == pytest.approx(1)
    assert_every_gap_has_its_reason(output)


def test_spelling_is_corrected_for_the_vectors_only(output, tmp_path):
    pytest.importorskip("spellchecker")
    rows = [
        (worker, f"q{q}", text)
        for worker, text in (
            ("a", "people recieve a package from the office"),
            ("b", "people receive a package from the office"),
            ("c", "nobody knows anything about bananas"),
        )
        for q in range(6)
    ]
    answers = write_csv(tmp_path / "typed.csv", HEADER, rows)
    fixed = ("--embedder=tfidf-word", "--bootstrap=0", "--output")
    # The wrong word stands in a third of the answers here, which makes it a term of the subject.
    evaluate(answers, *fixed, output, "--spelling")
    assert summary_of(output)["remedies"]["spelling"]["words"] == 0
    rows += [("d", f"q{q}", f"somebody {'aeiou'[q % 5]} wrote nonsense") for q in range(6)]
    rows[0] = ("a", "q0", "people recieve a pakage from the office")
    rows[1:6] = [("a", f"q{q}", "people receive a package from the office") for q in range(1, 6)]
    answers = write_csv(tmp_path / "typed.csv", HEADER, rows)
    ran = evaluate(answers, *fixed, output, "--spelling", "--overwrite")
    assert (ran.code, ran.err) == (0, "")
    found = summary_of(output)["remedies"]["spelling"]
    assert (found["language"], found["words"], found["texts"]) == ("en", 2, 1)
    of = {(row["worker"], row["question"]): row for row in table(output / "answers.csv")}
    assert of["a", "q0"]["score"] == of["b", "q0"]["score"]
    exemplars = {row["nearest_answer"] for row in table(output / "exemplars.csv")}
    assert any("recieve" in text for text in exemplars)


def test_spelling_without_its_library_names_it(output, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "spellchecker", None)
    answers = write_csv(tmp_path / "a.csv", HEADER, [("a", "q", "text")])
    ran = evaluate(answers, "--embedder=tfidf-word", "--output", output, "--spelling")
    assert ran.code == 2
    assert "pip install pyspellchecker" in ran.err
    assert not output.exists()


BAD_FILES = {
    "--exclude-workers": {
        "Ana\nZoe": "line 2, column worker: there is no worker Zoe in crowd.csv",
        "": "the file is empty",
        "Ana\nBen\nCem\nDora\nEli": "all workers are in it",
    },
    "--anchors": {
        "worker,question,grade\nZoe,q1,1": "line 2, column worker: there is no worker Zoe",
        "worker,question,grade\nAna,q77,1": "line 2, column question: there is no question q77",
        "worker,question,grade\nBen,q4,1": "Ben gave no answer to question q4",
    },
}


@pytest.mark.parametrize(
    ("option", "text"), [(option, text) for option, texts in BAD_FILES.items() for text in texts]
)
def test_a_bad_file_is_refused_with_line_and_reason(crowd, output, tmp_path, option, text):
    path = tmp_path / ("given.txt" if option == "--exclude-workers" else "given.csv")
    path.write_text(text, "utf-8")
    ran = run(crowd, output, option, path)
    assert ran.code == 2
    assert BAD_FILES[option][text] in ran.err
    assert ran.err.startswith("CommandError: given") or "given" in ran.err
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "refusals"),
    [
        (["--weight-cap=.1"], ("crowd.csv", "cap_too_low")),
        (["--weight-cap=0"], ("--weight-cap", "weight_cap, min_value")),
        (["--group-vote=.5"], ("group_vote, only_with",)),
        (["--suggest-anchors=1"], ("--suggest-anchors", "suggest_anchors, min_value")),
        (["--camps", "--suggest-anchors=4"], ("camps, camps_or_anchors",)),
        (["--spelling"], ("spelling, spelling_of_vectors",)),
        (
            ["--unit-length", "--aggregation=majority"],
            (", ".join(["unit_length", "unit_length_of_mean"]),),
        ),
        (
            ["--spelling=tlh"],
            (
                "--spelling",
                "spelling, invalid_choice",
            ),
        ),
    ],
)
def test_what_has_no_meaning_is_refused(crowd, output, arguments, refusals):
    ran = run(crowd, output, *arguments)
    assert (ran.code, ran.refusals) == (2, refusals)
    assert not output.exists()


def test_a_file_of_anchors_in_the_way_of_new_ones_is_not_replaced(crowd, output):
    output.mkdir()
    graded = file_with(output / "anchors.csv", "worker,question,grade", "Ana,q1,3", "Ben,q1,4")
    ran = run(crowd, output, "--anchors", graded, "--suggest-anchors=4")
    assert ran.code == 2
    assert ran.refusals == (f"{graded}, file_replaced",)
    assert json.dumps(table(graded)).count("Ana") == 1


@pytest.mark.parametrize("switch", ["leave-one-out", "difficulty", "discrimination"])
@pytest.mark.parametrize("remedy", ["exclude", "weight-cap=.4", "camps", "suggest-anchors=4"])
@pytest.mark.parametrize("rest", [["--similarity=euclidean", "--bootstrap-workers"], []])
def test_remedies_go_with_every_switch_and_with_models(
    crowd, output, tmp_path, switch, remedy, rest
):
    if remedy == "exclude":
        given = ["--exclude-workers", file_with(tmp_path / "out.txt", "Cem")]
    else:
        given = [f"--{remedy}"]
    ran = run(crowd, output, f"--{switch}", "--models", crowd.models, *given, *rest)
    assert (ran.code, ran.err) == (0, "")
    assert_every_gap_has_its_reason(output)
    assert any(row["score"] for row in table(output / "models.csv"))
