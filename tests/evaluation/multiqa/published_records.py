"""Records of benchmarks in the shapes in which they are published, with questions of our own."""

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
