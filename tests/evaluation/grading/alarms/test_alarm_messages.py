"""From what was found to what is told: ids, rows and figures, and what was looked at."""

from dataclasses import replace

import numpy as np
import pytest

from annotations.exchange import AnswerStatus
from evaluation.consensus import AQER
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.message import Message
from evaluation.core.stats.simulation import (
    build_correlated_weak_groups,
    build_honest_groups,
    simulate_crowd,
)
from evaluation.grading.alarms.methods import Finding
from evaluation.grading.alarms.methods.survey import RankingStatistic
from evaluation.grading.alarms.run import detection as flow
from evaluation.grading.alarms.run.detection import (
    COLUMNS,
    Alarm,
    GradedAnswers,
    SideBySideAnswers,
    choose_alarm_crowd,
    detect_alarms,
)
from evaluation.grading.crowd import ModelColumns, RemedyInputs
from evaluation.grading.run.fitting import grade_vectors

CROWD = simulate_crowd(build_honest_groups(12), 12, 60, 2)
WHO = [f"w{code}" for code in CROWD.workers]
ASKED = [f"q{code}" for code in CROWD.questions]
PLAIN = AqerParameters(embedder="precomputed:x.npz", bootstrap=0)


def texts(words=8):
    rng = np.random.default_rng(0)
    known = ("stack", "queue", "tree", "list", "heap", "node", "array", "pointer", "loop")
    return [" ".join(rng.choice(known, words)) for _ in WHO]


def looked(parameters=PLAIN, said=None, rows=None, progress=None, models=None, names=None):
    aqer = grade_vectors(parameters, CROWD.vectors, WHO, ASKED).aqer
    answers = GradedAnswers(said or texts(), WHO, ASKED, CROWD.vectors, models, rows)
    return detect_alarms(parameters, aqer, answers, progress, names)


def with_findings(monkeypatch, *found):
    """Let the statistics find something of our own."""
    monkeypatch.setattr(flow, "build_findings", lambda seen, proven: list(found))


PAIRS = np.array([[0, 3, 5], [2, -1, 7]])


def test_codes_become_ids_and_rows_of_the_caller(monkeypatch):
    with_findings(
        monkeypatch,
        Finding(
            "copies", "alarm", "alike", 0.7, 0.5, np.array([3, 0]), np.array([7, 5]), PAIRS,
            {"n_shared": 12},
        ),
    )  # fmt: skip
    row_of = {key: row for row, key in enumerate(zip(WHO, ASKED, strict=True))}
    found = looked()
    assert found.found == (
        Alarm(
            "copies", "alarm", 0.7, 0.5, ("w3", "w0"), ("q7", "q5"),
            Message("copies.alike", {"workers": 2, "questions": 2, "statistic": 0.7,
                                     "threshold": 0.5, "n_shared": 12}),
            (
                SideBySideAnswers("q5", row_of["w0", "q5"], row_of["w3", "q5"]),
                SideBySideAnswers("q7", row_of["w2", "q7"], None),
            ),
        ),
    )  # fmt: skip
    assert list(found.found[0].as_dict()) == list(COLUMNS)
    assert found.found[0].as_dict()["workers"] == ("w3", "w0")
    # A caller that left answers out has numbers of its own.
    (alarm,) = looked(rows=range(1000, 1000 + len(WHO))).found
    assert alarm.exhibits[0].left == 1000 + row_of["w0", "q5"]


def test_at_most_so_many_are_named_and_all_are_counted(monkeypatch):
    monkeypatch.setattr(flow, "NAMED", 2)
    everybody = np.arange(12)
    with_findings(
        monkeypatch, Finding("too_few", "info", "workers", 12.0, 0.0, everybody, everybody[:5])
    )
    (alarm,) = looked().found
    assert (alarm.workers, alarm.questions) == (("w0", "w1"), ("q0", "q1"))
    assert (alarm.message.values["workers"], alarm.message.values["questions"]) == (12, 5)


