"""``manage.py evaluate multiqa``: files in, every number of the study out, and crooked files."""

import csv
import json
from math import log

import openpyxl
import pytest

from evaluation.core.messages.reasons import describe_reason
from tests.evaluation.commands.running import manage
from tests.evaluation.runs.run_types.texts import places_of

CITIES = '["Paris", "Rome", "Berlin", "Bonn"]'
ITEMS = [
    {
        "item": "q1",
        "kind": "choice",
        "dataset": "cities",
        "question": "Capital of France?",
        "choices": CITIES,
        "answers": '["Paris"]',
    },
    {
        "item": "q2",
        "kind": "choice",
        "dataset": "numbers",
        "question": "Which are prime?",
        "choices": '["2", "4", "5"]',
        "answers": '["2", "C"]',
    },
    {
        "item": "q3",
        "kind": "extractive",
        "dataset": "cities",
        "context": "The tower was built in 1889.",
        "question": "When was it built?",
        "answers": '["1889", "in 1889"]',
    },
]
REPLIES = [
    ("q1", 0, "Paris", ""),
    ("q1", 1, "(a)", ""),
    ("q1", 2, "B", ""),
    ("q2", 0, "A and C", ""),
    ("q2", 1, "A", ""),
    ("q2", 2, "", "refused_prompt"),
    ("q3", 0, "1889.", ""),
    ("q3", 1, "In 1889", "TEXT"),
    ("q3", 2, "", ""),
]
COLUMNS = ("item", "kind", "dataset", "context", "question", "choices", "answers", "matcher")


def write(path, rows, columns=COLUMNS):
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, columns, restval="")
        table.writeheader()
        table.writerows(rows)
    return path


def write_replies(path, rows, system=None):
    given = [
        {"item": item, "variant": variant, "reply": reply, "status": status}
        | ({"system": system} if system else {})
        for item, variant, reply, status in rows
    ]
    columns = ("item", "variant", "reply", "status")
    return write(path, given, ("system", *columns) if system else columns)


@pytest.fixture
def evaluate(tmp_path):
    """Write what is given, evaluate it, and return what came out."""

    def run(items=ITEMS, replies=REPLIES, *more):
        given = items if not isinstance(items, list) else write(tmp_path / "given.csv", items)
        said = replies
        if isinstance(replies, list):
            said = write_replies(tmp_path / "replies.csv", replies)
        out = ("--output", tmp_path / "out")
        return manage("evaluate", "multiqa", given, "--replies", said, *out, *more)

    return run


def metrics(folder, group="", system="model"):
    with (folder / "out" / "metrics.csv").open(newline="") as file:
        return {
            row["metric"]: row
            for row in csv.DictReader(file)
            if (row["group"], row["system"]) == (group, system)
        }


def value(folder, metric, group="", system="model"):
    cell = metrics(folder, group, system)[metric]["value"]
    return float(cell) if cell else None


def summary(folder):
    return json.loads((folder / "out" / "summary.json").read_text())


def exclusions(folder):
    return {one["reason"]: one["count"] for one in summary(folder)["exclusions"]}


