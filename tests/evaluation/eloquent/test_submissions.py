"""The lab's submission form of 2025: a form for each system and language, questions by number."""

import json

import pytest

from annotations.exchange.reading.prompt_replies import read_prompt_replies
from evaluation.eloquent.run.findings import Submitter, build_submissions
from evaluation.eloquent.run.replies import match_replies
from evaluation.runs.flow.metrics import Exclusions
from tests.evaluation.eloquent.world import item, reply


@pytest.mark.parametrize(
    ("name", "written"), [("12", 12), ("012", "012"), ("0", 0), ("q1", "q1"), ("½", "½")]
)
def test_a_question_is_named_by_its_number_and_read_back_as_the_same_item(tmp_path, name, written):
    asked = item(name, "en: The rules?", "en: What rules?")
    replies = [reply("small", asked, 0), reply("small", asked, 1, "three")]
    (form,) = build_submissions(replies, Submitter("us", "2", "2025-05-01"))
    assert [one["questionid"] for one in form["questions"]] == [written, written]
    assert list(form) == [
        *("team", "system", "submissionid", "language", "date", "label", "questions")
    ]
    assert form["label"] == "eloquent-2025-robustness"
    path = tmp_path / "submission.json"
    path.write_text(json.dumps(form))
    read = match_replies([asked], read_prompt_replies(path).replies, Exclusions()).replies
    assert [(one.item, one.place, one.text) for one in read] == [
        (name, 0, "one two"),
        (name, 1, "three"),
    ]
