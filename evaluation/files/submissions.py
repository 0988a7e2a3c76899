"""Replies to prompts in the submission form of ELOQUENT 2025, a form a system and language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from annotations.exchange.reading.prompt_replies import NO_ANSWER
from evaluation.flow.eloquent.matching import Reply

LABEL = "eloquent-2025-robustness"


@dataclass(frozen=True)
class Submitter:
    """What a submission says of itself beside system and language."""

    team: str = ""
    submissionid: str = "1"
    date: str = ""
    label: str = LABEL


def submissions(replies: Sequence[Reply], submitter: Submitter) -> Iterator[dict[str, Any]]:
    """Yield {team, system, submissionid, language, date, label, questions}.

    An entry of `questions` is a conversation about one wording: questionid is the item's id, as a
    number where it is written as one ("12", not "012"), `turns` hold the prompt as it was put and
    each follow-up, with their answers. No answer is "[no answer]"; what could not be fetched is
    left out. `read_prompt_replies` and `matched` give the same replies again.
    """
    for system, language in dict.fromkeys((one.system, one.language) for one in replies):
        own = [
            one
            for one in replies
            if (one.system, one.language) == (system, language) and not one.status.is_missing
        ]
        yield {
            "team": submitter.team,
            "system": system,
            "submissionid": submitter.submissionid,
            "language": language,
            "date": submitter.date,
            "label": submitter.label,
            "questions": [
                {
                    "questionid": _question_id(one.item),
                    "turns": [
                        {"question": turn.question, "answer": turn.answer or NO_ANSWER}
                        for turn in one.turns
                    ],
                }
                for one in own
            ],
        }


def _question_id(item: str) -> int | str:
    """Return the id of an item as the lab has it: the number of a question, or a text."""
    is_number = item.isascii() and item.isdecimal() and str(int(item)) == item
    return int(item) if is_number else item


def file_name(form: dict[str, Any]) -> str:
    """Return the name of a form's file, such as submission_small_en.json."""
    parts = [re.sub(r"[^\w.-]+", "-", str(form[name]))[:60] for name in ("system", "language")]
    return f"submission_{'_'.join(parts)}.json"
