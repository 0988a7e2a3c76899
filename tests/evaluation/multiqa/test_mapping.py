"""Benchmarks in the shapes in which they are published, with questions of our own."""

import csv
import json

import pytest

from evaluation.multiqa.files.field_mapping import READY, load_mapping
from evaluation.multiqa.files.mapping import read_mapped
from tests.contracts.replay import facts_of
from tests.evaluation.commands.running import manage

SQUAD = {
    "version": "v2.0",
    "data": [
        {
            "title": "Kites",
            "paragraphs": [
                {
                    "context": "The red kite was made in 1921 of silk.",
                    "qas": [
                        {
                            "id": "56be",
                            "question": "What was it made of?",
                            "answers": [
                                {"text": "silk", "answer_start": 34},
                                {"text": "of silk", "answer_start": 31},
                            ],
                            "is_impossible": False,
                        },
                        {
                            "id": "5a7d",
                            "question": "Who made it?",
                            "answers": [],
                            "plausible_answers": [{"text": "silk", "answer_start": 34}],
                            "is_impossible": True,
                        },
                    ],
                }
            ],
        }
    ],
}
SQUAD_ROWS = [
    {
        "id": "56be",
        "title": "Kites",
        "context": "The red kite was made in 1921 of silk.",
        "question": "What was it made of?",
        "answers": {"text": ["silk", "of silk"], "answer_start": [34, 31]},
    },
    {
        "id": "5a7d",
        "title": "Kites",
        "context": "The red kite was made in 1921 of silk.",
        "question": "Who made it?",
        "answers": {"text": [], "answer_start": []},
    },
]
ARC = [
    {
        "id": "K_1",
        "question": {
            "stem": "What pulls a kite?",
            "choices": [
                {"text": "wind", "label": "A"},
                {"text": "rain", "label": "B"},
                {"text": "light", "label": "C"},
            ],
        },
        "answerKey": "A",
    },
    {
        "id": "K_2",
        "question": {
            "stem": "What holds it?",
            "choices": [{"text": "air", "label": "1"}, {"text": "a line", "label": "2"}],
        },
        "answerKey": "2",
    },
]
ARC_ROWS = [
    {
        "id": one["id"],
        "question": one["question"]["stem"],
        "choices": {
            "text": [choice["text"] for choice in one["question"]["choices"]],
            "label": [choice["label"] for choice in one["question"]["choices"]],
        },
        "answerKey": one["answerKey"],
    }
    for one in ARC
]
TRUTHFUL_ROWS = [
    {
        "type": "Adversarial",
        "category": "Myths",
        "question": "Do kites bring luck?",
        "best_answer": "No, they do not",
        "correct_answers": ["No, they do not", "There is no evidence for it"],
        "incorrect_answers": ["Yes"],
        "source": "https://example.org",
    }
]
TRUTHFUL_CSV = [
    [
        "Type",
        "Category",
        "Question",
        "Best Answer",
        "Correct Answers",
        "Incorrect Answers",
        "Source",
    ],
    [
        "Adversarial",
        "Myths",
        "Do kites bring luck?",
        "No, they do not",
        "No, they do not; There is no evidence for it",
        "Yes; Always",
        "https://example.org",
    ],
]
TRUTHFUL_MC = [
    {
        "question": "Do kites bring luck?",
        "mc1_targets": {"choices": ["No", "Yes", "On Mondays"], "labels": [1, 0, 0]},
        "mc2_targets": {"choices": ["No", "Never", "Yes"], "labels": [1, 1, 0]},
    }
]
TRUTHFUL_MC_TASK = [
    {"question": "Do kites bring luck?", "mc1_targets": {"Yes": 0, "No": 1, "On Mondays": 0}}
]
MMLU_CSV = [
    ["What is a kite tied to?", "a cloud", "a line", "the sea", "a wheel", "B"],
    ["How many lines has it?", "0", "1", "2", "3", "B"],
]
MMLU_ROWS = [
    {
        "question": "What is a kite tied to?",
        "subject": "kites",
        "choices": ["a cloud", "a line", "the sea", "a wheel"],
        "answer": 1,
    },
    {"question": "How many lines?", "subject": "kites", "choices": ["0", "1", "2"], "answer": 1},
]
BOOLQ = [
    {
        "question": "is a kite a toy",
        "title": "Kite",
        "answer": True,
        "passage": "A kite may be a toy.",
    },
    {"question": "is a kite a fish", "title": "Kite", "answer": False, "passage": "It is none."},
]
SUPER_GLUE = [
    {"question": "is a kite a toy", "passage": "A kite may be a toy.", "idx": 7, "label": True},
    {"question": "is a kite a fish", "passage": "It is none.", "idx": 8, "label": False},
]
TRIVIA = {
    "Data": [
        {
            "Answer": {
                "Aliases": ["The Red Baron", "Red Baron"],
                "MatchedWikiEntityName": "The Red Baron",
                "NormalizedAliases": ["red baron"],
                "NormalizedValue": "red baron",
                "Type": "WikipediaEntity",
                "Value": "The Red Baron",
            },
            "EntityPages": [{"DocSource": "TagMe", "Filename": "Kite.txt", "Title": "Kite"}],
            "Question": "Which kite won in 1921?",
            "QuestionId": "tc_1",
            "QuestionSource": "http://example.org",
            "SearchResults": [],
        }
    ],
    "Domain": "Web",
    "Split": "verified-dev",
    "VerifiedEval": True,
    "Version": 1.0,
}
TRIVIA_ROWS = [
    {
        "question": "Which kite won in 1921?",
        "question_id": "tc_1",
        "answer": {
            "aliases": ["The Red Baron", "Red Baron"],
            "normalized_aliases": ["red baron"],
            "value": "The Red Baron",
        },
    }
]
MEDQA = [
    {
        "question": "A boy is hit by a kite. What is next?",
        "answer": "Look at it",
        "options": {"A": "Fly it", "B": "Look at it", "C": "Wait", "D": "Run", "E": "Sleep"},
        "meta_info": "step1",
        "answer_idx": "B",
    }
]

