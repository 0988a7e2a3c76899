"""train_entailment with a tiny encoder at random: folder, record, continuation, bad input."""

import csv
import json
import sys

import numpy as np
import pytest

from annotations.exchange.graded import read_marked_answers
from evaluation.core.backends.cross_encoder import ContradictionModel, EntailmentModel
from evaluation.core.backends.embedding import sentences
from evaluation.evidence.entailment import training
from evaluation.evidence.entailment.model_folder import (
    find_trained_answers,
    flag_trained_questions,
)
from evaluation.evidence.entailment.pairs import (
    build_held_out_pairs,
    select_labelled_answers,
    split_by_question,
)
from tests.evaluation.commands.running import manage
from tests.evaluation.core.backends.conftest import save_bert
from tests.evaluation.cross_encoders import SPECIAL

# Each trains a small model.
pytestmark = pytest.mark.slow

WORDS = {"correct": "closed", "contradictory": "open", "incorrect": "blue"}
SEMEVAL = """<question id="{id}"><questionText>Why?</questionText><referenceAnswers>
<referenceAnswer>it is closed</referenceAnswer></referenceAnswers><studentAnswers>{answers}
</studentAnswers></question>"""


def rows(labels=tuple(WORDS), n_questions=8, n_answers=15):
    for q in range(n_questions):
        for a in range(n_answers):
            label = labels[a % len(labels)]
            yield f"w{a}", f"q{q}", f"circuit {q} is {WORDS.get(label, 'grey')} {'so ' * a}", label


def save(path, found, header=("worker", "question", "answer", "label")):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *found])
    return path


@pytest.fixture
def encoder(tmp_path, monkeypatch):
    """A tiny encoder in place of the packaged one; its cosine is that of random vectors."""
    words = [*SPECIAL, "circuit", "is", "so", "it", "grey", *WORDS.values(), *map(str, range(9))]
    save_bert(tmp_path / "encoder", words, "BertModel")
    monkeypatch.setattr(sentences, "find_minilm_folder", lambda: tmp_path / "encoder")
    monkeypatch.setattr(sentences, "check_minilm_hashes", lambda _: None)

    class Vectors:
        def embed(self, texts):
            return np.random.default_rng(0).normal(size=(len(texts), 4))

    monkeypatch.setattr(sentences, "load_minilm", Vectors)


def train(data, output, *more):
    return manage("train_entailment", data, "--output", output, "--epochs=1", *more)


def test_the_folder_holds_a_model_that_nli_loads_with_card_and_record(tmp_path, encoder):
    data = save(tmp_path / "answers.csv", rows())
    ran = train(data, tmp_path / "model", "--limit=40")
    assert (ran.code, ran.err) == (0, "")
    record = json.loads((tmp_path / "model" / "training.json").read_text())
    # 8 questions: 2 held out with 15 answers each, and 40 of the others' 90 answers in 3 batches.
    assert (record["answers"], record["steps"], record["steps_planned"]) == (40, 3, 3)
    assert record["processor_seconds"] >= 0
    assert len(record["held_out_questions"]) == 2
    assert (record["held_out"]["answers"], record["held_out"]["questions"]) == (30, 2)
    model = ContradictionModel.load(str(tmp_path / "model"))
    assert sorted(model.labels.values()) == ["contradiction", "entailment", "neutral"]
    card = (tmp_path / "model" / "README.md").read_text()
    assert f"{record['held_out']['accuracy']:.2f}" in card
    assert not (tmp_path / "model" / training.CHECKPOINT).exists()


def test_the_same_seed_gives_the_same_weights_also_after_an_interruption(
    tmp_path, encoder, monkeypatch
):
    data = save(tmp_path / "answers.csv", rows())
    assert train(data, tmp_path / "whole").code == 0
    do_step, n_done = training.Training._train_on_next_batch, []
    monkeypatch.setattr(training, "CHECKPOINT_SECONDS", 0.0)

    def interrupted(self):
        if len(n_done) == 4:
            raise KeyboardInterrupt
        n_done.append(self.step)
        do_step(self)

    monkeypatch.setattr(training.Training, "_train_on_next_batch", interrupted)
    assert train(data, tmp_path / "parts").code == 130
    assert (tmp_path / "parts" / training.CHECKPOINT).exists()
    monkeypatch.setattr(training.Training, "_train_on_next_batch", do_step)
    assert train(data, tmp_path / "parts").code == 0
    whole, parts = (
        EntailmentModel.load(str(tmp_path / name)).compute_logits(
            [("it is closed", "circuit 1 is open")]
        )
        for name in ("whole", "parts")
    )
    np.testing.assert_allclose(whole, parts, atol=1e-6)


def test_a_batch_has_pairs_of_about_equal_length_and_an_epoch_each_answer_once(tmp_path):
    # The answers to a question have 4 to 18 words: 120 answers, two parts of 64 and 56.
    data = save(tmp_path / "a.csv", rows())
    answers = select_labelled_answers(read_marked_answers(data))
    everything = np.arange(len(answers.texts))
    monkey = pytest.MonkeyPatch()
    with monkey.context() as patch:
        patch.setattr(training, "SORTED_BATCHES", 4)
        batches = training.draw_batches(answers, everything, 0, 0)
        again = training.draw_batches(answers, everything, 0, 0)
        later = training.draw_batches(answers, everything, 0, 1)
    assert sorted(np.concatenate([one.rows for one in batches]).tolist()) == everything.tolist()
    assert sorted(len(one.rows) for one in batches) == [8, *[16] * 7]
    assert [one.pairs for one in batches] == [one.pairs for one in again]
    assert [one.pairs for one in batches] != [one.pairs for one in later]
    for batch in batches:
        for row, pair in zip(batch.rows.tolist(), batch.pairs, strict=True):
            assert answers.texts[row] in pair
    # Each batch is a quarter of its part by length: no two batches of a part overlap.
    spans = sorted(
        (min(lengths), max(lengths))
        for lengths in ([len(a) + len(b) for a, b in one.pairs] for one in batches)
    )
    widest = max(high for _, high in spans) - min(low for low, _ in spans)
    assert np.mean([high - low for low, high in spans]) < widest / 3