def test_every_number_is_in_metrics_under_its_name(evaluate, tmp_path):
    assert evaluate().code == 0
    found = {name: value(tmp_path, name) for name in metrics(tmp_path)}
    # q1: right right wrong; q2: right wrong refused; q3: right right empty.
    assert found["accuracy"] == 1
    assert found["worst_case"] == 0
    assert found["best_case"] == 1
    assert found["plurality"] == 1  # q2's tie goes to the original, q3's to in 1889's first
    assert found["plurality_fractional"] == pytest.approx((1 + 1 / 2 + 1) / 3)
    assert found["tie_rate"] == pytest.approx(2 / 3)
    assert found["item_difficulty"] == pytest.approx((2 / 3 + 1 / 3 + 2 / 3) / 3)
    one_off = 1 + (2 / 3 * log(2 / 3) + 1 / 3 * log(1 / 3)) / log(4)
    halves = [1 - log(2) / log(3)] * 2
    assert found["certainty"] == pytest.approx((one_off + sum(halves)) / 3)
    # 1 - 4/3 (1 - 5/9), and twice 1 - 3/2 (1 - 1/2)
    assert found["m2_certainty"] == pytest.approx((11 / 27 + 1 / 4 + 1 / 4) / 3)
    # (P - 1/K) / (1 - 1/K) with P = 1/3, 0, 0
    assert found["free_marginal_kappa"] == pytest.approx((1 / 9 - 1 / 2 - 1 / 2) / 3)
    # Pooled: A 3 (q1 twice, q2 once), B 1, A+C 1, 1889 1, in 1889 1 of 7: Pe = 13/49; P 1/9
    assert found["fleiss_kappa"] == pytest.approx((1 / 9 - 13 / 49) / (1 - 13 / 49))
    # Wordings are right 1, 2/3, 0 of the time; totals 2, 1, 2: equal variances, 2/9.
    assert found["alpha"] == pytest.approx(0)
    # Questions 2/9 each, sums of the wordings 3, 2, 0: variance 14/9
    assert found["alpha_paper"] == pytest.approx(3 / 2 * (1 - (6 / 9) / (14 / 9)))
    assert found["refused_prompt_rate"] == pytest.approx(1 / 9)
    assert found["empty_rate"] == pytest.approx(1 / 9)
    assert found["refused_generation_rate"] == 0
    assert list(found)[:2] == ["alpha", "chance_alpha"]


def test_chance_stands_beside_it_over_the_items_with_choices(evaluate, tmp_path):
    evaluate()
    assert value(tmp_path, "chance_accuracy") == pytest.approx((1 / 4 + 1 / 3) / 2)
    # A reply to q2 was refused: guessers answer it twice. 2 of its 3 choices are right: 3 pairs.
    assert value(tmp_path, "chance_worst_case") == pytest.approx((4**-3 + 3**-2) / 2)
    assert value(tmp_path, "chance_m2_certainty") == pytest.approx((1 / 3 + 1 / 2) / 2)
    of_text = metrics(tmp_path, "kind:extractive")["chance_accuracy"]
    assert (of_text["value"], of_text["reason"]) == ("", "no_choices")


def test_groups_are_kinds_data_sets_and_items(evaluate, tmp_path):
    evaluate()
    with (tmp_path / "out" / "metrics.csv").open(newline="") as file:
        groups = list(dict.fromkeys(row["group"] for row in csv.DictReader(file)))
    kinds, sets = ["kind:choice", "kind:extractive"], ["dataset:cities", "dataset:numbers"]
    assert groups == ["", *kinds, *sets, "item:q1", "item:q2", "item:q3"]
    assert value(tmp_path, "item_difficulty", "dataset:numbers") == pytest.approx(1 / 3)
    assert value(tmp_path, "accuracy", "kind:choice") == 1
    assert value(tmp_path, "worst_case", "item:q1") == 0
    assert metrics(tmp_path, "item:q1")["accuracy"]["n"] == "3"
    single = metrics(tmp_path, "dataset:numbers")["accuracy"]
    assert (single["value"], single["low"], single["reason"]) == ("1.0", "", "fewer_than_2_items")


def test_items_has_a_row_for_each_item_and_system(evaluate, tmp_path):
    evaluate()
    with (tmp_path / "out" / "items.csv").open(newline="") as file:
        rows = {row["item"]: row for row in csv.DictReader(file)}
    assert rows["q2"]["matcher"] == "choice"
    assert (rows["q2"]["n_replies"], rows["q2"]["n_votes"], rows["q2"]["n_refused"]) == (
        "3",
        "2",
        "1",
    )
    assert (rows["q3"]["n_empty"], rows["q3"]["original_reply"]) == ("1", "1889.")
    assert rows["q1"]["modal_reply"] == "Paris"


def test_the_summary_says_how_the_numbers_were_made(evaluate, tmp_path):
    evaluate(ITEMS, REPLIES, "--seed", "3")
    found = summary(tmp_path)
    assert found["signature"].startswith("multiqa|embedder:none|")
    assert "|seed:3|" in found["signature"]
    assert found["counts"]["items"] == 3
    assert found["counts"]["replies"] == 9
    assert found["exclusions"] == []
    assert found["embedding"] is None


