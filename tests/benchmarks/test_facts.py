import pytest

from evaluation.evidence.data_sets import BEETLE
from evaluation.grading.facts.methods import Verdict
from evaluation.grading.facts.run import find_crowd_facts
from tests.benchmarks import facts


def test_the_crowd_of_facts_votes_and_every_fifth_worker_contradicts_it():
    answers = facts._of_pairs(5)
    found = find_crowd_facts(facts._asked_of_pairs(), answers)
    # 150 of the 200 pairs are facts; a negation is none. Four of five say the same.
    flagged = {one.key for one in found.answers if one.verdict == Verdict.CONTRADICTS}
    assert {key.rsplit("/", 1)[1] for key in flagged} == {"4"}
    assert len(set(answers.texts)) == len(answers) == 1000


@pytest.mark.long
@pytest.mark.model
def test_explanations_are_left_out_without_data_and_the_share_is_of_the_run(tmp_path):
    found = facts.share_of_a_run(tmp_path, workers=3, draws=2)
    rows = {row.what: row for row in found.rows}
    share = rows["facts, share of the run"]
    assert share.median == pytest.approx(rows[facts.FACTS].median / rows[facts.RUN].median)
    assert share.claim == "at most 0.1 of a run"
    assert any(BEETLE in remark for remark in found.remarks)