def test_a_checkpoint_of_other_options_is_not_continued(tmp_path, encoder, monkeypatch):
    data = save(tmp_path / "answers.csv", rows())

    def interrupted(self):
        self._save_checkpoint(tmp_path / "model")
        raise KeyboardInterrupt

    monkeypatch.setattr(training.Training, "_train_on_next_batch", interrupted)
    assert train(data, tmp_path / "model").code == 130
    ran = train(data, tmp_path / "model", "--seed=1")
    assert ran.code == 2
    assert "interrupted training" in ran.err


def test_the_minutes_end_the_training_and_the_record_says_so(tmp_path, encoder):
    data = save(tmp_path / "answers.csv", rows())
    # Less than one step takes, so that exactly one step is done.
    assert train(data, tmp_path / "model", "--minutes=0.00001").code == 0
    record = json.loads((tmp_path / "model" / "training.json").read_text())
    # 90 answers to 6 questions, 16 in a batch.
    assert (record["steps"], record["steps_planned"]) == (1, 6)


def test_without_contradictory_answers_there_is_no_class_for_them(tmp_path, encoder):
    data = save(tmp_path / "answers.csv", rows(("correct", "incorrect")))
    assert train(data, tmp_path / "model").code == 0
    labels = EntailmentModel.load(str(tmp_path / "model")).labels
    assert labels == {0: "entailment", 1: "neutral"}
    found = json.loads((tmp_path / "model" / "training.json").read_text())["held_out"]
    assert found["auc_contradictory_over_incorrect"]["reason"] == "no_class_for_contradiction"


def test_the_xml_of_semeval_is_read_and_its_reference_answers_are_paired(tmp_path):
    for q in range(8):
        answers = "".join(
            f'<studentAnswer id="a.s{w}-l1.qa1" accuracy="{label}">{text}</studentAnswer>'
            for w, _, text, label in rows(n_questions=1)
        )
        (tmp_path / f"q{q}.xml").write_text(SEMEVAL.format(id=f"q{q}", answers=answers))
    answers = select_labelled_answers(read_marked_answers(tmp_path))
    assert len(answers.texts) == 8 * 15
    split = split_by_question(answers, 0.25, 0)
    pairs, places = build_held_out_pairs(answers, split.held_out, 0)
    assert {premise for premise, _ in pairs} == {"it is closed"}
    assert places.tolist() == list(range(30))


def test_an_answer_is_never_its_own_right_answer(tmp_path):
    answers = select_labelled_answers(read_marked_answers(save(tmp_path / "a.csv", rows())))
    everything = np.arange(len(answers.texts))
    drawn = answers.draw_pairs(everything.tolist(), np.random.default_rng(0))
    held, _ = build_held_out_pairs(answers, everything, 0)
    assert all(one != other for one, other in [*drawn, *held])
    # Both orders occur, half of the pairs each.
    is_second = [pair[1] == text for pair, text in zip(drawn, answers.texts, strict=True)]
    assert 0.3 < np.mean(is_second) < 0.7


@pytest.mark.parametrize(
    ("found", "header", "said"),
    [
        (rows(n_answers=6), ("worker", "question", "answer", "label"), "48 answers"),
        (rows(("correct",)), ("worker", "question", "answer", "label"), "label correct"),
        (rows(("perhaps",)), ("worker", "question", "answer", "label"), "the label perhaps"),
        (
            ((*row[:3], "4.5") for row in rows()),
            ("worker", "question", "answer", "grade"),
            "the grade 4.5",
        ),
        (rows(), ("worker", "question", "text of it", "label"), "answer"),
    ],
)
def test_what_cannot_be_learnt_from_is_refused(tmp_path, found, header, said):
    ran = train(save(tmp_path / "answers.csv", found, header), tmp_path / "model")
    assert ran.code == 2
    assert said in ran.err
    assert not (tmp_path / "model").exists()


def test_a_folder_with_other_files_is_refused(tmp_path, encoder):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "notes.txt").write_text("mine")
    ran = train(save(tmp_path / "answers.csv", rows()), tmp_path / "model")
    assert ran.code == 2
    assert "not empty" in ran.err
    assert [one.name for one in (tmp_path / "model").iterdir()] == ["notes.txt"]


def test_without_torch_the_library_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    ran = train(save(tmp_path / "answers.csv", rows()), tmp_path / "model")
    assert ran.code == 2
    assert "pip install torch" in ran.err


def test_questions_are_known_by_most_of_their_answers(tmp_path, encoder):
    data = save(tmp_path / "answers.csv", rows())
    assert train(data, tmp_path / "model").code == 0
    held = json.loads((tmp_path / "model" / "training.json").read_text())["held_out_questions"]
    answers = list(rows())
    flagged = flag_trained_questions(
        # In another case and under other ids, as in another file of the same data.
        (text.upper() for _, _, text, _ in answers),
        (f"other-{question}" for _, question, _, _ in answers),
        find_trained_answers(str(tmp_path / "model")),
    )
    assert flagged == {f"other-q{q}" for q in range(8)} - {f"other-{one}" for one in held}


def test_a_model_of_others_has_no_record(tmp_path):
    assert find_trained_answers(str(tmp_path)) == frozenset()
    assert find_trained_answers(None) == frozenset()
