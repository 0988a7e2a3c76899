"""`manage.py evaluate umwp --people --labels`: people beside models and the classifier, by hand."""

import csv
import json

import pytest
from sklearn.metrics import cohen_kappa_score

from evaluation.umwp.run.people import PEOPLE as PEOPLE_SYSTEM
from evaluation.umwp.run.study import RATES
from tests.evaluation.commands.running import manage
from tests.evaluation.runs.run_types.texts import numbers_of, places_of
from tests.evaluation.umwp.test_files import (
    PROBLEMS,
    REPLIES,
    UNKNOWN,
    evaluate,
    excluded,
    metrics,
    problem,
    rows,
)
from tests.problems import check_problem

QUICK = ("--encoder", "tfidf-char", "--threshold", 0.9, "--bootstrap", 20)
# Ann notices 3 and misses 5; Ben notices 3, and takes 1 for unanswerable.
PEOPLE = [
    ("ann", 1, "460"),
    ("ann", 3, UNKNOWN),
    ("ann", 5, "7"),
    ("ben", 1, UNKNOWN),
    ("ben", 3, f"Hm. {UNKNOWN}"),
    ("ben", 2, ""),
]


def table(path, header, lines):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *lines])
    return path


def with_people(folder, people=PEOPLE, header=("worker", "question", "answer"), *more):
    path = table(folder / "people.csv", header, people)
    return evaluate(folder, REPLIES, PROBLEMS, *QUICK, "--people", path, *more)


def test_people_stand_beside_models_by_the_same_rules(tmp_path):
    ran = with_people(tmp_path)
    assert ran.code == 0, ran.err
    found = metrics(tmp_path, system="people")
    # Of five answers: 3 noticed twice, 5 missed once, 1 taken for it once and answered once.
    expected = {"precision": 2 / 3, "recall": 2 / 3, "f1": 4 / 6, "answer_accuracy": 1 / 2}
    assert {name: found[name][0] for name in expected} == pytest.approx(expected)
    # Both answered the pair of 3 and 1: Ann rightly throughout, Ben took 1 for unanswerable.
    assert found["pairs"][0] == pytest.approx(1 / 2)
    assert metrics(tmp_path, "form:direct", "people") == found
    assert metrics(tmp_path, "worker:ann", "people")["precision"][0] == 1
    assert metrics(tmp_path, "worker:ben", "people")["precision"][0] == pytest.approx(1 / 2)
    assert metrics(tmp_path, "category:2", "people")["recall"][0] == 0
    assert metrics(tmp_path, "source:GSM8K", "people")["recall"][0] == 0
    assert "people" in ran.out


def test_models_have_rows_of_the_problems_that_people_answered(tmp_path):
    assert with_people(tmp_path).code == 0
    found = metrics(tmp_path, "sample:people")
    # Of 1, 3 and 5: 1 answered, 3 noticed, 5 missed. Over all of the file recall is 2 of 3.
    assert (found["recall"][0], found["answer_accuracy"][0]) == (1 / 2, 1)
    assert metrics(tmp_path)["recall"][0] == pytest.approx(2 / 3)


def test_each_answer_of_a_person_is_told(tmp_path):
    assert with_people(tmp_path).code == 0
    found = {(row["worker"], row["item"]): row for row in rows(tmp_path, "people.csv")}
    assert len(found) == 5
    assert found["ben", "3"]["taken_as"] == "unanswerable"
    assert found["ann", "1"]["right"] == "true"
    # What a person left empty is no answer, and no reply that is taken for answerable.
    assert excluded(tmp_path)["not_answered_by_worker"] == 1
    counts = json.loads((tmp_path / "out" / "summary.json").read_text())["counts"]
    assert (counts["people"], counts["peoples_answers"]) == (2, 5)


def test_intervals_of_people_draw_whole_problems(tmp_path):
    # Thirty people say the same of two problems: with answers drawn the interval would be narrow.
    people = [(f"w{n}", item, text) for n in range(30) for item, text in ((3, UNKNOWN), (5, "7"))]
    assert with_people(tmp_path, people).code == 0
    found = next(
        row
        for row in rows(tmp_path, "metrics.csv")
        if (row["system"], row["group"], row["metric"]) == ("people", "", "recall")
    )
    assert (float(found["value"]), float(found["low"]), float(found["high"])) == (0.5, 0, 1)


