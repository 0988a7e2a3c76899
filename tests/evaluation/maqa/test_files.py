"""`manage.py evaluate maqa`: what it writes, by hand, and what it leaves out or refuses."""

import csv
import io
import json
from math import log

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from evaluation.core.messages.reasons import describe_reason
from tests.evaluation.maqa.small_files import QUESTIONS, evaluate, excluded, metrics, rows, summary
from tests.problems import check_problem
from tests.sentences import terminal_sentence

SETS = ("precision", "recall", "f1", "exact_set")


def value(row):
    return float(row["value"]) if row["value"] else None


def test_scores_are_means_over_questions_of_means_over_their_replies(tmp_path):
    replies = [
        # The second spelling repeats: 2 of 2, 2 of 2, exact. The second reply: 1, 1/2, 2/3.
        {"item": 0, "reply": "Bob Dylan, Michael Nesmith, Mike Nesmith"},
        {"item": 0, "sample": 1, "reply": "bob dylan."},
        {"item": "1", "reply": "[5, 2, 3]"},  # 1, 1, 1 and exact
        {"item": "letter", "answers": ["B", "A"]},  # 1/2, 1, 2/3
        {"item": 3, "status": "Refused"},  # 0, 0, 0
    ]
    ran = evaluate(tmp_path, replies)
    assert ran.code == 0, ran.err
    found = metrics(tmp_path)
    expected = (
        (1 + 1 + 1 / 2 + 0) / 4,
        ((1 + 1 / 2) / 2 + 1 + 1 + 0) / 4,
        ((1 + 2 / 3) / 2 + 1 + 2 / 3 + 0) / 4,
        ((1 + 0) / 2 + 1 + 0 + 0) / 4,
    )
    assert [value(found[name]) for name in SETS] == pytest.approx(expected)
    assert {found[name]["n"] for name in SETS} == {"4"}
    single, several = (
        metrics(tmp_path, f"kind:{name}") for name in ("single_answer", "several_answers")
    )
    assert (single["precision"]["n"], several["precision"]["n"]) == ("1", "3")
    assert value(single["precision"]) == 0.5
    assert value(metrics(tmp_path, "dataset:mathematics")["f1"]) == 1
    items = {row["item"]: row for row in rows(tmp_path, "items.csv")}
    assert float(items["0"]["precision"]) == 1
    counts = ("replies", "answers", "gold_answers")
    assert [items["0"][name] for name in counts] == ["2", "3", "2"]
    # The two replies to question 0 give two sets.
    assert items["0"]["consistency"] == "0.0"


@pytest.mark.medium
def test_a_second_spelling_of_a_matched_answer_is_a_repetition(tmp_path):
    # Both spellings are one right answer. Two answers count, one of them right:
    # precision 1/2, not 1/3; recall 1/2. Without the wrong answer the set is exact.
    replies = [
        {"item": 0, "answers": ["Michael Nesmith", "Elvis", "Mike Nesmith"]},
        {"item": 0, "sample": 1, "answers": ["Michael Nesmith", "Bob Dylan", "mike nesmith"]},
    ]
    assert evaluate(tmp_path, replies, "--bootstrap", 0).code == 0
    row = next(row for row in rows(tmp_path, "items.csv") if row["item"] == "0")
    assert [float(row[name]) for name in SETS] == pytest.approx(
        [(1 / 2 + 1) / 2, (1 / 2 + 1) / 2, (1 / 2 + 1) / 2, (0 + 1) / 2]
    )
    assert row["answers"] == "4"


def test_the_first_token_of_a_second_spelling_is_that_of_a_repetition(tmp_path):
    tokens = [
        {"answer": answer, "logits": [2.0, 1.0, 0.0]}
        for answer in ("Mike Nesmith", "Michael Nesmith")
    ]
    replies = [{"item": 0, "answers": ["Mike Nesmith", "Michael Nesmith"], "first_token": tokens}]
    assert evaluate(tmp_path, replies, "--bootstrap", 0).code == 0
    assert excluded(tmp_path)["first_token_repeated"] == 1