WIKIQA = """QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel
Q1\thow do kites fly?\tD1\tKite\tD1-0\t"Kite" is a short word.\t0
Q1\thow do kites fly?\tD1\tKite\tD1-1\t"The wind lifts it," says the book .\t1
Q1\thow do kites fly?\tD1\tKite\tD1-2\tMoving air gives lift .\t1
Q2\twho made it?\tD2\tKite\tD2-0\tNobody knows .\t0
Q2\twho made it?\tD2\tKite\tD2-1\tIt is old .\t0
"""
WIKIQA_ROWS = [
    {
        "question_id": "Q1",
        "question": "how do kites fly?",
        "document_title": "Kite",
        "answer": answer,
        "label": label,
    }
    for answer, label in (("It is a word.", 0), ("The wind lifts it.", 1))
]
MATHQA = [
    {
        "Problem": "a kite costs 19 and another twice that . what do both cost ?",
        "Rationale": "19 + 38 = 57 answer b",
        "options": options,
        "correct": "b",
        "annotated_formula": "add(19, multiply(19, const_2))",
        "linear_formula": "multiply(n0,const_2)|add(n0,#0)|",
        "category": "general",
    }
    for options in (
        "a ) 38 , b ) 57 , c ) 27.675 , d ) 1,200 , e ) none of these",
        "a ) rs . 38 , or less , b ) 57 , 0 , c ) ( 1 , 2 )",
        "['a ) 38', 'b ) 57', 'c ) 76']",
    )
]