def test_the_same_seed_gives_the_same_files_and_another_other_intervals(evaluate, tmp_path):
    def written():
        return (tmp_path / "out" / "metrics.csv").read_bytes()

    items = [{**ITEMS[0], "item": f"i{n}"} for n in range(20)]
    replies = [(f"i{n}", v, "ABAABAAAB"[(n * v) % 9], "") for n in range(20) for v in range(3)]
    evaluate(items, replies)
    first = written()
    evaluate(items, replies)
    assert written() == first
    evaluate(items, replies, "--seed", "5")
    assert written() != first
    evaluate(items, replies, "--bootstrap", "0")
    assert metrics(tmp_path)["accuracy"]["reason"] == "no_draws"


def test_systems_are_compared_on_the_items_they_share(evaluate, tmp_path):
    # Six items on which a is right and b is wrong, one the other way round.
    items = [{**ITEMS[0], "item": f"i{n}"} for n in range(9)]
    rows = []
    for n in range(9):
        a, b = ("A", "B") if n < 6 else ("B", "A") if n == 6 else ("A", "A")
        rows += [
            {"system": "a", "item": f"i{n}", "variant": 0, "reply": a},
            {"system": "b", "item": f"i{n}", "variant": 0, "reply": b},
        ]
    replies = write(tmp_path / "two.csv", rows, ("system", "item", "variant", "reply"))
    evaluate(items, replies)
    pair = next(one for one in summary(tmp_path)["comparisons"] if one["metric"] == "accuracy")
    assert pair["difference"] == pytest.approx(5 / 9)
    # Exact McNemar of 6 against 1: 2 (1 + 7) / 2^7
    assert pair["p_value"] == pytest.approx(2 * 8 / 128)
    assert pair["test"] == "mcnemar-exact"
    assert value(tmp_path, "accuracy", system="b") == pytest.approx(3 / 9)


# --- what does not count is told, never counted as a zero without a word


def test_an_item_without_an_accepted_answer_is_left_out(evaluate, tmp_path):
    items = [*ITEMS, {"item": "no", "kind": "extractive", "answers": "[]"}]
    evaluate(items, [*REPLIES, ("no", 0, "1889", "")])
    assert exclusions(tmp_path) == {"no_accepted_answer": 1}
    assert metrics(tmp_path)["accuracy"]["n"] == "3"


def test_a_reply_to_an_unknown_item_is_counted_and_shown(evaluate, tmp_path):
    ran = evaluate(ITEMS, [*REPLIES, ("q9", 0, "x", "")])
    assert ran.code == 0
    (entry,) = summary(tmp_path)["exclusions"]
    assert (entry["reason"], entry["count"]) == ("unknown_item", 1)
    assert entry["named"] == [{"system": "model", "item": "q9", "line": 11}]
    assert "q9" in ran.out


def test_a_letter_out_of_range_is_wrong_and_listed(evaluate, tmp_path):
    ran = evaluate(ITEMS[:1], [("q1", 0, "E", ""), ("q1", 1, "Madrid", "")])
    assert value(tmp_path, "best_case") == 0
    listed = {one["reason"]: one for one in summary(tmp_path)["wrong_by_form"]}
    named = {"system": "model", "item": "q1", "variant": 0, "reply": "E"}
    assert listed["letter_out_of_range"]["named"] == [named]
    assert listed["no_choice"]["count"] == 1
    assert f"{describe_reason('letter_out_of_range')}: 1" in ran.out


def test_a_repeated_reply_counts_once(evaluate, tmp_path):
    evaluate(ITEMS, [*REPLIES, REPLIES[0]])
    assert exclusions(tmp_path) == {"repeated_reply": 1}
    assert metrics(tmp_path, "item:q1")["accuracy"]["n"] == "3"


def test_an_error_is_missing_and_not_wrong(evaluate, tmp_path):
    rows = [("q1", 0, "Paris", ""), ("q1", 1, "", "error"), ("q2", 0, "", "error")]
    evaluate(ITEMS, rows)
    assert value(tmp_path, "worst_case") == 1
    assert exclusions(tmp_path) == {
        "error": 2,
        "no_replies": 1,
        "no_reply_to_the_original": 1,
    }