def test_the_rules_of_the_paper_neither_count_once_nor_pair(tmp_path):
    # Both spellings are right: precision 3/3. "2", "2.0" are two right ones; 1,250 is no number.
    replies = [
        {"item": 0, "reply": "Bob Dylan, Michael Nesmith, Mike Nesmith"},
        {"item": 1, "answers": ["2", "2.0", "The 3"]},
    ]
    assert evaluate(tmp_path, replies, "--rules", "paper").code == 0
    items = rows(tmp_path, "items.csv")
    assert [float(items[0][name]) for name in SETS] == [1, 1, 1, 1]
    assert [float(items[1][name]) for name in SETS] == pytest.approx([2 / 3, 1 / 3, 4 / 9, 0])
    assert evaluate(tmp_path, replies).code == 0
    # Each answer once: 2 and "The 3", which is no number, so one of two and one of three.
    assert [float(rows(tmp_path, "items.csv")[1][name]) for name in SETS[:2]] == pytest.approx(
        [1 / 2, 1 / 3]
    )


@pytest.mark.parametrize("sure", ["1", 1, 1.0, "100%"])
def test_a_confidence_of_1_among_shares_is_full_confidence(tmp_path, sure):
    # Sure of what is right and not of what is wrong: each right one is above each wrong one.
    questions = [{"question": "?", "answer": ["a"]} for _ in range(4)]
    said = [("a", sure), ("a", 0.9), ("b", 0.2), ("b", 0.1)]
    replies = [
        {"item": item, "answers": [answer], "confidence": confidence}
        for item, (answer, confidence) in enumerate(said)
    ]
    assert evaluate(tmp_path, replies, "--bootstrap", 0, questions=questions).code == 0
    assert value(metrics(tmp_path)["auroc_verbalised"]) == 1


def test_shares_are_told_by_all_replies_of_a_system(tmp_path):
    # 0.9 beside 40 is nine tenths of one hundredth, and the least sure of all.
    questions = [{"question": "?", "answer": ["a"]} for _ in range(3)]
    said = [("a", 40), ("a", 30), ("b", 0.9)]
    replies = [
        {"item": item, "answers": [answer], "confidence": confidence}
        for item, (answer, confidence) in enumerate(said)
    ]
    assert evaluate(tmp_path, replies, "--bootstrap", 0, questions=questions).code == 0
    assert value(metrics(tmp_path)["auroc_verbalised"]) == 1


def test_right_and_sure_are_compared_as_scikit_learn_does(tmp_path):
    rng = np.random.default_rng(5)
    questions, replies, right, logits, confidences, precise = [], [], [], [], [], []
    for item in range(40):
        questions.append({"question": "?", "answer": ["w0", "w1", "w2", "w3"]})
        answers = [f"w{k}" for k in rng.permutation(8)[:3]]
        numbers = rng.integers(-2, 3, (3, 6)).astype(float)
        confidence = int(rng.integers(0, 6)) * 20
        replies.append(
            {
                "item": item,
                "answers": answers,
                "confidence": confidence,
                "first_token": [
                    {"answer": answer, "logits": list(row)}
                    for answer, row in zip(answers, numbers, strict=True)
                ],
            }
        )
        good = [int(answer[1:]) < 4 for answer in answers]
        right += good
        logits.append(numbers)
        confidences.append(confidence)
        precise.append(sum(good) / 3 > 0.5)
    assert evaluate(tmp_path, replies, "--bootstrap", 20, questions=questions).code == 0
    found = metrics(tmp_path)
    p = np.exp(np.vstack(logits))
    p /= p.sum(axis=1, keepdims=True)
    ordered = np.sort(p, axis=1)
    measures = {
        "max_softmax": (right, ordered[:, -1]),
        "entropy": (right, (p * np.log(p)).sum(axis=1)),
        "margin": (right, ordered[:, -1] - ordered[:, -2]),
        "verbalised": (precise, confidences),
    }
    for name, (labels, sure) in measures.items():
        sure = np.round(sure, 12)  # ties that the computer's last digit would break
        assert value(found[f"auroc_{name}"]) == pytest.approx(roc_auc_score(labels, sure), abs=2e-3)
        average = average_precision_score(labels, sure)
        assert value(found[f"average_precision_{name}"]) == pytest.approx(average, abs=5e-3)
        assert value(found[f"coverage_{name}"]) == 1
        assert value(found[f"base_rate_{name}"]) == pytest.approx(np.mean(labels))
        assert found[f"auroc_{name}"]["n"] == str(len(labels))
        assert float(found[f"auroc_{name}"]["low"]) < float(found[f"auroc_{name}"]["high"])
    assert (value(found["auroc_consistency"]), found["auroc_consistency"]["reason"]) == (
        None,
        "no_cases",
    )
    assert value(found["coverage_consistency"]) == 0


