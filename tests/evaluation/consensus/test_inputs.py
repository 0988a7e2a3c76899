"""What a grading leaves out, and of which texts its vectors are."""

import hashlib
from dataclasses import replace

import numpy as np
from scipy import sparse

from annotations.exchange import AnswerStatus
from evaluation.consensus.inputs import (
    Answers,
    EmbeddedAnswers,
    ModelAnswers,
    choose_question_groups,
    embed_graded_answers,
    select_graded_answers,
)
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.backends import EmbedderInfo
from evaluation.grading.run.grading import grade_answers

TEXT, EMPTY, REFUSED = AnswerStatus.TEXT, AnswerStatus.EMPTY, AnswerStatus.REFUSED
PLAIN = AqerParameters(embedder="tfidf-word", bootstrap=0)
ANSWERS = Answers.from_rows(
    [
        ("a1", "ada", "q1", "the moon pulls", False),
        ("b1", "ben", "q1", "", False),
        ("c1", "cy", "q1", "wind", True),
        ("a2", "ada", "q2", "twice a day", False),
        ("d3", "dee", "q3", "", True),
    ]
)


def models(*rows):
    return ModelAnswers.from_rows(
        (key, "m", question, text, status, sample) for key, question, text, status, sample in rows
    )


def test_rejected_answers_are_left_out_with_their_workers_and_questions():
    given = select_graded_answers(PLAIN, ANSWERS)
    assert (given.all_answers.keys, given.answered.keys) == (["a1", "b1", "a2"], ["a1", "a2"])
    assert (given.workers, given.questions) == (["ada", "ben"], ["q1", "q2"])
    assert (given.n_rejected, given.n_empty) == (2, 1)


def test_where_rejected_answers_are_included_none_is_counted_as_left_out():
    given = select_graded_answers(replace(PLAIN, include_rejected=True), ANSWERS)
    assert given.answered.keys == ["a1", "c1", "a2"]
    assert (given.workers, given.questions) == (["ada", "ben", "cy", "dee"], ["q1", "q2", "q3"])
    assert (given.n_rejected, given.n_empty) == (0, 2)


def test_a_model_is_scored_by_the_first_sample_of_its_latest_asking():
    spoken = models(
        ("old", "q1", "the sun", TEXT, 0),
        ("other", "q2", "once", TEXT, 0),
        ("new", "q1", "the moon", TEXT, 0),
        ("second", "q1", "the wind", TEXT, 1),
    )
    given = select_graded_answers(PLAIN, ANSWERS, spoken)
    assert given.models.keys == ["other", "new"]


def test_an_asking_that_failed_is_not_made_up_for_by_an_earlier_one():
    spoken = models(
        ("old", "q1", "the moon", TEXT, 0),
        ("failed", "q1", "", AnswerStatus.ERROR, 0),
        ("first", "q2", "", AnswerStatus.ERROR, 0),
        ("second", "q2", "", AnswerStatus.ERROR, 0),
    )
    assert select_graded_answers(PLAIN, ANSWERS, spoken).models.keys == ["failed", "second"]


def test_models_without_a_first_sample_are_none():
    assert (
        select_graded_answers(PLAIN, ANSWERS, models(("x", "q1", "moon", TEXT, 1))).models is None
    )
    assert select_graded_answers(PLAIN, ANSWERS, ModelAnswers.from_rows([])).models is None


def test_the_hash_is_over_ids_texts_and_grades_of_what_is_graded():
    spoken = models(("m1", "q1", "the moon", TEXT, 0))
    given = replace(select_graded_answers(PLAIN, ANSWERS, spoken), anchors=[(1, 4.5)])
    told = (
        "ada\x1fq1\x1fthe moon pulls\x1eada\x1fq2\x1ftwice a day\x1e\x1d"
        "m\x1fq1\x1fthe moon\x1ftext\x1e\x1da2\x1f4.5\x1e"
    )
    assert given.compute_hash() == hashlib.sha256(told.encode()).hexdigest()
    assert replace(given, models=None, anchors=[]).compute_hash() != given.compute_hash()