def spoken():
    """Two models; the second answer of one to a question, a refusal and a question of its own."""
    rows = [
        ("a", "q1", AnswerStatus.TEXT), ("b", "q0", AnswerStatus.TEXT),
        ("a", "q1", AnswerStatus.TEXT), ("a", "q2", AnswerStatus.REFUSED),
        ("a", "elsewhere", AnswerStatus.TEXT), ("a", "q3", AnswerStatus.TEXT),
    ]  # fmt: skip
    vectors = np.random.default_rng(1).standard_normal((len(rows), 60))
    return ModelColumns(*map(list, zip(*rows, strict=True)), vectors)


def test_an_answer_like_a_models_stands_beside_its_first_answer_to_the_question(monkeypatch):
    asked = []
    original = flow.compute_run_checks
    monkeypatch.setattr(flow, "compute_run_checks", lambda *of: asked.append(of) or original(*of))
    liked = Finding("model_like", "notice", "model", 6.0, 4.0, np.array([4, 1]),
                    figures={"model": "a"})  # fmt: skip
    with_findings(monkeypatch, liked)
    row_of = {key: row for row, key in enumerate(zip(WHO, ASKED, strict=True))}
    (alarm,) = looked(models=spoken()).found
    assert alarm.exhibits == (
        SideBySideAnswers("q1", row_of["w4", "q1"], None, 0),
        SideBySideAnswers("q1", row_of["w1", "q1"], None, 0),
        SideBySideAnswers("q3", row_of["w4", "q3"], None, 5),
        SideBySideAnswers("q3", row_of["w1", "q3"], None, 5),
    )
    assert alarm.message.values["model"] == "a"
    (named,) = looked(models=spoken(), names={"a": "SmolLM"}).found
    assert named.message.values["model"] == "SmolLM"
    (_, _, models, vectors, *_) = asked[0]
    assert vectors is CROWD.vectors
    assert [(one.label, one.questions.tolist()) for one in models] == [("a", [1, 3]), ("b", [0])]
    np.testing.assert_array_equal(models[0].vectors, spoken().vectors[[0, 5]])
    monkeypatch.setattr(flow, "MAX_SHOWN", 3)
    (alarm,) = looked(models=spoken()).found
    assert len(alarm.exhibits) == 3


def silent(times):
    """Texts of which workers say so often that they do not know, their first ones."""
    said, left = texts(), dict(times)
    for row, worker in enumerate(WHO):
        if left.get(worker):
            left[worker] -= 1
            said[row] = "I don't know"
    return said


@pytest.mark.parametrize(
    ("times", "told"),
    [
        ({"w1": 2}, None),  # two of twelve
        ({"w1": 3}, (("w1",), 3 / 12)),
        ({"w1": 3, "w5": 6}, (("w1", "w5"), 6 / 12)),
    ],
)
def test_who_says_a_fifth_of_the_time_and_three_times_that_he_does_not_know_is_told(times, told):
    found = [alarm for alarm in looked(said=silent(times)).found if alarm.kind == "dont_know"]
    if told is None:
        assert found == []
        return
    (alarm,) = found
    assert (alarm.workers, alarm.statistic) == told
    assert (alarm.severity, alarm.threshold, alarm.questions) == ("notice", 0.2, ())
    assert alarm.message.code == "dont_know.workers"
    rows = [row for row, text in enumerate(silent(times)) if text == "I don't know"]
    assert [exhibit.left for exhibit in alarm.exhibits] == rows
    assert {(exhibit.right, exhibit.model_row) for exhibit in alarm.exhibits} == {(None, None)}
    assert [exhibit.question for exhibit in alarm.exhibits] == [ASKED[row] for row in rows]


