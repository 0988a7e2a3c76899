"""The evidence on public data, through the commands, each run once."""

import pytest

from tests.evaluation.commands.crowd import header_of, summary_of, table
from tests.evaluation.commands.running import Ran, manage

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
on_real_data = [pytest.mark.data, pytest.mark.model, pytest.mark.slow]


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


class TestWorkerGrading:
    pytestmark = on_real_data

    @pytest.mark.parametrize(
        ("method", "expected", "within"),
        [
            ("aqer", 0.919, 0.01),
            ("aqer_one_pass", 0.887, 0.015),
            ("tfidf_word", 0.936, 0.01),
            ("tfidf_char", 0.947, 0.01),
        ],
    )
    def test_grades_agree_with_the_experts_as_measured_before(
        self, worker_grading, method, expected, within
    ):
        row = worker_grading[2]["10x2", method]
        assert float(row["pearson_mean"]) == pytest.approx(expected, abs=within)
        assert (row["repetitions"], row["p_value"], row["paper"]) == ("25", "", "")

    def test_all_methods_are_there_for_both_settings(self, worker_grading):
        folder, ran, rows = worker_grading
        methods = ("aqer", "aqer_one_pass", "leave_one_out", "tfidf_word", "tfidf_char")
        assert list(rows) == [(setting, m) for setting in ("10x2", "5x4") for m in methods]
        assert header_of(folder / "table.csv") == list(HEADER)
        assert all(" ".join(key) in " ".join(ran.out.split()) for key in rows)

    def test_the_summary_says_what_was_computed_from_what(self, worker_grading):
        found = summary_of(worker_grading[0])
        assert found["seeds"] == [1000, 1024]
        assert found["embedders"]["minilm"]["model"] == "all-MiniLM-L6-v2"
        assert len(found["input_hash"]) == 64
        assert {entry["reason"] for entry in found["undefined"]} == {"not_tested", "not_recorded"}

    def test_the_markdown_table_holds_the_same_rows(self, worker_grading):
        folder, _, rows = worker_grading
        lines = (folder / "table.md").read_text().splitlines()
        assert [cell.strip() for cell in lines[0].strip("|").split("|")] == list(HEADER)
        assert len(lines) == 2 + len(rows)
        assert "| 10x2 | aqer | 0.91" in lines[2] or "| 10x2 | aqer | 0.92" in lines[2]


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
        from evaluation.signatures import combined_hash, file_hash

        names = ("T1_label_anonymous", "T1_gt", "T2_label_anonymous", "T2_gt")
        files = [data_folder / "crowdwsa2019" / f"{name}.tsv" for name in names]
        assert summary_of(crowdwsa[0])["input_hash"] == combined_hash(map(file_hash, files))


def a_small_corpus(folder):
    """Mohler's columns; 22 answers to each of two questions, the worse the fewer right words."""
    (folder / "mohler2011").mkdir(parents=True)
    right = "the stack gives back last what came in first"
    lines = ["question_id,answer,grade_average"]
    for question in ("1.1", "1.2"):
        for n in range(22):
            words = right.split()[: 9 - n // 3] + [f"wrong{n}{k}" for k in range(n // 3)]
            lines.append(f"{question},{' '.join(words)}<br>,{5 - n / 5}")
    (folder / "mohler2011/answers.csv").write_text("\n".join(lines) + "\n")
    return folder


def test_a_study_runs_on_any_data_of_the_same_form_and_its_seeds_shift(tmp_path):
    data = a_small_corpus(tmp_path / "data")
    ran = manage(
        *("reproduce", "worker-grading", "--data", data, "--output", tmp_path / "out"),
        *("--embedder=bow", "--repetitions=1", "--seed=5"),
    )
    assert (ran.code, ran.err) == (0, "")
    found = summary_of(tmp_path / "out")
    assert found["seeds"] == [1005, 1005]
    assert set(found["embedders"]) == {"bow", "tfidf-word", "tfidf-char"}
    assert {entry["column"]: entry["reason"] for entry in found["undefined"]} == {
        "pearson_sd": "single_repetition",
        "p_value": "not_tested",
        "paper": "not_recorded",
    }
    rows = table(tmp_path / "out/table.csv")
    assert all(float(row["pearson_mean"]) > 0.5 for row in rows)


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