def lengths(kind, asked):
    """An embedder that gives every text the vector (1, its length), and notes what it is asked."""

    def embed(answers, of_models):
        asked.append((list(answers), None if of_models is None else list(of_models)))
        made = [
            kind([[1.0, len(text)] for text in texts] or np.zeros((0, 2)))
            for texts in (answers, of_models or [])
        ]
        info = EmbedderInfo("test", "test", "1", "float64", 2)
        return EmbeddedAnswers(made[0], None if of_models is None else made[1], info)

    return embed


def test_answers_of_models_without_a_text_are_not_embedded_and_have_rows_of_zeros():
    spoken = models(
        ("r1", "q1", "no, I will not", REFUSED, 0),
        ("r2", "q2", "abc", TEXT, 0),
        ("r3", "q3", "", EMPTY, 0),
    )
    given = select_graded_answers(PLAIN, ANSWERS, spoken)
    for kind in (np.array, sparse.csr_array):
        asked = []
        found = embed_graded_answers(given, lengths(kind, asked))
        assert asked == [(["the moon pulls", "twice a day"], ["abc"])]
        rows = found.models if kind is np.array else found.models.toarray()
        assert rows.tolist() == [[0, 0], [1, 3], [0, 0]]


def test_without_models_there_are_no_vectors_of_theirs():
    assert (
        embed_graded_answers(select_graded_answers(PLAIN, ANSWERS), lengths(np.array, [])).models
        is None
    )


def test_corrected_texts_stand_beside_the_answers_as_written():
    rows = [("a1", "ada", "q1", "the moon atracts", False)]
    spoken = models(("m1", "q1", "becuase", TEXT, 0))
    given = select_graded_answers(replace(PLAIN, spelling="en"), Answers.from_rows(rows), spoken)
    asked = []
    found = embed_graded_answers(given, lengths(np.array, asked))
    assert (["the moon atracts"], None) in asked
    assert (["the moon attracts"], ["because"]) in asked
    assert found.plain.tolist() == [[1, len("the moon atracts")]]
    assert found.answers.tolist() == [[1, len("the moon attracts")]]
    assert found.spelling["words"] == 2


def test_a_model_that_never_says_anything_is_scored_nought():
    words = ("moon tide", "moon wind", "tide wind")
    rows = [
        (f"{worker}{question}", worker, question, f"{text} {question}", False)
        for worker, text in zip(("ada", "ben", "cy"), words, strict=True)
        for question in ("one", "two")
    ]
    spoken = models(("m1", "one", "", EMPTY, 0), ("m2", "two", "", EMPTY, 0))
    grading = grade_answers(select_graded_answers(PLAIN, Answers.from_rows(rows), spoken))
    [row] = grading.build_results().iterate_models()
    assert (row.model, row.score, row.n, row.n_answered) == ("m", 0.0, 2, 0)


def test_a_question_is_compared_within_its_passage_of_5_questions_else_within_its_category():
    passages = {1: "a", 2: "a", 3: "a", 4: "a", 5: "a", 6: "b", 7: "b"}
    categories = {5: "sea", 6: "sea", 8: "sky"}
    # Passage a has 5 questions, b has 2 of them; 7 and 9 are in no category.
    found = choose_question_groups([1, 2, 3, 4, 5, 5, 6, 7, 8, 9], passages, categories)
    assert found == {1: "passage:a", 2: "passage:a", 3: "passage:a", 4: "passage:a",
                     5: "passage:a", 6: "category:sea", 8: "category:sky"}  # fmt: skip
    # Of passage a only 4 questions were answered.
    assert choose_question_groups([2, 3, 4, 5], passages, categories) == {5: "category:sea"}


def test_groups_of_questions_are_in_the_hash_where_the_numbers_depend_on_them():
    answers = Answers([1, 2], ["ann", "bob"], ["q", "q"], ["x", "y"], [False, False])
    plain = select_graded_answers(AqerParameters(), answers)
    grouped = replace(plain, question_groups={"q": "passage:a"})
    assert grouped.compute_hash() == plain.compute_hash()
    switched = replace(plain, parameters=AqerParameters(question_contrast=True))
    assert switched.compute_hash() == plain.compute_hash()
    assert (
        replace(switched, question_groups={"q": "passage:a"}).compute_hash()
        != switched.compute_hash()
    )