def test_consistency_is_compared_over_questions(tmp_path):
    replies = [
        {"item": 0, "sample": 0, "reply": "Bob Dylan; Mike Nesmith"},
        {"item": 0, "sample": 1, "reply": "Mike Nesmith; Bob Dylan"},  # the same, and right
        {"item": 1, "sample": 0, "reply": "[7, 11]"},
        {"item": 1, "sample": 1, "reply": "[7, 2]"},  # another, and wrong: precision 1/4
        {"item": "letter", "reply": "A"},  # once: no consistency
    ]
    assert evaluate(tmp_path, replies).code == 0
    found = metrics(tmp_path)
    assert (value(found["auroc_consistency"]), found["auroc_consistency"]["n"]) == (1, "2")
    assert value(found["coverage_consistency"]) == pytest.approx(2 / 3)
    assert evaluate(tmp_path, replies, "--similarity", "jaccard").code == 0
    assert [row["consistency"] for row in rows(tmp_path, "items.csv")][:2] == ["1.0", str(1 / 3)]


def test_semantic_entropy_is_over_questions_and_weighted_where_probabilities_are_there(tmp_path):
    replies = [
        # Three of the same and one other; probabilities .4, .4 (the same text), .2 and .2.
        {"item": 0, "sample": 0, "reply": '["Bob Dylan"]', "logprobs": [2 * log(0.4), 0.0]},
        {"item": 0, "sample": 1, "reply": '["Bob Dylan"]', "logprobs": [log(0.4)]},
        {"item": 0, "sample": 2, "reply": '["bob dylan"]',
         "logprobs": [{"token": "b", "logprob": log(0.2)}]},
        {"item": 0, "sample": 3, "reply": '["Elvis"]', "logprobs": [log(0.2)]},
        # The same twice, and wrong; one without probabilities.
        {"item": 1, "sample": 0, "reply": "[7, 11]", "logprobs": [-1]},
        {"item": 1, "sample": 1, "reply": "[11, 7]"},
        {"item": "letter", "reply": "A", "logprobs": [-1]},  # once: no entropy
    ]  # fmt: skip
    assert evaluate(tmp_path, replies).code == 0
    one, other, once = rows(tmp_path, "items.csv")[:3]
    shares = -(3 / 4 * log(3 / 4) + 1 / 4 * log(1 / 4))
    assert float(one["semantic_entropy"]) == pytest.approx(shares)
    # .4 once and .2 against .2: 3/4 and 1/4 again; with the same text twice it would be 5/6.
    assert float(one["semantic_entropy_weighted"]) == pytest.approx(shares)
    assert (one["meanings"], other["meanings"], once["meanings"]) == ("2", "1", "")
    assert (other["semantic_entropy"], other["semantic_entropy_weighted"]) == ("0.0", "")
    assert once["semantic_entropy"] == ""
    found = metrics(tmp_path)
    # Right (precision 3/4) with the greater entropy, wrong with the smaller one.
    assert (value(found["auroc_semantic_entropy"]), found["auroc_semantic_entropy"]["n"]) == (
        0,
        "2",
    )
    assert value(found["average_precision_semantic_entropy"]) == 0.5
    assert value(found["coverage_semantic_entropy"]) == pytest.approx(2 / 3)
    assert value(found["coverage_semantic_entropy_weighted"]) == pytest.approx(1 / 3)
    assert found["auroc_semantic_entropy_weighted"]["reason"] == "all_right"
    names = [row["metric"] for row in rows(tmp_path, "metrics.csv")]
    assert names.index("auroc_semantic_entropy") == names.index("coverage_consistency") + 1
    assert "|embedder:TfidfVectorizer(" in summary(tmp_path)["signature"]
    assert "|same_cosine:0.8|" in summary(tmp_path)["signature"]


