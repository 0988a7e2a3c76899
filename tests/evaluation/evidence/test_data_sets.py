import pytest

from evaluation.evidence.data_sets import MOHLER, load_crowdwsa, load_mohler
from tests.problems import raises_problem


def put(folder, name, text):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)


def test_line_breaks_of_mohlers_answers_become_spaces(tmp_path):
    put(
        tmp_path,
        "mohler2011/answers.csv",
        'question_id,answer,grade_average\n1.1,"first<br>second, third",4.5\n1.10,x,5\n',
    )
    corpus = load_mohler(tmp_path)
    assert corpus.texts == ["first second, third", "x"]
    assert corpus.questions.tolist() == ["1.1", "1.10"]
    assert corpus.grades.tolist() == [4.5, 5.0]


def test_a_workers_first_answer_to_a_sentence_counts_and_quotes_are_only_letters(tmp_path):
    put(
        tmp_path,
        "crowdwsa2019/T1_label_anonymous.tsv",
        'worker\tsentence\tworkeranswer\nw1\ts1\t"Hello" he said\nw1\ts1\tanother\nw2\ts1\tHi "\n',
    )
    put(tmp_path, "crowdwsa2019/T1_gt.tsv", "sentence\ttrueanswer\ns1\tHello, he said.\n")
    corpus = load_crowdwsa(tmp_path, "T1")
    assert corpus.workers.tolist() == ["w1", "w2"]
    assert corpus.texts == ['"Hello" he said', 'Hi "']
    assert corpus.truth == {"s1": "Hello, he said."}


@pytest.mark.parametrize(
    ("text", "code", "values"),
    [
        (
            "question,answer\n1,x\n",
            "data_set_columns_missing",
            {"columns": "question_id, grade_average"},
        ),
        ("question_id,answer,grade_average\n1,x\n", "data_set_row_short", {"row": 2}),
        ("question_id,answer,grade_average\n1,x,good\n", "data_set_grade_unreadable", {}),
        (b"question_id,answer,grade_average\n1,caf\xe9,5\n", "data_set_damaged", {}),
        (
            "",
            "data_set_columns_missing",
            {"columns": "question_id, answer, grade_average"},
        ),
    ],
)
def test_a_file_that_is_not_the_data_set_is_refused(tmp_path, text, code, values):
    put(tmp_path, MOHLER, text)
    with raises_problem(code, file=str(tmp_path / MOHLER), **values):
        load_mohler(tmp_path)


def test_a_sentence_without_a_true_translation_is_refused(tmp_path):
    put(
        tmp_path,
        "crowdwsa2019/T2_label_anonymous.tsv",
        "worker\tsentence\tworkeranswer\nw1\ts1\thello\n",
    )
    put(tmp_path, "crowdwsa2019/T2_gt.tsv", "sentence\ttrueanswer\ns2\tbye\n")
    truths = str(tmp_path / "crowdwsa2019/T2_gt.tsv")
    with raises_problem("data_set_truth_missing", file=truths, sentence="s1"):
        load_crowdwsa(tmp_path, "T2")
