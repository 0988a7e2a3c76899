"""What a third expert settled counts against a judge in place of the others' mean."""

import numpy as np

from annotations.exchange import read_answer_grades
from evaluation.flow.judge.findings import grades_of


def test_the_settled_grade_is_the_mean_and_agreement_keeps_what_each_said():
    given = [(0, "ed", 1.0), (0, "eve", 4.0), (1, "ed", 2.0), (1, "eve", 3.0)]
    grades = grades_of(3, given, {0: 4.5})
    assert grades.mean[:2].tolist() == [4.5, 2.5]
    assert np.isnan(grades.mean[2])
    assert grades.by_expert == {"ed": {0: 1.0, 1: 2.0}, "eve": {0: 4.0, 1: 3.0}}
    assert grades_of(3, given).mean[0] == 2.5


def test_the_table_of_an_expert_check_is_read_as_it_is(tmp_path):
    path = tmp_path / "audit.csv"
    path.write_text(
        "question,worker,model,stratum,weight,score,judge,grade,judged_at,settles\n"
        "q1,ada,,people,9,0.5,human:ed,1,,0\n"
        "q1,ada,,people,9,0.5,human:eve,4,,0\n"
        "q1,ada,,people,9,0.5,human:mo,4.5,,1\n"
        "q2,,llm,models,2,0.5,human:ed,2,,0\n"
    )
    read = read_answer_grades(path)
    assert [one.expert for one in read.records] == ["human:ed", "human:eve", "human:mo", "human:ed"]
    assert read.means() == {("ada", "", "q1"): 4.5, ("", "llm", "q2"): 2.0}