def test_items_that_a_system_did_not_get_or_not_in_the_original_are_left_out(evaluate, tmp_path):
    evaluate(ITEMS, [("q1", 0, "Paris", ""), ("q2", 1, "A, C", "")])
    assert exclusions(tmp_path) == {"no_replies": 1, "no_reply_to_the_original": 1}
    assert metrics(tmp_path)["accuracy"]["n"] == "1"


def test_where_every_reply_was_refused_plurality_is_0_and_certainty_is_empty(evaluate, tmp_path):
    evaluate(ITEMS[:1], [("q1", 0, "", "REFUSED"), ("q1", 1, "", "refused_generation")])
    found = metrics(tmp_path)
    assert (found["plurality"]["value"], found["worst_case"]["value"]) == ("0.0", "0.0")
    for name in ("certainty", "m2_certainty", "free_marginal_kappa"):
        assert (found[name]["value"], found[name]["reason"]) == ("", "no_votes")
    assert found["accuracy_answered"]["reason"] == "no_text_to_the_original"
    assert found["refusal_rate"]["value"] == "1.0"


def test_a_bad_item_is_refused_with_line_and_column(evaluate, tmp_path):
    ran = evaluate([ITEMS[2], {**ITEMS[0], "kind": "essay"}])
    assert (ran.code, ran.refusals) == (2, ("given.csv, line 3, column kind, kind_unknown",))
    assert not (tmp_path / "out").exists()


def test_more_that_is_wrong_with_items(evaluate):
    for row, reason in (
        (
            {**ITEMS[0], "choices": '["a", "A "]', "answers": '["a"]'},
            "choices 1 and 2 are the same",
        ),
        ({**ITEMS[0], "answers": '["E"]'}, "'E' is none of the choices"),
        ({**ITEMS[2], "matcher": "choice"}, "the matcher choice is not for the kind extractive"),
    ):
        ran = evaluate([row])
        assert ran.code == 2
        assert reason in ran.err


def test_a_bad_reply_is_refused_with_line_and_column(evaluate, tmp_path):
    ran = evaluate(ITEMS, [REPLIES[0], ("q1", "one", "Paris", "")])
    assert ran.code == 2
    assert places_of(ran.err)[0] == ("replies.csv", 3, "variant")
    assert not (tmp_path / "out").exists()


def test_replies_to_other_items_only_are_refused(evaluate):
    ran = evaluate(ITEMS, [("x", 0, "Rome", "")])
    assert (ran.code, ran.refusals) == (2, ("replies.csv, column item, replies_to_others",))


def test_an_input_is_not_written_over(evaluate, tmp_path):
    (tmp_path / "out").mkdir()
    given = write(tmp_path / "out" / "items.csv", ITEMS)
    ran = evaluate(given)
    assert ran.code == 2
    assert ran.refusals == (f"{given}, file_replaced",)
    assert given.read_text().startswith("item,kind")


# --- formats and other columns


def test_every_format_says_the_same(evaluate, tmp_path):
    evaluate()
    expected = (tmp_path / "out" / "metrics.csv").read_text()
    lines = [
        {
            **row,
            **{name: json.loads(row[name]) for name in ("choices", "answers") if name in row},
        }
        for row in ITEMS
    ]
    jsonl = tmp_path / "given.jsonl"
    jsonl.write_text("".join(json.dumps(line) + "\n" for line in lines))
    said = tmp_path / "said.jsonl"
    said.write_text(
        "".join(
            json.dumps({"item": i, "variant": v, "reply": r, "status": s}) + "\n"
            for i, v, r, s in REPLIES
        )
    )
    tsv = tmp_path / "given.tsv"
    with tsv.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, restval="", delimiter="\t")
        table.writeheader()
        table.writerows(ITEMS)
    book = openpyxl.Workbook()
    book.active.append(("item", "variant", "reply", "status"))
    for row in REPLIES:
        book.active.append(row)
    book.save(tmp_path / "said.xlsx")
    for items, replies in ((jsonl, said), (tsv, REPLIES), (ITEMS, tmp_path / "said.xlsx")):
        ran = evaluate(items, replies)
        assert (ran.code, ran.err) == (0, "")
        assert (tmp_path / "out" / "metrics.csv").read_text() == expected


