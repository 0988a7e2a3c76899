"""From a grading to its alarms: kinds, words, the answers behind them, and crowds too small."""

import numpy as np
import pytest

from annotations.exchange import AnswerStatus
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.backends.embedding.contract import LexicalEmbedder
from evaluation.core.options import TERMINAL
from evaluation.core.stats.simulation import (
    build_correlated_weak_groups,
    build_honest_groups,
    simulate_crowd,
)
from evaluation.core.text.quality import is_dont_know
from evaluation.grading.alarms.methods import CopierGroup
from evaluation.grading.alarms.run.detection import GradedAnswers, detect_alarms, join_ids
from evaluation.grading.alarms.run.texts import is_copied_group
from evaluation.grading.crowd import ModelColumns
from evaluation.grading.methods.check_results import CHECK_NAMES
from evaluation.grading.run.fitting import grade_vectors

WORDS = ("stack", "queue", "tree", "list", "heap", "node", "array", "pointer", "loop", "class")


def words(rng, n=12):
    return " ".join(rng.choice(WORDS, n))


def alarms(vectors, workers, questions, texts=None, models=None, **parameters):
    rng = np.random.default_rng(0)
    texts = [words(rng) for _ in workers] if texts is None else texts
    wanted = AqerParameters(**{"embedder": "precomputed:x.npz", "bootstrap": 4, **parameters})
    workers, questions = list(workers), list(questions)
    graded = grade_vectors(wanted, vectors, workers, questions, None, models)
    return detect_alarms(
        wanted, graded.aqer, GradedAnswers(texts, workers, questions, vectors, models)
    )


def named(crowd):
    return [f"w{w}" for w in crowd.workers], [f"q{q}" for q in crowd.questions]


def kinds(found):
    return [row.kind for row in found.found]


# --- what is told --------------------------------------------------------------------------------


def pasting_crowd():
    """20 workers, of whom four give the first one's answers with a word more."""
    rng = np.random.default_rng(1)
    crowd = simulate_crowd(build_honest_groups(20), 15, 100, 1)
    who = [3, 7, 8, 15]
    texts, vectors = [words(rng) for _ in crowd.workers], crowd.vectors.copy()
    for question in range(15):
        at = {int(crowd.workers[i]): i for i in np.flatnonzero(crowd.questions == question)}
        for worker in who[1:]:
            vectors[at[worker]] = vectors[at[who[0]]] + 0.2 * rng.standard_normal(100)
            texts[at[worker]] = texts[at[who[0]]] + " " + WORDS[worker % 5]
    return crowd, vectors, texts, {f"w{worker}" for worker in who}


def test_those_who_paste_are_one_row_with_their_texts_beside_each_other():
    crowd, vectors, texts, who = pasting_crowd()
    found = alarms(vectors, *named(crowd), texts)
    (alarm,) = [alarm for alarm in found.found if alarm.kind == "copies"]
    assert (alarm.severity, alarm.threshold) == ("alarm", 0.5)
    assert set(alarm.workers) == who
    assert alarm.message.code == "copies.proven"
    workers, questions = named(crowd)
    for exhibit in alarm.exhibits:
        assert {workers[exhibit.left], workers[exhibit.right]} <= who
        assert questions[exhibit.left] == questions[exhibit.right] == exhibit.question


def test_camps_are_told_in_a_row_each_and_without_texts_that_prove_it_nobody_copied():
    crowd = simulate_crowd(build_correlated_weak_groups(0.7), 12, 300, 0)
    found = alarms(crowd.vectors, *named(crowd))
    camps = [row for row in found.found if row.kind == "two_camps" and row.workers]
    assert sorted(sorted(row.workers) for row in camps) == sorted(
        sorted(f"w{w}" for w in part) for part in (range(10), range(10, 20))
    )
    assert "clique" in kinds(found)
    assert "copies" not in kinds(found)
    assert camps[0].message.code == "two_camps.crowd"
    assert camps[0].message.values["open"] is True