def test_probabilities_of_a_reply_that_are_none_are_counted(tmp_path):
    replies = [
        {"item": 0, "sample": 0, "reply": "Bob Dylan", "logprobs": [-1, "x"]},
        {"item": 0, "sample": 1, "reply": "Bob Dylan", "logprobs": [-1, 0.3]},
        '{"item": 1, "sample": 0, "reply": "2", "logprobs": [NaN]}',
        {"item": 1, "sample": 1, "reply": "2", "logprobs": []},
    ]
    assert evaluate(tmp_path, replies).code == 0
    found = excluded(tmp_path)
    assert (found["logprobs_not_finite"], found["logprobs_above_1"]) == (2, 1)
    assert value(metrics(tmp_path)["coverage_semantic_entropy_weighted"]) == 0


def test_the_entropy_of_an_api_is_an_interval_and_its_lower_end_counts(tmp_path):
    tokens = [{"answer": 2, "top_logprobs": [log(0.6), log(0.3)], "vocabulary": 10},
              {"answer": 7, "top_logprobs": {"7": log(0.5), "8": log(0.1)}}]  # fmt: skip
    assert evaluate(tmp_path, [{"item": 1, "first_token": tokens}]).code == 0
    one, other = rows(tmp_path, "answers.csv")
    known = -(0.6 * log(0.6) + 0.3 * log(0.3) + 0.1 * log(0.1))
    assert float(one["entropy"]) == pytest.approx(known)
    assert float(one["entropy_high"]) == pytest.approx(known + 0.1 * log(8))
    assert (one["right"], other["right"], other["entropy_high"]) == ("true", "false", "")
    assert value(metrics(tmp_path)["auroc_entropy"]) == 1


def test_commas_inside_a_right_answer_do_not_divide_it_and_are_warned_of(tmp_path):
    replies = [
        {"system": "commas", "item": 3, "reply": "Shreveport, Louisiana, Atlanta, Texas"},
        {"system": "lines", "item": 3, "reply": "Atlanta, Texas\nShreveport, Louisiana"},
        {"system": "json", "item": 3, "reply": '["Atlanta, Texas", "Paris"]'},
    ]
    assert evaluate(tmp_path, replies).code == 0
    found = {row["system"]: row for row in rows(tmp_path, "items.csv") if row["item"] == "3"}
    assert [float(found[name]["f1"]) for name in ("commas", "lines", "json")] == [1, 1, 0.5]
    assert summary(tmp_path)["counts"]["divided_by_commas"] == 1
    assert summary(tmp_path)["warnings"][0] == terminal_sentence("divided_by_commas", count=1)