def test_columns_may_have_other_names(evaluate, tmp_path):
    rows = [{"id": row["item"], "type": row["kind"], "gold": row["answers"]} for row in ITEMS[2:]]
    given = write(tmp_path / "named.csv", rows, ("id", "type", "gold"))
    ran = evaluate(given, REPLIES[6:], "--columns", "item=id,kind=type,answers=gold")
    assert (ran.code, ran.err) == (0, "")
    assert value(tmp_path, "accuracy") == 1
    ran = evaluate(given, REPLIES[6:], "--columns", "item=id,type=kind")
    assert ran.code == 2
    assert "unknown column 'type'" in ran.err


# --- matchers


def test_letters_nearly_the_same_are_right_for_levenshtein_only(evaluate, tmp_path):
    item = {"item": "c", "kind": "extractive", "answers": '["colour"]'}
    replies = [("c", 0, "color", ""), ("c", 1, "cool", "")]
    evaluate([{**item, "matcher": "levenshtein"}], replies)
    # 2 x 5 / 11 = .91; cool: 2 x 3 / 10 = .6
    assert value(tmp_path, "accuracy") == 1
    assert value(tmp_path, "worst_case") == 0
    evaluate([item], replies)
    assert value(tmp_path, "best_case") == 0
    evaluate([{**item, "matcher": "levenshtein"}], replies, "--levenshtein", "0.6")
    assert value(tmp_path, "worst_case") == 1


FREE = [{"item": "f", "kind": "free", "answers": '["The sun is a star", "It is a star"]'}]
SAID = [
    ("f", 0, "It is a planet of ice", ""),
    ("f", 1, "the sun is a star!", ""),
    ("f", 2, "The sun is a star", ""),
    ("f", 3, "bananas are yellow", ""),
]


def test_free_text_is_judged_and_clustered_by_its_vectors(evaluate, tmp_path):
    ran = evaluate(FREE, SAID, "--embedder", "tfidf-word")
    assert (ran.code, ran.err) == (0, "")
    assert value(tmp_path, "item_difficulty") == 0.5
    assert value(tmp_path, "plurality") == 1
    # Three clusters of 2, 1, 1 among 4 replies, K = R = 4.
    expected = 1 + (0.5 * log(0.5) + 2 * 0.25 * log(0.25)) / log(4)
    assert value(tmp_path, "certainty") == pytest.approx(expected)
    assert "embedder:TfidfVectorizer" in summary(tmp_path)["signature"]
    # Nothing is alike enough any more, but equal texts are.
    evaluate(FREE, SAID, "--embedder", "tfidf-word", "--cosine", "1", "--cluster-cosine", "1")
    assert value(tmp_path, "best_case") == 0
    assert value(tmp_path, "certainty") == pytest.approx(expected)


def test_free_texts_with_other_numbers_are_other_answers(evaluate, tmp_path):
    item = [{"item": "y", "kind": "free", "answers": '["It was built in 1889 in Paris"]'}]
    said = [
        ("y", 0, "It was built in 1889 in Paris", ""),
        ("y", 1, "It was built in 1888 in Paris", ""),
    ]
    evaluate(item, said, "--embedder", "tfidf-char", "--cluster-cosine", "0.1")
    assert value(tmp_path, "certainty") == pytest.approx(0, abs=1e-12)


@pytest.mark.model
def test_free_text_goes_by_meaning_by_default(evaluate, tmp_path):
    said = [
        ("f", 0, "The sun is one of the stars", ""),
        ("f", 1, "Our sun is a star.", ""),
        ("f", 2, "Cheese is made of milk", ""),
    ]
    evaluate(FREE, said)
    assert value(tmp_path, "item_difficulty") == pytest.approx(2 / 3)
    assert summary(tmp_path)["embedding"]["model"] == "all-MiniLM-L6-v2"
    with (tmp_path / "out" / "items.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["modal_reply"].endswith(("stars", "star."))
    assert float(row["agreement"]) == pytest.approx(1 / 3)


def test_an_embedder_that_is_none_is_refused(evaluate):
    ran = evaluate(FREE, SAID, "--embedder", "word2vec")
    assert ran.code == 2
    assert "word2vec" in ran.err
    ran = evaluate(ITEMS, REPLIES, "--bootstrap", "1")
    assert ran.code == 2
