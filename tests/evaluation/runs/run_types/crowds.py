"""A crowd from good to bad workers with answers in words, and experts' grades of half of them."""

import csv

import numpy as np

from annotations.exchange.importing import import_answers, import_questions
from annotations.models import QuestionSet, Response
from evaluation.models import HumanJudgement

WORDS = (
    *("river", "sea", "hill", "stone", "rain", "cloud", "moss", "fern"),
    *("otter", "heron", "salt", "tide", "delta", "gorge", "spring"),
)
NOISE = (
    *("chair", "lamp", "spoon", "door", "shelf", "rug", "clock", "vase"),
    *("stool", "desk", "mug", "fork", "bowl", "sofa", "bench"),
)


def answers_of(workers=9, questions=12, seed=4):
    """Return rows of worker, question, answer; worker w0 is right, the last one hardly ever."""
    rng = np.random.default_rng(seed)
    right = [rng.permutation(WORDS)[:8].tolist() for _ in range(questions)]
    rows = []
    for worker in range(workers):
        for question in range(questions):
            said = list(right[question])
            wrong = rng.random(8) < 0.1 + 0.8 * worker / workers
            for at in np.flatnonzero(wrong):
                said[at] = str(rng.choice(NOISE))
            rows.append((f"w{worker}", f"q{question}", " ".join(said)))
    return rows


def grade_of(text):
    """Return 5 for all words right, 0 for none, in halves."""
    words = text.split()
    return round(10 * sum(word in WORDS for word in words) / len(words)) / 2


def judgements_of(rows):
    """Return rows of worker, question, grade for every other answer."""
    return [(worker, question, grade_of(text)) for worker, question, text in rows[::2]]


def write(path, header, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    return path


def write_files(folder):
    """Write answers.csv and judgements.csv, and return their paths."""
    rows = answers_of()
    return (
        write(folder / "answers.csv", ("worker", "question", "answer"), rows),
        write(folder / "judgements.csv", ("worker", "question", "grade"), judgements_of(rows)),
    )


def crowd_set(users, monkeypatch, folder):
    """Return the question set of Rita, with the crowd's answers; nobody hears the bell."""
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    owner = users.objects.create_user("rita", password="rivers", is_staff=True)
    question_set = QuestionSet(owner=owner, name="rivers")
    questions = [(f"q{n}", f"What is number {n}?") for n in range(12)]
    import_questions(question_set, write(folder / "q.csv", ("question", "text"), questions))
    header = ("worker", "question", "answer")
    import_answers(question_set, write(folder / "a.csv", header, answers_of()))
    return question_set


def let_an_expert_judge(question_set):
    """Store the owner's grades of every other answer, and return the set."""
    key_of = {
        (response.submission.worker.external_id, response.question.external_id): response.pk
        for response in Response.objects.select_related("submission__worker", "question")
    }
    HumanJudgement.objects.bulk_create(
        HumanJudgement(response_id=key_of[worker, question], expert=question_set.owner, grade=grade)
        for worker, question, grade in judgements_of(answers_of())
    )
    return question_set