def test_an_and_inside_a_right_answer_does_not_divide_it(tmp_path):
    questions = [{"question": "?", "answer": ["Simon and Garfunkel", "The Byrds"]}]
    questions += [{"question": "?", "answer": ["Simon and Garfunkel"]}]
    replies = [
        {"system": "a", "item": 0, "reply": "The Byrds, Simon and Garfunkel"},
        {"system": "a", "item": 1, "reply": "It was Simon and Garfunkel."},
        {"system": "b", "item": 0, "reply": "Simon and Garfunkel and The Byrds"},
        {"system": "b", "item": 1, "reply": "Simon and Dylan"},
    ]
    assert evaluate(tmp_path, replies, questions=questions).code == 0
    found = [
        (row["item"], row["system"], row["answers"], row["f1"])
        for row in rows(tmp_path, "items.csv")
    ]
    assert found == [
        ("0", "a", "2", "1.0"),
        ("0", "b", "1", "0.0"),
        ("1", "a", "1", "1.0"),
        ("1", "b", "2", "0.0"),
    ]


def test_what_cannot_be_used_is_counted_and_the_rest_goes_on(tmp_path):
    questions = [*QUESTIONS, {"question": "Nothing?", "answer": []}]
    tokens = [
        {"answer": 2, "logits": [1, 0]},
        {"answer": 3, "top_logprobs": [0.4], "vocabulary": 5},
        {"answer": 5, "top_logprobs": [-1, -2], "vocabulary": 1},
        {"answer": 9, "logits": [1, 0]},
    ]
    replies = [
        {"item": 0, "reply": "Bob Dylan", "confidence": 340},
        {"item": 1, "answers": [2, 3, 5], "confidence": "high", "first_token": tokens},
        '{"item": "letter", "answers": ["A"], '
        '"first_token": [{"answer": "A", "logits": [NaN, 1]}]}',
        {"item": 99, "reply": "x"},
        {"item": 3, "status": "error"},
        {"item": 4, "reply": "x"},
    ]
    ran = evaluate(tmp_path, replies, questions=questions)
    assert ran.code == 0, ran.err
    assert excluded(tmp_path) == {
        "no_right_answer": 1,
        "reply_to_question_without_right_answer": 1,
        "confidence_out_of_range": 1,
        "confidence_unreadable": 1,
        "probability_above_1": 1,
        "vocabulary_too_small": 1,
        "first_token_without_answer": 1,
        "not_finite": 1,
        "unknown_item": 1,
        "error": 1,
    }
    found = metrics(tmp_path)
    assert (found["precision"]["n"], value(found["coverage_verbalised"])) == ("3", 0)
    # One of the five answers has a distribution.
    assert value(found["coverage_max_softmax"]) == pytest.approx(1 / 5)
    assert [row["reason"] for row in rows(tmp_path, "items.csv")] == [
        "",
        "",
        "",
        "error",
        "no_right_answer",
    ]
    assert summary(tmp_path)["complete"] is False


def test_a_question_that_a_system_was_not_asked_is_counted(tmp_path):
    replies = [{"system": "a", "item": i, "reply": "x"} for i in (0, 1, "letter", 3)]
    assert evaluate(tmp_path, [*replies, {"system": "b", "item": 0, "reply": "x"}]).code == 0
    assert excluded(tmp_path) == {"no_reply": 3}
    assert metrics(tmp_path, system="b")["f1"]["n"] == "1"
    assert [row["system"] for row in rows(tmp_path, "metrics.csv") if row["metric"] == "f1"][
        :2
    ] == ["a", "b"]


@pytest.mark.parametrize(
    ("replies", "questions", "code", "values"),
    [
        (
            [{"item": 0, "reply": "x"}, {"item": 0, "reply": "y"}],
            QUESTIONS,
            *("sample_differs", {"file": "replies.jsonl", "line": 2}),
        ),
        (
            [{"item": 0, "reply": "x"}],
            [{"question": "?"}],
            *("right_answers_missing", {"file": "questions.json", "line": 1, "column": "answer"}),
        ),
    ],
)
def test_a_bad_file_is_told_and_nothing_is_written(
    tmp_path, told_problems, replies, questions, code, values
):
    ran = evaluate(tmp_path, replies, questions=questions)
    assert ran.code == 2
    (problem,) = told_problems
    check_problem(problem, code, **values)
    assert str(problem) in ran.err
    assert not (tmp_path / "out").exists()