def test_columns_of_people_may_be_called_otherwise_and_strangers_are_refused(tmp_path):
    header = ("who", "item", "said")
    named = ("--columns", "worker=who,question=item,answer=said")
    assert with_people(tmp_path, PEOPLE, header, *named).code == 0
    ran = with_people(tmp_path, [("ann", 99, "5")])
    assert ran.code == 2
    assert places_of(ran.err)[0] == ("people.csv", None, None)
    some = with_people(tmp_path, [*PEOPLE, ("ann", 99, "5")])
    assert some.code == 0
    assert excluded(tmp_path)["unknown_item"] == 1


def test_a_system_that_is_called_people_is_refused(tmp_path):
    path = table(tmp_path / "people.csv", ("worker", "question", "answer"), PEOPLE)
    replies = [{"system": "people", **reply} for reply in REPLIES]
    ran = evaluate(tmp_path, replies, PROBLEMS, *QUICK, "--people", path)
    assert ran.code == 2
    assert places_of(ran.err)[0] == ("replies.jsonl", None, None)
    assert f" {PEOPLE_SYSTEM}," in ran.err


LABELS = ("system", "id", "form", "annotator", "label")


def label(item, annotator, word, system="model", form="direct"):
    return system, item, form, annotator, word


# The classifier says yes of 3 and 4, no of 1, 2 and 5; 6 was refused.
GIVEN = [
    *(label(item, "ann", word) for item, word in zip((1, 2, 3, 4, 5, 6), "nnyyyy", strict=True)),
    *(label(item, "ben", word) for item, word in zip((1, 2, 3, 4, 5), "nnynn", strict=True)),
    *(label(item, "cy", word) for item, word in zip((1, 2, 3, 4, 5), "nnyc?", strict=True)),
]
WORDS = {"n": "no", "y": "Yes", "c": "cannot tell", "?": "cannot_tell"}


def with_labels(folder, given=None, header=LABELS, replies=REPLIES):
    lines = given or [(*one[:4], WORDS[one[4]]) for one in GIVEN]
    path = table(folder / "labels.csv", header, lines)
    return evaluate(folder, replies, PROBLEMS, *QUICK, "--labels", path)


def test_labels_of_people_are_compared_with_each_other_and_with_the_classifier(tmp_path):
    ran = with_labels(tmp_path)
    assert ran.code == 0, ran.err
    every = metrics(tmp_path, system="")
    # Pairs that agree: 1, 1, 1 (items 1 to 3), then 0 of 3 twice; item 6 has one label.
    # Of their 15 labels 5 are yes (3 + 1 + 1), 8 no (3 + 3 + 1 + 1) and 2 cannot tell.
    yes, no, cannot = 5 / 15, 8 / 15, 2 / 15
    chance = yes**2 + no**2 + cannot**2
    expected = (3 / 5 - chance) / (1 - chance)
    assert every["annotators_fleiss_kappa"][0] == pytest.approx(expected)
    both = metrics(tmp_path, "annotators:ann,ben", system="")["annotators_kappa"][0]
    assert both == pytest.approx(cohen_kappa_score([*"nnyyy"], [*"nnynn"]))
    # 4 and 5 have no majority and 6 no class: of 1, 2 and 3 all agree.
    assert every["classifier_agreement"][0] == 1
    assert every["classifier_kappa"][0] == pytest.approx(1)
    assert metrics(tmp_path, "form:direct")["classifier_agreement"][0] == 1
    of_ann = metrics(tmp_path, "annotator:ann", system="")["classifier_kappa"][0]
    assert of_ann == pytest.approx(cohen_kappa_score([*"nnyyy"], [*"nnyyn"]))
    left_out = excluded(tmp_path)
    assert (left_out["no_majority"], left_out["label_of_refused_reply"]) == (2, 1)


