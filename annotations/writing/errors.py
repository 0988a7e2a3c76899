"""Errors of writing and checking problems, by code, with the site's messages."""

from __future__ import annotations

from typing import Final

MESSAGES: Final = {
    "not_published": "Publish the version first: while people write about its questions their "
    "wording must stay.",
    "no_originals": "No question of this version is marked as answerable. Upload questions with "
    "the column answerable, or as a file of word problems.",
    "closed": "The requester has closed the writing: nothing more is taken.",
    "nothing_to_take": "Every question has its problems already.",
    "not_yours_now": "It is not yours to change any more: it is being checked, or was decided.",
    "text_missing": "Write the problem.",
    "text_too_long": "It is too long: at most 5,000 characters.",
    "text_of_the_original": "These are the words of the original, which has an answer. Change it.",
    "text_there_already": "A problem with the same words is there already.",
    "category_missing": "Give the reason why it has no answer.",
    "category_of_answerable": "A problem with an answer has no kind of missing one.",
    "verdict_missing": "Choose whether it can be answered.",
    "decided": "It was decided in the meantime, or taken back by its author.",
    "not_decided": "It is neither being checked nor accepted.",
    "note_missing": "Write why, for its author.",
    "note_too_long": "The note is too long: at most 2,000 characters.",
    "candidate_verdict_missing": "Choose accept, edit or reject.",
    "reason_missing": "Choose the reason of the rejection.",
    "too_few_answers": "Write at least two different answers, one in each line.",
    "answer_too_long": "An answer is too long: at most 500 characters.",
    "too_many_answers": "Too many answers: at most 100.",
    "nothing_changed": "Change the question or its answers, or choose accept.",
    "candidate_decided": "This candidate was decided in the meantime.",
    "candidate_changed": "Another validator edited this candidate. Check the new text.",
    "nothing_accepted": "No accepted candidate is left to add.",
    "candidates_changed": "The accepted candidates changed since the preview. Check it again.",
    "name_missing": "Write a name for the new question set.",
    "name_taken": "A question set of yours has this name. Choose another name.",
}
"""The messages of the site, by code."""


class WritingError(ValueError):
    """Error for a refused action in a writing project; `field` names the invalid input."""

    def __init__(self, code: str, field: str = "") -> None:
        super().__init__(MESSAGES[code])
        self.code = code
        self.field = field
