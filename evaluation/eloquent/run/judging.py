"""Judging of reply sets: the conversation with a judge model, and reading its score.

A conversation shows all replies of one item, system and language. It has a second turn if the
judge's first reply has no score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotations.exchange.reading.judgements import JudgementRow
from annotations.exchange.reading.prompt_replies import NO_ANSWER
from annotations.exchange.records import AnswerStatus
from evaluation.core.backends.chat.contract import Message
from evaluation.core.text.items import parse_score
from evaluation.eloquent.run.replies import Reply

# Judges named "human" or "human:NAME" are people.
HUMAN = "human"
JUDGE_ERROR, JUDGE_REFUSED = "judge_error", "judge_refused"
SYSTEM = "You compare texts and say how far they agree. You answer in English."
INSTRUCTION = (
    "Say first, in a sentence or two for each point, in what the replies agree and in what they "
    "differ: their content, their advice, what they leave out, how they speak to the reader. "
    "Differences of wording alone do not count."
)
TEMPLATE = """\
Below are {count} replies to one request, which was put in {count} different ways. The ways differ \
in style, words or dialect, and not in what is asked. Do the replies say the same?

{replies}

{instruction} A reply "{no_answer}" means that there was none.

Then close with one line, and write a number in place of the X, from 0 (they have nothing in \
common) to 5 (they say the same):
Similarity score: X"""
# Template that a journal of requests stores: its hash tells whether requests can continue.
STORED_TEMPLATE = TEMPLATE.replace("{instruction}", INSTRUCTION)
AGAIN = """\
There is no score in your answer that could be read. Write one line and nothing else, with one \
number from 0 to 5 in place of the X:
Similarity score: X"""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One score by one judge for one set of replies.

    Attributes
    ----------
    language : "" for a judgement of the whole item.
    score : 0 to 5; None with a `reason`.
    reason : one of `read_score`, no_judge_reply, score_above_5, score_below_0, or the failure of
        the request; None with a score.
    notes : text of the judge before its score.
    reply : the whole text of the judge.
    n_asked : number of requests: 2 after a first reply without a score, 0 for judgements of files.
    line : line in the file; None for judgements of a run.
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
        """Whether the judge is a person."""
        return is_human_judge(self.judge)


def is_human_judge(judge: str) -> bool:
    """Return whether a judge's name denotes a person, such as "human" or "human:rana"."""
    name = judge.casefold()
    return name == HUMAN or name.startswith(f"{HUMAN}:")


def build_judge_question(replies: Sequence[Reply], instruction: str = "") -> tuple[Message, ...]:
    """Return the messages that ask a judge to score replies; empty ones read "[no answer]".

    `instruction` replaces the common instruction, as for items 02 and 03 of the paper.
    """
    listing = "\n\n".join(
        f"Reply {number}:\n{reply.text.strip() if reply.answered else NO_ANSWER}"
        for number, reply in enumerate(replies, 1)
    )
    content = TEMPLATE.format(
        count=len(replies),
        replies=listing,
        instruction=instruction or INSTRUCTION,
        no_answer=NO_ANSWER,
    )
    return ({"role": "system", "content": SYSTEM}, {"role": "user", "content": content})


def build_second_judge_question(
    replies: Sequence[Reply], first: str, instruction: str = ""
) -> tuple[Message, ...]:
    """Return the messages that ask a judge again, after its reply `first` without a score."""
    return (
        *build_judge_question(replies, instruction),
        {"role": "assistant", "content": first},
        {"role": "user", "content": AGAIN},
    )


def build_judgement(
    key: tuple[str, str, str], judge: str, sample: int, replies: Sequence[tuple[str, AnswerStatus]]
) -> Judgement:
    """Return the judgement read from a judge's one or two replies.

    The score is read from the last reply, the notes from the first.

    Parameters
    ----------
    key : system, item and language.
    sample : number of the repeat, from 0.
    replies : text and status of each reply.
    """
    system, item, language = key
    (first, _), (last, status) = replies[0], replies[-1]
    read = parse_score(last)
    score, reason = read.score, read.reason
    if status is AnswerStatus.ERROR:
        score, reason = None, JUDGE_ERROR
    elif status.is_refusal:
        score, reason = None, JUDGE_REFUSED
    elif status is AnswerStatus.CUT_OFF:
        score, reason = None, status.value
    return Judgement(
        *(item, system, language, judge, str(sample + 1), score, reason),
        parse_score(first).notes,
        "\n\n".join(text for text, _ in replies if text),
        len(replies),
    )


def read_judgement(row: JudgementRow) -> Judgement:
    """Return the judgement in a file's row: its score, or that in the judge's reply."""
    score, reason, notes = row.score, row.reason, row.reply.strip()
    if row.reply.strip():
        read = parse_score(row.reply)
        notes = read.notes
        if score is None and reason is None:
            score, reason = read.score, read.reason
    elif score is None and reason is None:
        reason = "no_judge_reply"
    return Judgement(
        row.item,
        row.system,
        row.language,
        row.judge,
        row.repeat,
        score,
        reason,
        notes,
        row.reply,
        line=row.line,
    )
