"""The evidence on public data, through the commands, each run once."""

import json

import numpy as np
import pytest

from evaluation.evidence.baselines import METHODS, Corpus, Crowd, list_methods
from tests.evaluation.commands.crowd import header_of, summary_of, table
from tests.evaluation.commands.running import Ran, manage
from tests.evaluation.core.backends.conftest import FakeServer

HEADER = (
    "setting",
    "method",
    "pearson_mean",
    "pearson_sd",
    "spearman_mean",
    "repetitions",
    "p_value",
    "paper",
)
SETTINGS = ("10x2", "5x4", "10x2-noisy", "10x2-heldout", "5x4-heldout")
KNOWN = [
    ("aqer", 0.919),
    ("aqer_one_pass", 0.887),
    ("leave_one_out", 0.918),
    ("discrimination", 0.948),
    ("tfidf_word", 0.936),
    ("tfidf_char", 0.947),
    ("tfidf_char+discrimination", 0.967),
    ("reference_answer", 0.906),
]
on_real_data = [pytest.mark.data, pytest.mark.model, pytest.mark.long]


def reproduce(study, data, folder) -> tuple[Ran, dict[tuple[str, str], dict[str, str]]]:
    ran = manage("reproduce", study, "--data", data, "--output", folder)
    assert (ran.code, ran.err) == (0, "")
    return ran, {(row["setting"], row["method"]): row for row in table(folder / "table.csv")}