def test_three_times_are_no_fifth_of_many_answers_and_only_some_are_shown(monkeypatch):
    monkeypatch.setattr(flow, "DONT_KNOW", 0.3)
    kinds = [alarm.kind for alarm in looked(said=silent({"w1": 3})).found]
    assert "dont_know" not in kinds
    monkeypatch.setattr(flow, "MAX_SHOWN", 2)
    (alarm,) = [a for a in looked(said=silent({"w1": 5})).found if a.kind == "dont_know"]
    assert len(alarm.exhibits) == 2


def test_progress_begins_and_ends():
    told = []
    looked(progress=lambda *of: told.append(of))
    assert told == [("alarms", 0, 1), ("alarms", 1, 1)]


def test_every_check_is_told_with_its_number_its_threshold_and_its_reason(monkeypatch):
    kept = []
    original = flow.compute_run_checks

    def seen(*of):
        found = replace(
            original(*of),
            leverage=RankingStatistic(0.1, 0.5, worker=3),
            disagreement=RankingStatistic(None, 0.3, "why"),
            concentration=RankingStatistic(0.2, 0.4),
            stability=RankingStatistic(0.9, 0.8),
            starts=RankingStatistic(0.35, 0.45),
        )
        kept.append(found)
        return found

    monkeypatch.setattr(flow, "compute_run_checks", seen)
    checks = {check.check: check for check in looked().checks}
    (survey,) = kept
    assert [tuple(vars(check).values()) for check in checks.values()] == [
        ("two_camps", survey.camps.statistic, 3.0, False, survey.camps.reason),
        ("two_camps_of_questions", survey.questions.statistic, survey.questions.threshold, False,
         survey.questions.reason),
        ("agreement_of_starts", 0.35, 0.45, True, None),
        ("copies", survey.kinship.statistic, 0.5, False, survey.kinship.reason),
        ("copies_in_part", 0.0, 0.15, False, None),
        ("identical_answers", None, 0.5, False, "copies_were_checked"),
        ("repeated", 0.0, 0.2, False, None),
        ("dont_know", 0.0, 0.2, False, None),
        ("model_like", None, 3.0, False, "no_model_answers"),
        ("leverage", 0.1, 0.5, True, None),
        ("grader_disagreement", None, 0.3, False, "why"),
        ("concentrated_weight", 0.2, 0.4, True, None),
        ("unstable_ranking", 0.9, 0.8, False, None),
        ("no_convergence", survey.last_step, survey.tolerance, False, None),
        ("too_few", float(len(survey.unsupported)), 0.0, bool(len(survey.unsupported)), None),
    ]  # fmt: skip
    [leverage] = [one for one in looked().convert_checks() if one["check"] == "leverage"]
    assert leverage == {
        "check": "leverage", "statistic": 0.1, "threshold": 0.5, "rings": True, "reason": None,
        "result": "problem", "needed": None,
    }  # fmt: skip


def test_the_other_grader_counts_words_and_grades_plainly(monkeypatch):
    asked = []
    original = flow.compute_run_checks
    monkeypatch.setattr(flow, "compute_run_checks", lambda *of: asked.append(of) or original(*of))
    said = texts()
    odd = replace(PLAIN, similarity="euclidean", init="random", seed=3, weight_cap=0.2)
    looked(odd, said)
    from evaluation.core.backends.embedding.contract import LexicalEmbedder

    vectors = LexicalEmbedder("tfidf-word").fit(said).embed(said)
    wanted = AQER(n_draws=0, seed=3).fit(vectors, WHO, ASKED).raw_
    np.testing.assert_allclose(asked[-1][1], wanted)
    assert asked[-1][4] == ""
    looked(replace(PLAIN, embedder="tfidf-word"), said)
    assert (asked[-1][1], asked[-1][4]) == (None, "graded_by_words_already")
    looked(PLAIN, ["!"] * len(WHO))
    assert (asked[-1][1], asked[-1][4]) == (None, "no_words")


# --- which crowd is looked at --------------------------------------------------------------------