def test_labels_as_the_site_writes_them_are_read(tmp_path):
    header = ("system", "id", "form", "judge", "repeat", "label", "judged_at")
    lines = [(*one[:3], f"human:{one[3]}", 1, WORDS[one[4]], "2026-11-22") for one in GIVEN]
    assert with_labels(tmp_path, lines, header).code == 0
    annotators = metrics(tmp_path, "annotators:ann,ben", system="")
    assert annotators["annotators_kappa"][0] == pytest.approx(
        cohen_kappa_score([*"nnyyy"], [*"nnynn"])
    )


def test_each_labelled_reply_is_told(tmp_path):
    assert with_labels(tmp_path).code == 0
    found = {row["item"]: row for row in rows(tmp_path, "labels.csv")}
    told = ("yes", "no", "cannot_tell", "majority", "taken_as", "agrees", "reason")
    assert [found["3"][name] for name in told] == ["3", "0", "0", "yes", "unanswerable", "true", ""]
    assert [found["4"][name] for name in told] == [
        "1", "1", "1", "", "unanswerable", "", "no_majority",
    ]  # fmt: skip
    counts = json.loads((tmp_path / "out" / "summary.json").read_text())["counts"]
    assert (counts["labels"], counts["annotators"]) == (16, 3)


def test_labelled_replies_stand_for_all_of_their_class(tmp_path):
    # Both replies that are taken for unanswerable are labelled, of the three others one, wrongly.
    given = [label(3, "ann", "yes"), label(4, "ann", "yes"), label(1, "ann", "yes")]
    assert with_labels(tmp_path, given).code == 0
    found = metrics(tmp_path, system="")
    assert found["classifier_precision"][0] == 1
    assert found["classifier_recall"][0] == pytest.approx(2 / (2 + 3))
    assert found["annotators_fleiss_kappa"] == (None, "fewer_than_2_annotators")


def test_unrelated_content_is_weighted_to_all_replies(tmp_path):
    # Taken for unanswerable: 3 and 4, of which 3 is labelled; for answerable: 1, 2 and 5, of which
    # 1 and 2 are. So 3 stands for 2 replies, 1 and 2 for 3/2 each.
    given = [label(3, "ann", "yes"), label(1, "ann", "no"), label(2, "ann", "yes")]
    given += [label(3, "ben", "yes"), label(6, "ben", "yes")]
    path = table(tmp_path / "unrelated.csv", LABELS, given)
    ran = evaluate(tmp_path, REPLIES, PROBLEMS, *QUICK, "--unrelated", path)
    assert ran.code == 0, ran.err
    found = {(row["system"], row["metric"]): row for row in rows(tmp_path, "unrelated_content.csv")}
    share = found["", "unrelated_content"]
    assert float(share["value"]) == pytest.approx((2 + 3 / 2) / 5)
    assert float(share["low"]) <= float(share["value"]) <= float(share["high"])
    assert share["n"] == "3"
    assert found["model", "unrelated_content"]["value"] == share["value"]
    # Ann and Ben agree on 3, the only reply that both labelled.
    assert found["", "annotators_kappa"]["reason"] == "one_label_throughout"
    assert excluded(tmp_path)["label_of_refused_reply"] == 1
    counts = json.loads((tmp_path / "out" / "summary.json").read_text())["counts"]
    assert (counts["unrelated"], counts["annotators_unrelated"]) == (5, 2)
    assert "classifier_kappa" not in metrics(tmp_path, system="")


def test_a_bad_label_is_told_with_its_line(tmp_path, told_problems):
    ran = with_labels(tmp_path, [label(2, "ann", "no"), label(2, "ann", "yes")])
    assert (ran.code, (tmp_path / "out").exists()) == (2, False)
    (told,) = told_problems
    check_problem(told, "reply_labelled_otherwise", file="labels.csv", line=3, column="annotator")
    assert str(told) in ran.err