@pytest.fixture(scope="session")
def worker_grading(data_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("worker-grading")
    return folder, *reproduce("worker-grading", data_folder, folder)


@pytest.fixture(scope="session")
def crowdwsa(data_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("crowdwsa")
    return folder, *reproduce("crowdwsa", data_folder, folder)


@pytest.mark.slow
@pytest.mark.data
def test_rows_that_need_no_model_are_as_known(data_folder):
    from evaluation.evidence.corpus import CorpusVectors
    from evaluation.evidence.data_sets import assign_answers, load_mohler
    from evaluation.evidence.labelled_crowd import Trial, compare_methods

    graded = load_mohler(data_folder)
    corpus = Corpus(graded.texts, graded.questions, CorpusVectors(graded.texts).embed_texts)
    trials = []
    for seed in range(1000, 1025):
        dealt = assign_answers(graded, 2, seed)
        crowd = Crowd(corpus, dealt.rows, dealt.workers, seed=seed)
        trials.append(Trial(crowd, dealt.compute_true_grades(graded.grades)))
    names = ("f1", "tfidf_word", "tfidf_char", "tfidf_char+discrimination")
    rows = compare_methods("10x2", trials, [METHODS[name] for name in names])
    found = [row.pearson_mean for row in rows]
    np.testing.assert_allclose(found, [0.870, 0.936, 0.947, 0.967], atol=0.003)
    # Ten tiers of workers, TF-IDF against F1: the difference is no accident.
    assert all(row.p_value < 0.05 for row in rows[1:])


class TestWorkerGrading:
    pytestmark = on_real_data

    @pytest.mark.parametrize(("method", "expected"), KNOWN)
    def test_grades_agree_with_the_experts_as_measured_before(
        self, worker_grading, method, expected
    ):
        row = worker_grading[2]["10x2", method]
        assert float(row["pearson_mean"]) == pytest.approx(expected, abs=0.003)
        assert (row["repetitions"], row["paper"]) == ("25", "")

    def test_a_method_without_a_key_reaches_964_on_all_questions(self, worker_grading):
        unsupervised = [method.name for method in list_methods() if method.kind != "supervised"]
        rows = [worker_grading[2]["10x2", name]["pearson_mean"] for name in unsupervised]
        assert max(float(cell) for cell in rows if cell) >= 0.964

    def test_what_was_chosen_on_one_half_stands_on_the_other(self, worker_grading):
        folder, _, rows = worker_grading
        chosen = summary_of(folder)["heldout"]["chosen"]
        assert METHODS[chosen].kind == "aqer"
        for setting in ("10x2-heldout", "5x4-heldout"):
            assert float(rows[setting, chosen]["pearson_mean"]) == pytest.approx(0.947, abs=0.01)

    def test_all_methods_are_there_for_all_settings(self, worker_grading):
        folder, ran, rows = worker_grading
        expected = [(setting, name) for setting in SETTINGS for name in METHODS]
        assert list(rows) == expected
        assert header_of(folder / "table.csv") == list(HEADER)
        assert all(" ".join(key) in " ".join(ran.out.split()) for key in rows)
        assert all((folder / f"table-{setting}.svg").is_file() for setting in SETTINGS)

    def test_every_row_is_tested_against_the_best_baseline(self, worker_grading):
        folder, _, rows = worker_grading
        best = summary_of(folder)["best_baseline"]
        assert best["10x2"] == "bertscore"
        empty = {key for key, row in rows.items() if not row["p_value"]}
        without = {(s, name) for s in SETTINGS for name in ("aqer_entailment_init", "judge")}
        assert empty == {*best.items()} | without

    def test_the_summary_says_what_was_computed_from_what(self, worker_grading):
        found = summary_of(worker_grading[0])
        assert found["seeds"] == [1000, 1024]
        assert found["embedders"]["minilm"]["model"] == "all-MiniLM-L6-v2"
        assert len(found["input_hash"]) == 64
        assert {entry["reason"] for entry in found["undefined"]} == {
            "best_baseline",
            "no_judge",
            "no_nli_model",
            "published_figure_not_verified",
        }

    def test_the_markdown_table_holds_the_same_rows(self, worker_grading):
        folder, _, rows = worker_grading
        lines = (folder / "table.md").read_text().splitlines()
        assert [cell.strip() for cell in lines[0].strip("|").split("|")] == list(HEADER)
        assert len(lines) == 2 + len(rows)
        assert any(line.startswith("| 10x2 | aqer | 0.919 |") for line in lines)


class TestCrowdwsa:
    pytestmark = on_real_data

    @pytest.mark.parametrize(
        ("setting", "plain", "left_out"),
        [
            ("T1", 0.469, 0.489),
            ("T2", 0.615, 0.642),
            ("T1-cosine", 0.703, 0.738),
            ("T2-cosine", 0.860, 0.881),
        ],
    )
    def test_leave_one_out_is_better_on_sparse_crowds(self, crowdwsa, setting, plain, left_out):
        rows = crowdwsa[2]
        of_aqer = float(rows[setting, "aqer"]["pearson_mean"])
        of_leave_one_out = float(rows[setting, "leave_one_out"]["pearson_mean"])
        assert of_aqer == pytest.approx(plain, abs=0.01)
        assert of_leave_one_out == pytest.approx(left_out, abs=0.01)
        assert of_leave_one_out > of_aqer

    def test_the_first_answer_of_a_worker_to_a_sentence_is_kept(self, crowdwsa):
        assert summary_of(crowdwsa[0])["answers"] == {"T1": 882, "T2": 908}

    def test_both_answers_and_truth_enter_the_hash(self, crowdwsa, data_folder):
        from evaluation.consensus.signatures import combine_hashes, hash_file

        names = ("T1_label_anonymous", "T1_gt", "T2_label_anonymous", "T2_gt")
        files = [data_folder / "crowdwsa2019" / f"{name}.tsv" for name in names]
        assert summary_of(crowdwsa[0])["input_hash"] == combine_hashes(map(hash_file, files))

    def test_rasa_and_hrrasa_stand_beside_the_others(self, crowdwsa):
        for crowd in ("T1", "T2", "T1-cosine", "T2-cosine"):
            for name in ("rasa", "hrrasa", "bertscore", "roy2016", "chai2022"):
                assert float(crowdwsa[2][crowd, name]["pearson_mean"]) > 0.25

    def test_the_key_agrees_with_itself(self, crowdwsa):
        row = crowdwsa[2]["T1-cosine", "reference_answer"]
        assert float(row["pearson_mean"]) == pytest.approx(1, abs=1e-5)


def a_small_corpus(folder, n_questions=4, asked=False):
    """Mohler's columns; 22 answers to each question, the worse the fewer right words."""
    (folder / "mohler2011").mkdir(parents=True)
    rights = (
        "the stack gives back last what came in first",
        "pointers hold the address of some other value there",
        "queues give back first what somebody put in first",
        "trees have nodes that have more nodes below them",
    )
    rng = np.random.default_rng(0)
    lines = ["question_id,answer,grade_average"]
    for number, right in enumerate(rights[:n_questions]):
        for n in range(22):
            words = right.split()[: 9 - n // 3] + [f"wrong{n}{k}" for k in range(n // 3)]
            grade = 5 - n / 5 + rng.normal(0, 0.05)
            lines.append(f"1.{number},{' '.join(words)}<br>,{grade}")
    (folder / "mohler2011/answers.csv").write_text("\n".join(lines) + "\n")
    if asked:
        rows = [f"1.{number},What is {number}?,{right}" for number, right in enumerate(rights)]
        header = "question_id,question,reference_answer"
        text = "\n".join([header, *rows[:n_questions]]) + "\n"
        (folder / "mohler2011/questions.csv").write_text(text)
    return folder


def reproduced(tmp_path, *arguments, **corpus):
    data = a_small_corpus(tmp_path / "data", **corpus)
    ran = manage(
        *("reproduce", "worker-grading", "--data", data, "--output", tmp_path / "out"),
        *("--embedder=bow", "--repetitions=1", *arguments),
    )
    assert (ran.code, ran.err) == (0, "")
    rows = table(tmp_path / "out/table.csv")
    return summary_of(tmp_path / "out"), {(row["setting"], row["method"]): row for row in rows}


@pytest.mark.slow
@pytest.mark.model
def test_a_study_runs_on_any_data_of_the_same_form_and_its_seeds_shift(tmp_path):
    found, rows = reproduced(tmp_path, "--core", "--seed=5")
    assert found["seeds"] == [1005, 1005]
    assert set(found["embedders"]) == {"bow", "tfidf-word", "tfidf-char"}
    assert found["heldout"]["seed"] == 5
    reasons = {(entry["column"], entry["reason"]) for entry in found["undefined"]}
    assert ("pearson_sd", "single_repetition") in reasons
    assert ("pearson_mean", "no_reference_answers") in reasons
    core = {method.name for method in list_methods(core=True)}
    assert {name for _, name in rows} == core
    assert {"hrrasa", "aqer_entailment_init", "judge"} == set(METHODS) - core
    plain = [float(row["pearson_mean"]) for (s, name), row in rows.items() if (s, name) in PLAIN]
    assert len(plain) == len(PLAIN)
    assert min(plain) > 0.5


PLAIN = [("10x2", name) for name in ("aqer", "bleu1", "f1", "rasa", "roy2016", "tfidf_char")]


@pytest.mark.model
@pytest.mark.long
def test_a_judge_is_asked_about_every_answer_and_gets_a_row(tmp_path):
    server = FakeServer()

    def right_words(fake, request):
        content = request["messages"][0]["content"]
        assert "Question: What is " in content
        score = 5 - content.count("wrong") * 5 / 9
        return 200, {}, json.dumps({"choices": [{"message": {"content": f"{score:.2f}"}}]}).encode()

    server.always = right_words
    try:
        found, rows = reproduced(
            tmp_path, f"--judge=openai:small@{server.url}", n_questions=2, asked=True
        )
    finally:
        server.close()
    # 2 x 22 answers, of which the first three of each question are the same, and asked once.
    assert len(server.requests) == 2 * (22 - 2)
    assert float(rows["10x2", "judge"]["pearson_mean"]) > 0.9
    assert float(rows["10x2", "reference_answer"]["pearson_mean"]) > 0.9
    assert found["judge"]["judge"] == f"openai:small@{server.url}"
    assert found["judge"]["without_score"] == 0


@pytest.mark.parametrize("study", ["worker-grading", "crowdwsa"])
def test_without_the_data_set_the_study_says_what_to_give(tmp_path, study):
    ran = manage("reproduce", study, "--data", tmp_path, "--output", tmp_path / "out")
    assert ran.code == 2
    assert "--data" in ran.err
    assert not (tmp_path / "out").exists()


def test_an_unknown_study_or_embedder_is_bad_usage(tmp_path):
    data = a_small_corpus(tmp_path / "data")
    arguments = ("--data", data, "--output", tmp_path / "out")
    assert manage("reproduce", "everything", *arguments).code == 2
    assert manage("reproduce", "worker-grading", *arguments, "--repetitions=0").code == 2
    ran = manage("reproduce", "worker-grading", *arguments, "--embedder=nonsense")
    assert ran.code == 2
    assert "'nonsense' is unknown" in ran.err


def test_a_judge_that_is_no_address_is_bad_usage(tmp_path):
    data = a_small_corpus(tmp_path / "data", asked=True)
    arguments = ("--data", data, "--output", tmp_path / "out", "--embedder=bow")
    ran = manage("reproduce", "worker-grading", *arguments, "--judge=minilm")
    assert ran.code == 2
    assert ran.refusals == ("chat",)
    assert "judge 'minilm' " in ran.err
    assert not (tmp_path / "out").exists()