def test_the_same_line_twice_counts_once(tmp_path):
    reply = {"item": 0, "reply": "Bob Dylan"}
    assert evaluate(tmp_path, [reply, reply]).code == 0
    assert summary(tmp_path)["counts"]["repeated"] == 1
    assert rows(tmp_path, "items.csv")[0]["replies"] == "1"


def test_the_report_and_the_signature_say_how_it_was_made(tmp_path):
    ran = evaluate(tmp_path, [{"item": 1, "reply": "[2, 3]"}], "--seed", 4, "--bootstrap", 0)
    assert f"3: {describe_reason('no_reply')}" in ran.out
    assert summary(tmp_path)["signature"].startswith(
        "maqa|rules:fixed|similarity:exact|draws:0|seed:4|inputs:"
    )
    assert metrics(tmp_path)["f1"]["reason"] == "no_draws"


LABELLED = [
    {"item": 0, "reply": "Bob Dylan", "confidence": 90},  # precision 1, recall 1/2, F1 2/3
    {"item": 1, "reply": "[2, 3, 5, 7]", "confidence": 80},  # 3/4, 1, 6/7
    {"item": "letter", "reply": "A", "confidence": 70},  # 1, 1, 1
    {"item": 3, "reply": "Rome", "confidence": 60},  # 0, 0, 0
]


@pytest.mark.parametrize(
    ("options", "right"),
    [
        ((), 3 / 4),
        (("--label", "recall"), 2 / 4),
        (("--label", "recall", "--label-above", "0.4"), 3 / 4),
        (("--label", "f1", "--label-above", "0.7"), 2 / 4),
        (("--label-above", "1"), 2 / 4),  # precision is 1: items 0 and "letter"
        (("--label", "f1", "--label-above", "1.0"), 1 / 4),
        (("--label-above", "0.75"), 2 / 4),  # 3/4 is not above 3/4
    ],
)
def test_what_is_right_is_decided_by_a_score_and_a_threshold(tmp_path, options, right):
    assert evaluate(tmp_path, LABELLED, "--bootstrap", 0, *options).code == 0
    assert value(metrics(tmp_path)["base_rate_verbalised"]) == right
    signature = summary(tmp_path)["signature"]
    assert ("label:" in signature) is bool(options)


@pytest.mark.data
def test_the_published_questions_are_read_and_their_own_answers_are_exact(tmp_path, data_folder):
    for name in ("world_knowledge_nq_part.json", "mathematical_reasoning_part.json"):
        questions = json.loads((data_folder / "maqa" / name).read_text())
        replies = [
            {
                "system": form,
                "item": place,
                "reply": text(
                    [str(one[-1] if isinstance(one, list) else one) for one in entry["answer"]]
                ),
            }
            for place, entry in enumerate(questions)
            for form, text in {
                "json": json.dumps,
                "lines": lambda answers: "\n".join(f"- {one}" for one in answers),
                "commas": lambda answers: "The answers are: " + ", ".join(answers) + ".",
            }.items()
        ]
        assert evaluate(tmp_path, replies, "--bootstrap", 0, questions=questions).code == 0
        for form in ("json", "lines", "commas"):
            found = metrics(tmp_path, system=form)["exact_set"]
            assert (value(found), found["n"]) == (1, str(len(questions))), form


def test_tables_are_read_by_any_reader_of_csv(tmp_path):
    assert evaluate(tmp_path, [{"item": 0, "reply": 'He said "Bob, the 2nd", and "x"'}]).code == 0
    text = (tmp_path / "out" / "answers.csv").read_text()
    assert len(list(csv.reader(io.StringIO(text)))) == 3