SILK = (
    ("56be", "extractive", "What was it made of?", (), ("silk", "of silk")),
    ("5a7d", "extractive", "Who made it?", (), ()),
)
LUCK = ("1", "free", "Do kites bring luck?", (), ("No, they do not", "There is no evidence for it"))
ARCS = (
    ("K_1", "choice", "What pulls a kite?", ("wind", "rain", "light"), ("wind",)),
    ("K_2", "choice", "What holds it?", ("air", "a line"), ("a line",)),
)
TIED = ("a cloud", "a line", "the sea", "a wheel")
YES = ("yes", "no")
CASES = {
    ("squad2", "json"): (SQUAD, SILK),
    ("squad2", "jsonl"): (SQUAD_ROWS, SILK),
    ("squad2 ", "json"): (SQUAD_ROWS, SILK),
    ("arc", "jsonl"): (ARC, ARCS),
    ("arc ", "jsonl"): (ARC_ROWS, ARCS),
    ("truthfulqa", "jsonl"): (TRUTHFUL_ROWS, (LUCK,)),
    ("truthfulqa", "csv"): (TRUTHFUL_CSV, (LUCK,)),
    ("truthfulqa-mc", "jsonl"): (
        TRUTHFUL_MC,
        (("1", "choice", "Do kites bring luck?", ("No", "Yes", "On Mondays"), ("No",)),),
    ),
    ("truthfulqa-mc", "json"): (
        TRUTHFUL_MC_TASK,
        (("1", "choice", "Do kites bring luck?", ("Yes", "No", "On Mondays"), ("No",)),),
    ),
    ("mmlu", "csv"): (
        MMLU_CSV,
        (
            ("1", "choice", "What is a kite tied to?", TIED, ("a line",)),
            ("2", "choice", "How many lines has it?", ("0", "1", "2", "3"), ("1",)),
        ),
    ),
    ("mmlu", "jsonl"): (
        MMLU_ROWS,
        (
            ("1", "choice", "What is a kite tied to?", TIED, ("a line",)),
            ("2", "choice", "How many lines?", ("0", "1", "2"), ("1",)),
        ),
    ),
    ("boolq", "jsonl"): (
        BOOLQ,
        (
            ("1", "choice", "is a kite a toy", YES, ("yes",)),
            ("2", "choice", "is a kite a fish", YES, ("no",)),
        ),
    ),
    ("boolq ", "jsonl"): (
        SUPER_GLUE,
        (
            ("7", "choice", "is a kite a toy", YES, ("yes",)),
            ("8", "choice", "is a kite a fish", YES, ("no",)),
        ),
    ),
    ("triviaqa", "json"): (
        TRIVIA,
        (("tc_1", "free", "Which kite won in 1921?", (), ("The Red Baron", "Red Baron")),),
    ),
    ("triviaqa", "jsonl"): (
        TRIVIA_ROWS,
        (("tc_1", "free", "Which kite won in 1921?", (), ("The Red Baron", "Red Baron")),),
    ),
    ("wikiqa", "tsv"): (
        WIKIQA,
        (
            (
                *("Q1", "free", "how do kites fly?", ()),
                ('"The wind lifts it," says the book .', "Moving air gives lift ."),
            ),
            ("Q2", "free", "who made it?", (), ()),
        ),
    ),
    ("wikiqa", "jsonl"): (
        WIKIQA_ROWS,
        (("Q1", "free", "how do kites fly?", (), ("The wind lifts it.",)),),
    ),
    ("mathqa", "json"): (
        MATHQA,
        tuple(
            (str(number), "choice", MATHQA[0]["Problem"], choices, (choices[1],))
            for number, choices in enumerate(
                (
                    ("38", "57", "27.675", "1,200", "none of these"),
                    ("rs . 38 , or less", "57 , 0", "( 1 , 2 )"),
                    ("38", "57", "76"),
                ),
                1,
            )
        ),
    ),
    ("medqa", "jsonl"): (
        MEDQA,
        (
            (
                "1",
                "choice",
                "A boy is hit by a kite. What is next?",
                ("Fly it", "Look at it", "Wait", "Run", "Sleep"),
                ("Look at it",),
            ),
        ),
    ),
}


def written(folder, content, ending):
    path = folder / f"given.{ending}"
    if ending == "json":
        path.write_text(json.dumps(content))
    elif ending == "jsonl":
        path.write_text("".join(json.dumps(one) + "\n" for one in content))
    elif ending == "tsv":
        path.write_text(content)
    else:
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(content)
    return path


@pytest.mark.parametrize("case", CASES, ids=str)
def test_records_as_published_become_items(tmp_path, case):
    name, ending = case[0].strip(), case[1]
    content, expected = CASES[case]
    found = read_mapped(written(tmp_path, content, ending), load_mapping(name))
    assert [
        (one.item, one.kind, one.question, one.choices, one.answers) for one in found.items
    ] == list(expected)


def test_every_ready_mapping_is_tried():
    assert {name.strip() for name, _ in CASES} == set(READY)