def test_a_sample_keeps_pairs_together_and_the_shares_of_categories(tmp_path):
    problems = [
        *(problem(n, [1.0], source="ab"[n % 2]) for n in range(60)),
        *(
            problem(100 + n, category=1 + (n >= 40), relevant=[n], source="ab"[n % 2])
            for n in range(60)
        ),
    ]
    path = tmp_path / "problems.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in problems))

    def draw(seed, name="sample.jsonl"):
        output = tmp_path / name
        arguments = (path, "--size", 30, "--seed", seed, "--output", output)
        ran = manage("sample_problems", *arguments)
        assert ran.code == 0, ran.err
        return [json.loads(line) for line in output.read_text().splitlines()], ran.out

    drawn, said = draw(1)
    ids = {one["id"] for one in drawn}
    unanswerable = [one for one in drawn if not one["answerable"]]
    assert len(drawn) == 30
    assert all(one["relevant_ids"][0] in ids for one in unanswerable)
    categories = [one["category"] for one in unanswerable]
    assert (categories.count(1), categories.count(2)) == (10, 5)
    # 30 of 120 problems, 15 with an answer; by category 1: 10, 2: 5.
    assert numbers_of(said)[:7] == [30, 120, 15, 1, 10, 2, 5]
    # What it writes is what it reads: whole problems, in the order of the file.
    assert drawn == [one for one in problems if one["id"] in ids]
    assert draw(1, "again.jsonl")[0] == drawn != draw(2)[0]


def test_a_sample_does_not_replace_what_it_is_drawn_from(tmp_path):
    path = tmp_path / "problems.jsonl"
    path.write_text(json.dumps(problem(1, [1.0])) + "\n")
    ran = manage("sample_problems", path, "--size", 1, "--output", path)
    assert ran.code == 2
    assert "would replace" in ran.err


@pytest.mark.data
def test_a_sample_of_the_published_problems_has_their_shares(tmp_path, data_folder):
    path = data_folder / "umwp" / "StandardDataset.odd_ids.jsonl"
    output = tmp_path / "sample.jsonl"
    assert manage("sample_problems", path, "--size", 200, "--output", output).code == 0
    drawn = [json.loads(line) for line in output.read_text().splitlines()]
    categories = [one["category"] for one in drawn if not one["answerable"]]
    # 427, 635, 137, 50 and 51 of 1,300.
    assert [categories.count(number) for number in range(1, 6)] == [33, 49, 10, 4, 4]


def test_without_the_options_nothing_more_is_written(tmp_path):
    assert evaluate(tmp_path).code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "ablation.csv", "comparisons.csv", "items.csv", "metrics.csv", "pairs.csv", "summary.json",
    ]  # fmt: skip
    assert {row["metric"] for row in rows(tmp_path, "metrics.csv")} >= set(RATES)


def test_decimal_ids_and_html_of_a_spreadsheet_are_read_as_in_evaluate_aqer(tmp_path):
    workers = {"ann": "7", "ben": "8"}
    plain = [(workers[worker], item, text) for worker, item, text in PEOPLE]
    # pandas writes a column of ids with an empty cell as decimals.
    decimal = [(f"{worker}.0", f"{item}.0", f"<p>{text}</p>") for worker, item, text in plain]
    assert with_people(tmp_path, plain).code == 0
    expected = rows(tmp_path, "people.csv"), metrics(tmp_path, system="people")
    ran = with_people(tmp_path, decimal)
    assert ran.code == 0, ran.err
    assert (rows(tmp_path, "people.csv"), metrics(tmp_path, system="people")) == expected
    # Two columns of ids and five answers with HTML: "<p></p>" is an empty answer.
    warnings = json.loads((tmp_path / "out" / "summary.json").read_text())["warnings"]
    assert sum("7.0" in text or "1.0" in text for text in warnings) == 2
    assert sum("HTML" in text for text in warnings) == 1


def test_kept_ids_of_people_match_no_problem_of_whole_numbers(tmp_path):
    decimal = [("7.0", f"{item}.0", text) for item, text in ((1, "460"), (3, UNKNOWN))]
    named = ("worker", "question", "answer")
    ran = with_people(tmp_path, decimal, named, "--keep-ids")
    assert ran.code == 2
    assert places_of(ran.err)[0] == ("people.csv", None, None)
    mixed = [*decimal, ("7", "1", "460"), ("7", "3", UNKNOWN)]
    assert with_people(tmp_path, mixed, named, "--keep-ids").code == 0
    assert excluded(tmp_path)["unknown_item"] == 2
    hashes = json.loads((tmp_path / "out" / "summary.json").read_text())["input_hashes"]
    assert "keep_ids" in hashes