def answers(**changes):
    return GradedAnswers(**{"texts": texts(), "workers": WHO, "questions": ASKED,
                            "vectors": CROWD.vectors, **changes})  # fmt: skip


def test_without_remedies_it_is_the_crowd_of_the_run():
    graded, given = grade_vectors(PLAIN, CROWD.vectors, WHO, ASKED), answers()
    aqer, found = choose_alarm_crowd(PLAIN, graded, given)
    assert aqer is graded.aqer
    assert found is given


def test_with_remedies_it_is_the_plain_crowd_of_the_texts_as_written():
    capped = replace(PLAIN, weight_cap=0.2)
    outside = RemedyInputs(texts=texts())
    graded, given = grade_vectors(capped, CROWD.vectors, WHO, ASKED, outside=outside), answers()
    assert choose_alarm_crowd(capped, graded, given, outside) == (graded.plain, given)
    written = CROWD.vectors[::-1].copy()
    models = spoken()
    outside = RemedyInputs(texts=texts(), plain_vectors=written)
    graded = grade_vectors(capped, CROWD.vectors, WHO, ASKED, outside=outside)
    aqer, found = choose_alarm_crowd(capped, graded, answers(models=models), outside)
    assert aqer is graded.plain
    # Vectors of models are of another space than those of the texts as written.
    assert found.vectors is written
    assert found.models is None
    assert found.texts == texts()


def test_excluded_workers_are_no_part_of_it_and_the_others_are_graded_plainly():
    crowd = simulate_crowd(build_correlated_weak_groups(0.7, n_workers=12), 12, 60, 0)
    who, asked = crowd.workers.tolist(), crowd.questions.tolist()
    options = replace(PLAIN, exclude_workers=("x",), weight_cap=0.3, bootstrap=4, init="random")
    outside = RemedyInputs(excluded=[2, 7])
    graded = grade_vectors(options, crowd.vectors, who, asked, outside=outside)
    said = [f"text {row}" for row in range(len(who))]
    given = GradedAnswers(said, who, asked, crowd.vectors)
    aqer, found = choose_alarm_crowd(options, graded, given, outside)
    kept = [row for row, worker in enumerate(who) if worker not in (2, 7)]
    assert list(found.rows) == kept
    assert found.texts == [said[row] for row in kept]
    assert found.workers == [who[row] for row in kept]
    assert found.questions == [asked[row] for row in kept]
    np.testing.assert_array_equal(found.vectors, crowd.vectors[kept])
    alone = AQER(n_draws=0).fit(crowd.vectors[kept], np.array(who)[kept], np.array(asked)[kept])
    np.testing.assert_allclose(aqer.raw_, alone.raw_)
    assert not len(aqer.draw_agreement_)


def test_questions_with_camps_have_their_sizes_and_the_rows_nearest_to_each():
    rng = np.random.default_rng(0)
    vectors = CROWD.vectors.copy()
    at = [row for row, question in enumerate(ASKED) if question == "q4"]
    smaller = at[2:6]
    right, wrong = rng.standard_normal((2, 60))
    vectors[at] = right + 0.3 * rng.standard_normal((12, 60))
    vectors[smaller] += wrong - right
    aqer = grade_vectors(PLAIN, vectors, WHO, ASKED).aqer
    found = detect_alarms(PLAIN, aqer, GradedAnswers(texts(), WHO, ASKED, vectors))
    assert list(found.camps) == [f"q{n}" for n in range(12)]
    assert found.camps["q4"].sizes == (8, 4)
    assert found.camps["q4"].separation > 0.4
    larger, nearest = found.camps["q4"].nearest
    assert nearest in smaller
    assert larger in set(at) - set(smaller)
    assert all(0 <= camped.separation <= 1 for camped in found.camps.values())
    assert {camped.sizes for name, camped in found.camps.items() if name != "q4"} == {None}