def test_context_data_set_and_matcher_come_along(tmp_path):
    (kite, _) = read_mapped(written(tmp_path, SQUAD, "json"), load_mapping("squad2")).items
    assert kite.context == "The red kite was made in 1921 of silk."
    assert (kite.dataset, kite.matcher) == ("squad2", "exact")
    (first, _) = read_mapped(written(tmp_path, MMLU_ROWS, "jsonl"), load_mapping("mmlu")).items
    assert (first.dataset, first.matcher) == ("kites", "choice")
    (trivia,) = read_mapped(written(tmp_path, TRIVIA, "json"), load_mapping("triviaqa")).items
    assert trivia.matcher == "exact"


def test_rows_of_one_question_are_counted_as_one_item_and_no_row_as_repeated(tmp_path):
    found = read_mapped(written(tmp_path, WIKIQA, "tsv"), load_mapping("wikiqa"))
    assert (found.n_rows, len(found.items), found.n_repeated) == (5, 2, 0)
    other = WIKIQA + "Q1\tanother question\tD1\tKite\tD1-3\tYes .\t1\n"
    found = read_mapped(written(tmp_path, other, "tsv"), load_mapping("wikiqa"))
    assert len(found.items) == 2
    assert len(found.warnings) == 1


def test_replies_to_published_records_are_evaluated(tmp_path):
    given = written(tmp_path, SQUAD, "json")
    replies = tmp_path / "replies.csv"
    replies.write_text("item,variant,reply\n56be,0,Silk!\n5a7d,0,nobody\n")
    ran = manage(
        *("evaluate", "multiqa", given, "--mapping", "squad2", "--replies", replies),
        *("--output", tmp_path / "out"),
    )
    assert (ran.code, ran.err) == (0, "")
    with (tmp_path / "out" / "items.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["item"], row["accuracy"], row["dataset"]) == ("56be", "1.0", "squad2")
    found = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert found["exclusions"][0]["reason"] == "no_accepted_answer"


def test_records_are_converted_once_and_a_sample_drawn(tmp_path):
    given = written(tmp_path, SQUAD, "json")
    out = tmp_path / "items.jsonl"
    ran = manage("convert_items", given, "--mapping", "squad2", "--output", out)
    assert ran.code == 0
    assert facts_of(ran.out).split()[:2] == ["1", "1"]
    (line,) = out.read_text().splitlines()
    assert json.loads(line)["answers"] == ["silk", "of silk"]
    many = [{**BOOLQ[0], "question": f"is it {n}"} for n in range(30)]
    given = written(tmp_path, many, "jsonl")
    drawn = []
    for seed in ("0", "0", "1"):
        manage(
            *("convert_items", given, "--mapping", "boolq", "--output", out),
            *("--first", "20", "--sample", "5", "--seed", seed),
        )
        drawn.append([json.loads(line)["item"] for line in out.read_text().splitlines()])
    assert len(drawn[0]) == 5
    assert max(map(int, drawn[0])) <= 20
    assert drawn[0] == drawn[1] != drawn[2]
    replies = tmp_path / "replies.csv"
    replies.write_text("item,variant,reply\n" + "".join(f"{one},0,yes\n" for one in drawn[2]))
    ran = manage("evaluate", "multiqa", out, "--replies", replies, "--output", tmp_path / "out")
    assert (ran.code, ran.err) == (0, "")


OWN = {
    "kind": "choice",
    "records": "tests.*.tasks.*",
    "item": "no",
    "question": "asks",
    "context": "^.about",
    "dataset_from": "^^.school",
    "choices": "one,two,three",
    "answers": "key",
    "answers_are": "place",
}
SCHOOL = {
    "school": "north",
    "tests": [
        {
            "about": "kites",
            "tasks": [{"no": 1, "asks": "What?", "one": "x", "two": "y", "three": "z", "key": 2}],
        }
    ],
}


def test_a_mapping_of_ones_own_says_where_the_fields_are(tmp_path):
    mapping = tmp_path / "school.json"
    mapping.write_text(json.dumps(OWN))
    (one,) = read_mapped(written(tmp_path, SCHOOL, "json"), load_mapping(str(mapping))).items
    assert (one.item, one.question, one.context) == ("1", "What?", "kites")
    assert (one.choices, one.answers, one.dataset) == (("x", "y", "z"), ("z",), "north")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"kind": "essay"}, "kind, field_no_choice"),
        ({"colour": "red"}, "colour, field_unknown"),
        ({"question": 3}, "question, field_no_path"),
        ({"matcher": ["exact"]}, "matcher, field_no_text"),
        ({"answers_are": "runes"}, "answers_are, field_no_choice"),
    ],
)
def test_a_mapping_that_will_not_do_is_refused(tmp_path, change, fault):
    mapping = tmp_path / "school.json"
    mapping.write_text(json.dumps({**OWN, **change}))
    given = written(tmp_path, SCHOOL, "json")
    out = ("--output", tmp_path / "items.jsonl")
    ran = manage("convert_items", given, "--mapping", mapping, *out)
    assert (ran.code, ran.refusals) == (2, (f"school.json, column {fault}",))


