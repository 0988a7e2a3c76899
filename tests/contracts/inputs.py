"""Writes the files that replayed commands read: a part of the demo, vectors, files with faults."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORKERS = [
    "Amara",
    "Henrik",
    "Tomasz",
    "Bao",
    "Elif",
    "Jonas",
    "Ines",
    "Leo",
    "Pip",
    "Quinn",
    "Stan",
    "Tariq",
    "Uma",
    "Viktor",
]
QUESTIONS = [f"tides-{number}" for number in range(1, 9)]
# The column that tells an export of ours from other files.
MARK = "crowdgrade:answers"


def write_input(folder: Path, demo: Path) -> None:
    """A part of the demo with gaps and repeats, vectors, camps, and files with mistakes."""
    import numpy as np

    shutil.copytree(HERE / "input", folder)
    workers = WORKERS
    with (demo / "answers.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            [row["worker"], row["question"], row["answer"]]
            for row in csv.DictReader(file)
            if row["worker"] in workers and row["question"] in QUESTIONS
        ]
    rows = [row for at, row in enumerate(rows) if at % 17 != 5]
    rows.append(['Zoe; "the" late', "tides-1", "=1+1, says the Moon\nand the Sun"])
    header = ["worker", "question", "answer"]
    save_csv(folder / "crowd.csv", [header, *rows, rows[3]])
    save_csv(folder / "crowd.tsv", [["who", "item", "said"], *rows], "\t")
    with (demo / "model_answers.csv").open(encoding="utf-8", newline="") as file:
        said = [
            [row["model"], row["question"], row["answer"], row["status"]]
            for row in csv.DictReader(file)
            if row["question"] in QUESTIONS and row["model"].endswith("t=0")
        ]
    said[2][2:], said[9][2:] = ["", "error"], ["", "refused"]
    save_csv(folder / "models.csv", [["model", "question", "answer", "status"], *said])
    rng = np.random.default_rng(3)
    right = {question: rng.normal(size=6) for question in QUESTIONS}
    at = {worker: 0.3 + n / 8 for n, worker in enumerate(workers)}
    of_rows = [right[q] + at.get(w, 1) * rng.normal(size=6) for w, q, _ in rows]
    of_models = [right[row[1]] + rng.normal(size=6) for row in said]
    # Of the repeated row, in crowd.csv only, the first counts.
    np.savez(folder / "vectors.npz", answers=np.array([*of_rows, of_rows[3]]), models=of_models)
    (folder / "excluded.txt").write_text("Uma\nViktor\n", "utf-8")
    (folder / "strangers.txt").write_text("Nobody\n", "utf-8")
    save_csv(folder / "strange-anchors.csv", [[*header[:2], "grade"], ["Nobody", "tides-1", 3]])
    write_camps(folder, rng)
    write_several(folder)
    write_problems(folder)
    write_mistakes(folder, demo, header, rows)
    write_graded_answers(folder / "mohler2011", rng)
    write_rewordings(folder)
    write_prompts(folder)
    shutil.copytree(HERE / "evaluations", folder / "evaluations")


def write_prompts(folder: Path) -> None:
    """Prompts that mean the same (one file lacks a comma), replies to them, and judgements."""
    wordings = {
        "001": [("en", "What are the rules?"), ("en", "How is it played?"), ("sv", "Reglerna?")],
        "002": [("en", "Write to mum."), ("en", "Write to mother."), ("en", "Write to mom.")],
    }
    items = [
        {
            "id": name,
            "variation": "style",
            "variants": [{"language": one, "prompt": prompt} for one, prompt in variants],
        }
        for name, variants in wordings.items()
    ]
    test = {"source": "us", "year": "2024", "items": items}
    text = json.dumps({"eloquent-robustness-test": test}, indent=1)
    (folder / "prompts.json").write_text(text, "utf-8")
    (folder / "broken-prompts.json").write_text(text.replace("},\n", "}\n", 1), "utf-8")
    replies = [("system", "item", "language", "variant", "reply", "status")]
    replies += [("a", "001", "en", n, f"eleven a side {n}", "") for n in (0, 1)]
    replies += [("a", "002", "en", n, "dear mother come home", "") for n in (0, 1)]
    replies += [("a", "002", "en", 2, "", "refused"), ("a", "099", "en", 0, "who", "")]
    save_csv(folder / "prompt-replies.csv", replies)
    judged = [("item", "system", "language", "judge", "repeat", "score", "judge_reply")]
    judges = ("small", "large", "human")
    for at, item in enumerate(wordings):
        judged += [(item, "a", "en", judge, 1, at + len(judge) % 3, "") for judge in judges]
        judged.append((item, "a", "en", "small", 2, "", "They agree.\n**Similarity score: 4/5**"))
        judged.append((item, "b", "en", "small", 1, "", "Similarity score: 0-5"))
    save_csv(folder / "judgements.csv", judged)
    turns = [{"question": "Write to mum.", "answer": "dear mum"}]
    turns += [
        {"question": "Shorter?", "answer": "mum"},
        {"question": "Write to mom.", "answer": "x"},
    ]
    form = {"team": "t", "system": "b", "submissionid": "1", "language": "en", "date": "d"}
    form |= {"label": "l", "questions": [{"questionid": 2, "turns": turns}]}
    (folder / "submission.json").write_text(json.dumps(form), "utf-8")


def write_rewordings(folder: Path) -> None:
    """Items of every kind with replies to their wordings, and replies with mistakes."""
    choices = ["Paris", "Rome", "New York, USA"]
    items = [
        {"item": "c1", "kind": "choice", "dataset": "one", "choices": choices, "answers": ["A"]},
        {"item": "c2", "kind": "choice", "choices": choices, "answers": ["Rome", "C"]},
        {"item": "x1", "kind": "extractive", "dataset": "one", "answers": ["1,889"]},
        {"item": "x2", "kind": "extractive", "answers": ["colour"], "matcher": "levenshtein"},
        {"item": "f1", "kind": "free", "dataset": "two", "answers": ["The sun is a star"]},
        {"item": "n1", "kind": "extractive", "dataset": "two", "answers": []},
    ]
    lines = [json.dumps(item, ensure_ascii=False) for item in items]
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    said = {
        "c1": ["Paris", "(b)", "E", "The answer is A."],
        "c2": ["Rome, New York, USA", "BC", "B"],
        "x1": ["1889", "in 1889", "1889."],
        "x2": ["color", "cool", "COLOUR!"],
        "f1": ["the sun is a star!", "A star is the sun", "Cheese", "Cheese."],
        "n1": ["nothing"],
        "zz": ["to nothing"],
    }
    rows = [
        [system, item, variant, reply if system == "sage" or variant % 3 else "", status]
        for system in ("sage", "oracle")
        for item, replies in said.items()
        for variant, reply in enumerate(replies)
        for status in (["refused", "TEXT", ""][variant % 3] if system == "oracle" else "",)
    ]
    header = ["system", "item", "variant", "reply", "status"]
    save_csv(folder / "replies.csv", [header, *rows, rows[0]])
    crooked = [["", "c1", "0", "A", "lost"], ["", "", "-1", "B", ""], ["", "c1", "1", "B", "empty"]]
    save_csv(folder / "crooked-replies.csv", [header, *crooked])


def write_several(folder: Path) -> None:
    """Questions with several right answers, and replies of two systems in every form."""
    questions = [
        {
            "question": "Which seas touch Denmark?",
            "answer": ["North Sea", ["Baltic Sea", "Baltic"]],
        },
        {"question": "Solve x^2 + 2x - 63 = 0.", "answer": [-9, 7], "dataset": "mathematics"},
        {"question": "Where is it filmed?", "answer": ["Atlanta, Texas", "Vivian, Louisiana"]},
        {"question": "Which statements hold?", "answer": ["A", "C"], "dataset": "choices"},
        {"question": "Which one is even?", "answer": ["B"], "id": "even", "dataset": "choices"},
        {"question": "Nobody knows.", "answer": []},
    ]
    sure = [
        {"answer": "A", "logits": [3.0, 1.0, 0.5, 0.0]},
        {"answer": "B", "top_logprobs": [-0.5, -1.5], "vocabulary": 1000},
        {"answer": "C", "top_logprobs": [{"token": "C", "logprob": -0.2}]},
    ]
    replies = [
        {"item": 0, "reply": "The Baltic and the North Sea\nConfidence: 90%"},
        {"item": 0, "sample": 1, "reply": "- North Sea\n- Baltic Sea\n\nConfidence: 0.8"},
        {"item": 0, "sample": 2, "reply": "North Sea, Baltic, Baltic Sea, Kattegat"},
        {"item": 1, "reply": 'x = 7 or -9, so ["7", "-9"]', "confidence": 340},
        {"item": 2, "reply": "The places are Vivian, Louisiana, and Atlanta, Texas."},
        {"item": 3, "answers": ["A", "B", "C"], "confidence": "about 60 %", "first_token": sure},
        {"item": "even", "reply": "B) because it is", "confidence": 1},
        {"item": 5, "reply": "42"},
        {"item": 77, "reply": "42"},
        {"system": "other", "item": 0, "status": "refused"},
        {"system": "other", "item": 1, "status": "error"},
        {"system": "other", "item": 3, "answers": ["C"], "first_token": sure[2:]},
    ]
    (folder / "several.json").write_text(json.dumps(questions, indent=1), "utf-8")
    lines = "".join(json.dumps(reply) + "\n" for reply in replies)
    (folder / "several.jsonl").write_text(lines, "utf-8")


def write_problems(folder: Path) -> None:
    """Math problems with and without an answer, and replies of two systems in two forms."""
    about = [
        ("Tom has 9 books and 46 more. How many?", [55.0], None, None),
        ("A rope of 10 m is cut into 4 parts. How long is one?", [2.5], 0, None),
        ("Tom has some books and 46 more. How many?", None, 2, [1]),
        ("Tom has 9 books. How many pens?", None, 4, [1]),
        ("A rope is cut into 4 parts. How long is one?", None, 1, [2]),
        ("A rope is cut  into 4 parts. How long is one?", [2.0], None, None),
        ("Who is he?", None, 5, [70]),
    ]
    lines = [
        {
            "id": number,
            "question": text,
            "answer": answer,
            "answerable": answer is not None,
            "category": category,
            "relevant_ids": relevant,
            "source": "made" if number < 5 else "other",
        }
        for number, (text, answer, category, relevant) in enumerate(about, 1)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "problems.jsonl").write_text(text, "utf-8")
    (folder / "templates.txt").write_text("It is not known.\nNobody can tell.\n", "utf-8")
    header = ["system", "id", "form", "reply", "status"]
    replies = [
        ["one", 1, "direct", "9 + 46 = 55, so the answer is 55.", ""],
        ["one", 2, "direct", "Each part is 2.5m long.", ""],
        ["one", 3, "direct", "Nobody can tell. It cannot be determined.", ""],
        ["one", 4, "direct", "The answer is 9 + x.", ""],
        ["one", 5, "direct", "It is 3.", ""],
        ["one", 6, "direct", "", "refused"],
        ["one", 7, "direct", "", "error"],
        ["one", 8, "direct", "There is no such problem.", ""],
        ["two", 1, "direct", "It cannot be determined!", ""],
        ["two", 1, "instruction", "55 books", "text"],
        ["two", 3, "instruction", "", "EMPTY"],
    ]
    save_csv(folder / "problem_replies.csv", [header, *replies])


def write_camps(folder: Path, rng: object) -> None:
    """Twelve workers, half of whom share an error, and six answers that an expert graded."""
    import numpy as np

    rows, vectors, anchors = [], [], []
    for question in range(10):
        truth, error = rng.normal(size=(2, 20))  # type: ignore[attr-defined]
        for worker in range(12):
            camp = truth if worker < 6 else 0.4 * truth + error
            vectors.append(camp + 0.4 * rng.normal(size=20))  # type: ignore[attr-defined]
            rows.append([f"w{worker}", f"q{question}", f"answer of {worker} to {question}"])
        if question < 3:
            anchors += [["w1", f"q{question}", 5], ["w8", f"q{question}", 1]]
    save_csv(folder / "camps.csv", [["worker", "question", "answer"], *rows])
    np.savez(folder / "camps.npz", answers=np.array(vectors))
    save_csv(folder / "anchors.csv", [["worker", "question", "grade"], *anchors])


def write_mistakes(folder: Path, demo: Path, header: list[str], rows: list[list[str]]) -> None:
    """Files for imports: good ones, one that contradicts, one that names what is not there."""
    for name in ("questions.jsonl", "passages.jsonl"):
        shutil.copy(demo / name, folder / name)
    save_csv(folder / "contradiction.csv", [header, [*rows[0][:2], "something else"]])
    save_csv(folder / "unknown.csv", [header, ["Amara", "tides-99", "high"], ["", "tides-1", "x"]])
    lines = [
        {"worker": w, "question": q, "answer": a, "rejected": str(w == "Uma"), MARK: "1"}
        for w, q, a in rows[: 8 * 13]
        if w != "Elif"
    ]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (folder / "rejected.jsonl").write_text(text, "utf-8")
    heads = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "Input.word", "Answer.text"]
    words = [["H1", "mono"], ["H2", "ie"]]
    batch = [
        [hit, f"A{hit}{n}", f"W{n}", "Rejected" if n == 2 else "Submitted", word, f"thing {n}"]
        for hit, word in words
        for n in range(3)
    ]
    save_csv(folder / "batch.csv", [heads, *batch])


def write_graded_answers(folder: Path, rng: object) -> None:
    """Columns of Mohler et al.: 22 answers a question, the worse the fewer right words."""
    folder.mkdir()
    rights = (
        "the stack gives back last what came in first",
        "pointers hold the address of some other value there",
        "queues give back first what somebody put in first",
        "trees have nodes that have more nodes below them",
    )
    rows: list[list[object]] = [["question_id", "answer", "grade_average"]]
    for number, right in enumerate(rights):
        for n in range(22):
            words = right.split()[: 9 - n // 3] + [f"wrong{n}{k}" for k in range(n // 3)]
            noise = float(rng.normal(0, 0.05))  # type: ignore[attr-defined]
            rows.append([f"1.{number}", " ".join(words) + "<br>", 5 - n / 5 + noise])
    save_csv(folder / "answers.csv", rows)


def save_csv(path: Path, rows: list, delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
