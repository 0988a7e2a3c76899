"""What a judge is asked of a set of replies, and what its words say.

One conversation for each item, system and language, with all replies; one more turn where the
first reply has no score (methods, ELOQUENT).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotations.exchange.reading.judgements import GivenJudgement
from annotations.exchange.reading.prompt_replies import NO_ANSWER
from annotations.exchange.records import AnswerStatus
from evaluation.backends.chat.contract import Message
from evaluation.flow.eloquent.matching import Reply
from evaluation.texts.similarity_scores import read_score

# A judge of this name, or of this name with a colon behind it, is a person.
HUMAN = "human"
JUDGE_ERROR, JUDGE_REFUSED = "judge_error", "judge_refused"
SYSTEM = "You compare texts and say how far they agree. You answer in English."
TEMPLATE = """\
Below are {count} replies to one request, which was put in {count} different ways. The ways differ \
in style, words or dialect, and not in what is asked. Do the replies say the same?

{replies}

Say first, in a sentence or two for each point, in what the replies agree and in what they differ: \
their content, their advice, what they leave out, how they speak to the reader. Differences of \
wording alone do not count. A reply "{no_answer}" means that there was none.

Then close with one line, and write a number in place of the X, from 0 (they have nothing in \
common) to 5 (they say the same):
Similarity score: X"""
AGAIN = """\
There is no score in your answer that could be read. Write one line and nothing else, with one \
number from 0 to 5 in place of the X:
Similarity score: X"""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judge said of one set of replies, once.

    Attributes
    ----------
    language : "" for an item as a whole.
    score : 0 to 5; None with the `reason`: those of `read_score`, no_judge_reply, score_above_5,
        score_below_0, or why the judge could not be asked.
    notes : the judge's words before its score. reply : all of them.
    n_asked : how often it was asked: 2 after a reply without a score, 0 for one of a file.
    """

    item: str
    system: str
    language: str
    judge: str
    repeat: str
    score: float | None
    reason: str | None
    notes: str = ""
    reply: str = ""
    n_asked: int = 0
    line: int | None = None

    @property
    def by_human(self) -> bool:
        """Whether a person judged."""
        return is_human(self.judge)


def is_human(judge: str) -> bool:
    """Return whether a judge of this name is a person: "human", "human:rana"."""
    name = judge.casefold()
    return name == HUMAN or name.startswith(f"{HUMAN}:")


def question_of(replies: Sequence[Reply]) -> tuple[Message, ...]:
    """Return the conversation about a set; replies that are no answer say "[no answer]"."""
    shown = "\n\n".join(
        f"Reply {number}:\n{reply.text.strip() if reply.answered else NO_ANSWER}"
        for number, reply in enumerate(replies, 1)
    )
    content = TEMPLATE.format(count=len(replies), replies=shown, no_answer=NO_ANSWER)
    return ({"role": "system", "content": SYSTEM}, {"role": "user", "content": content})


def question_again(replies: Sequence[Reply], first: str) -> tuple[Message, ...]:
    """Return the conversation with the judge's first reply and the request for a score alone."""
    return (
        *question_of(replies),
        {"role": "assistant", "content": first},
        {"role": "user", "content": AGAIN},
    )


def judged(
    key: tuple[str, str, str], judge: str, sample: int, said: Sequence[tuple[str, AnswerStatus]]
) -> Judgement:
    """Return a judgement out of a judge's first reply and, if it was asked again, its second.

    `key` is system, item and language; `said` is text and status of each reply. The last reply
    tells the score, the first one the notes.
    """
    system, item, language = key
    (first, _), (last, status) = said[0], said[-1]
    read = read_score(last)
    score, reason = read.score, read.reason
    if status is AnswerStatus.ERROR:
        score, reason = None, JUDGE_ERROR
    elif status.is_refusal:
        score, reason = None, JUDGE_REFUSED
    elif status is AnswerStatus.CUT_OFF:
        score, reason = None, status.value
    return Judgement(
        *(item, system, language, judge, str(sample + 1), score, reason),
        read_score(first).notes,
        "\n\n".join(text for text, _ in said if text),
        len(said),
    )


def of_file(given: GivenJudgement) -> Judgement:
    """Return a judgement of a file: its score, or what the judge's words say."""
    score, reason, notes = given.score, given.reason, given.reply.strip()
    if given.reply.strip():
        read = read_score(given.reply)
        notes = read.notes
        if score is None and reason is None:
            score, reason = read.score, read.reason
    elif score is None and reason is None:
        reason = "no_judge_reply"
    return Judgement(
        given.item,
        given.system,
        given.language,
        given.judge,
        given.repeat,
        score,
        reason,
        notes,
        given.reply,
        line=given.line,
    )