@pytest.mark.parametrize(
    ("content", "mapping", "fault", "named"),
    [
        ([{**ARC[0], "answerKey": "F"}], "arc", "column answers, answer_not_among", " 'F' "),
        ([{**MMLU_ROWS[0], "answer": 7}], "mmlu", "column answers, answer_no_choice", " '7' "),
        (
            [{"question": "what", "options": {"A": "x", "B": "y"}}],
            "medqa",
            "column answers, answer_not_found",
            "(looked at answer_idx, answer)",
        ),
        (
            [{"answer": True}],
            "boolq",
            "column question, question_not_found",
            "(looked at question)",
        ),
        (
            [{"question": "q", "mc1_targets": {"choices": ["a", "b"], "labels": [1]}}],
            "truthfulqa-mc",
            "column answers, flags_uneven",
            "",
        ),
        (
            [{"question": "q", "answer": -1}],
            "boolq",
            "column answers, answer_neither",
            "'-1'",
        ),
        ([{"question": "q", "label": 2}], "boolq", "column answers, answer_neither", "'2'"),
        ([{"question": "q", "answer": "?"}], "boolq", "column answers, answer_neither", "'?'"),
        (
            [{"question": "q", "choices": ["a", "b"], "answer": -1}],
            "mmlu",
            "column answers, answer_not_among",
            "'-1'",
        ),
        (
            [{"question": "q", "mc1_targets": {"choices": ["a", "b"], "labels": [1, -1]}}],
            "truthfulqa-mc",
            "column answers, flag_neither",
            "'-1'",
        ),
        (
            [{"question": "q", "question_id": "Q1", "answer": "a", "label": "?"}],
            "wikiqa",
            "column answers, flag_neither",
            "'?'",
        ),
        (
            [{"Problem": "p", "options": "a ) 1 , b ) 2", "correct": "e"}],
            "mathqa",
            "column answers, answer_not_among",
            "'e'",
        ),
        (
            [{"question": "q", "options": [{"a": 1}, {"a": 2}], "answer_idx": "A"}],
            "medqa",
            "column choices, options_without_text",
            "",
        ),
    ],
)
def test_a_record_that_will_not_do_is_named(tmp_path, content, mapping, fault, named):
    given = written(tmp_path, content, "jsonl")
    ran = manage("convert_items", given, "--mapping", mapping, "--output", tmp_path / "items.jsonl")
    refusal = f"given.jsonl, line {len(content)}, {fault}"
    assert (ran.code, ran.refusals) == (2, (refusal,))
    assert f": record {len(content)}: " in ran.err
    assert named in ran.err
    assert not (tmp_path / "items.jsonl").exists()


def test_broken_files_and_unknown_mappings_are_refused(tmp_path):
    given = tmp_path / "given.json"
    given.write_text('{"data": [\n{"title": }')
    out = ("--output", tmp_path / "items.jsonl")
    ran = manage("convert_items", given, "--mapping", "squad2", *out)
    assert ran.code == 2
    assert ran.refusals == ("given.json, line 2, column 11, record_of_json",)
    given.write_text("{}")
    ran = manage("convert_items", given, "--mapping", "squad2", *out)
    assert ran.refusals == ("given.json, no_records",)
    assert "data.*.paragraphs.*.qas.*, *" in ran.err
    ran = manage("convert_items", given, "--mapping", "squad3", *out)
    assert ran.code == 2
    assert ran.refusals == ("squad3, mapping_unknown",)
    ran = manage("convert_items", tmp_path / "given.xlsx", "--mapping", "squad2", *out)
    assert ran.code == 2