def test_an_honest_crowd_has_checks_and_no_alarm():
    crowd = simulate_crowd(build_honest_groups(20), 20, 100, 3)
    found = alarms(crowd.vectors, *named(crowd))
    assert [row for row in found.found if row.severity == "alarm"] == []
    by_name = {check.check: check for check in found.checks}
    assert tuple(check.check for check in found.checks) == CHECK_NAMES
    assert {name: check.result for name, check in by_name.items() if check.result != "good"} == {
        "agreement_of_starts": "not_applicable",
        "identical_answers": "not_applicable",
        "model_like": "not_applicable",
    }
    assert by_name["two_camps"].statistic <= by_name["two_camps"].threshold


def test_graders_that_contradict_each_other_are_told():
    # By words, worker 0 agrees most with the others; by vectors it is the other way round.
    crowd = simulate_crowd(build_honest_groups(12, tuple(np.linspace(0.3, 3, 12))), 15, 200, 0)
    rng = np.random.default_rng(0)
    truth = [list(rng.choice(WORDS, 8)) for _ in range(15)]
    texts = [
        " ".join([*truth[q][: 1 + w // 2], *(f"other{w}x{q}x{i}" for i in range(8 - w // 2))])
        for w, q in zip(crowd.workers.tolist(), crowd.questions.tolist(), strict=True)
    ]
    found = alarms(crowd.vectors, *named(crowd), texts)
    (row,) = [row for row in found.found if row.kind == "grader_disagreement"]
    assert row.statistic < -0.9


def test_a_worker_who_pastes_a_model_is_told_beside_the_models_answer():
    crowd = simulate_crowd(build_honest_groups(12), 15, 200, 5)
    rng = np.random.default_rng(0)
    spoken = crowd.truth + rng.standard_normal(crowd.truth.shape)
    vectors, mine = crowd.vectors.copy(), crowd.workers == 4
    vectors[mine] = spoken[crowd.questions[mine]] + 0.2 * rng.standard_normal((15, 200))
    statuses = [AnswerStatus.TEXT] * 14 + [AnswerStatus.EMPTY, AnswerStatus.TEXT]
    models = ModelColumns(
        ["gpt"] * 16,
        [*(f"q{q}" for q in range(15)), "unknown"],
        statuses,
        np.vstack([spoken, np.full((1, 200), np.nan)]),
    )
    found = alarms(vectors, *named(crowd), models=models)
    (alarm,) = [alarm for alarm in found.found if alarm.kind == "model_like"]
    assert alarm.workers == ("w4",)
    assert "gpt" in TERMINAL.format_message(alarm.message)
    workers, questions = named(crowd)
    assert len(alarm.exhibits) == 14
    for exhibit in alarm.exhibits:
        assert workers[exhibit.left] == "w4"
        assert questions[exhibit.left] == exhibit.question == models.questions[exhibit.model_row]


def test_who_often_does_not_know_is_told_with_these_answers():
    crowd = simulate_crowd(build_honest_groups(8), 12, 50, 1)
    workers, questions = named(crowd)
    rng = np.random.default_rng(0)
    texts = [
        "I don't know." if w == "w2" and q in {"q1", "q4", "q7"} else words(rng)
        for w, q in zip(workers, questions, strict=True)
    ]
    found = alarms(crowd.vectors, workers, questions, texts)
    (alarm,) = [alarm for alarm in found.found if alarm.kind == "dont_know"]
    assert (alarm.severity, alarm.workers, alarm.statistic) == ("notice", ("w2",), 0.25)
    assert [texts[exhibit.left] for exhibit in alarm.exhibits] == ["I don't know."] * 3


def test_two_who_never_know_are_not_said_to_copy():
    crowd = simulate_crowd(build_honest_groups(10), 12, 50, 1)
    workers, questions = named(crowd)
    rng = np.random.default_rng(0)
    silent = np.isin(crowd.workers, (2, 5))
    vectors = np.where(silent[:, None], rng.standard_normal(50), crowd.vectors)
    texts = ["I don't know" if mute else words(rng) for mute in silent]
    found = alarms(vectors, workers, questions, texts)
    assert "copies" not in kinds(found)
    assert [row.workers for row in found.found if row.kind == "dont_know"] == [("w2", "w5")]


def test_alarms_come_first_and_every_number_is_defined():
    crowd, vectors, texts, _ = pasting_crowd()
    found = alarms(vectors, *named(crowd), texts, max_iterations=1)
    severities = [row.severity for row in found.found]
    assert severities[0] == "alarm"
    assert severities == sorted(severities, key=["alarm", "notice", "info"].index)
    for row in found.found:
        assert row.statistic is not None
        assert row.threshold is not None
    for check in found.checks:
        assert (check.statistic is None) == (check.reason is not None)


def test_ids_with_a_semicolon_can_be_told_apart_in_a_list():
    assert join_ids(["a;b", "c\\", "d"]) == r"a\;b;c\\;d"


# --- texts ---------------------------------------------------------------------------------------


DO_NOT_KNOW = [
    "I don't know",
    "i DON’T know...",
    "idk",
    "??",
    "Sorry, I have no idea about this.",
    "Ich weiß es nicht!",
    "Je ne sais pas",
    "no lo sé",
    "Я не знаю",
    "不知道。",
    "わかりません",
    "لا أعرف",
    "n/a",
]


@pytest.mark.parametrize("text", DO_NOT_KNOW)
def test_answers_that_only_say_that_somebody_does_not_know(text):
    assert is_dont_know(text)


@pytest.mark.parametrize(
    "text",
    [
        "None",
        "no",
        "A stack",
        "nobody knows",
        "I don't know what a heap is, but a queue takes the first one in and gives it out first",
        "Unknown variables are declared first",
        "Он знал",
    ],
)
def test_answers_that_say_something(text):
    assert not is_dont_know(text)


def group(*members):
    return CopierGroup(np.array(members), 0.9, 0.9, 10, np.zeros((0, 3), np.int64))


def test_texts_prove_copying_only_where_others_do_not_write_the_same():
    rng = np.random.default_rng(0)
    worker, question = np.tile(np.arange(6), 12), np.repeat(np.arange(12), 6)
    texts = [words(rng, 20) for _ in worker]
    assert not is_copied_group(group(0, 1), texts, worker, question)
    copied = list(texts)
    for q in range(12):
        copied[6 * q + 1] = copied[6 * q].upper().replace("TREE", "treee") + "!"
    assert is_copied_group(group(0, 1), copied, worker, question)
    everybody = [texts[6 * q] for q in question]
    assert not is_copied_group(group(0, 1), everybody, worker, question)


# --- crowds too small ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workers", "questions"), [(1, 1), (2, 3), (3, 1), (3, 12), (9, 1), (9, 12)]
)
@pytest.mark.parametrize(
    "text", [lambda w, q: "same", lambda w, q: f"word{w} and{q}", lambda w, q: "!"]
)
@pytest.mark.parametrize(
    ("embedder", "switches"),
    [
        ("bow", {}),
        ("bow", {"aggregation": "majority"}),
        ("tfidf-word", {"similarity": "euclidean"}),
        ("tfidf-char", {"leave_one_out": True, "difficulty": True, "discrimination": True}),
    ],
)
def test_no_crowd_is_too_small_or_too_uniform(workers, questions, text, embedder, switches):
    who, asked = np.repeat(np.arange(workers), questions), np.tile(np.arange(questions), workers)
    texts = [text(w, q) for w, q in zip(who, asked, strict=True)]
    if texts[0] == "!":  # without a word
        vectors = np.zeros((len(texts), 3))
    else:
        vectors = LexicalEmbedder(embedder).fit(texts).embed(texts)
    found = alarms(vectors, who.tolist(), asked.tolist(), texts, embedder=embedder, **switches)
    assert [row.kind for row in found.found if row.severity == "alarm"] in ([], ["copies"])
    if workers < 3:
        assert kinds(found)[0] == "too_few"
