"""Read judges' scores (0 to 5) of how similar the replies to the same item are."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from annotations.exchange.header import Column
from annotations.exchange.ids import clean_id
from annotations.exchange.model_replies import split_model_reply
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.answers import normalise_text
from annotations.exchange.reading.prompt_replies import SYSTEM
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.reading.tables import open_table

JUDGE = "judge"
HIGHEST = 5.0
COLUMNS = (
    Column("item", ("item",), renamed_by=""),
    Column("system", ("system", "model"), required=False, renamed_by=""),
    Column("language", ("language",), required=False, renamed_by=""),
    Column("judge", ("judge",), required=False, renamed_by=""),
    Column("repeat", ("repeat",), required=False, renamed_by=""),
    Column("score", ("score",), required=False, renamed_by=""),
    Column("judge_reply", ("judge_reply",), required=False, renamed_by=""),
)


@dataclass(frozen=True, slots=True)
class JudgementRow:
    """One judge's score of a system's replies to one item, or the judge's reply that states it.

    Attributes
    ----------
    language : in small letters; "" where the file does not state it: it is of the item as a whole.
    repeat : as written, "1" where the file does not state it.
    score : 0 to 5; None where only `reply`, the judge's own words, can tell, or with the `reason`
        score_above_5 or score_below_0.
    """

    line: int
    item: str
    system: str
    language: str
    judge: str
    repeat: str
    score: float | None
    reply: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class JudgementFile:
    """The similarity judgements of a file, in the order of its rows."""

    name: str
    sha256: str
    judgements: tuple[JudgementRow, ...]
    warnings: list[str] = field(default_factory=list)


def read_judgements(file: Readable) -> JudgementFile:
    """Read a table of similarity judgements: item, score or judge_reply, optional columns.

    The column score has the score, or judge_reply the judge's own words. A row with neither, or
    with a number outside 0 to 5, is a judgement without a score.


    Raises
    ------
    InputError
        Every row without an item, or with a score that is no number; a file without any score
        or judge's reply.
    """
    name = make_source(file).name
    problems = Problems(name)
    table = open_table(file, COLUMNS, problems)
    judgements: list[JudgementRow] = []
    for line, cells, _ in table.rows:
        item, system, language, judge, repeat, raw, reply = cells
        n_problems = problems.total
        if not clean_id(item):
            problems.add_code(line, "item", "row_name_missing", name="item")
        score, reason = _parse_score(problems, line, raw)
        if problems.total == n_problems:
            judgements.append(
                JudgementRow(
                    line,
                    clean_id(item),
                    clean_id(system) or SYSTEM,
                    normalise_text(language).lower(),
                    clean_id(judge) or JUDGE,
                    normalise_text(repeat) or "1",
                    score,
                    split_model_reply(reply).text,
                    reason,
                )
            )
    if not judgements and not problems.total:
        problems.add_code(None, None, "no_judgement")
    problems.raise_if_any()
    if all(
        judgement.score is None and not (judgement.reason or judgement.reply.strip())
        for judgement in judgements
    ):
        raise InputError.from_code(name, "no_score")
    return JudgementFile(table.name, table.sha256, tuple(judgements), list(table.warnings))


def _parse_score(problems: Problems, line: int, raw: str) -> tuple[float | None, str | None]:
    """Return (score, None); (None, reason) outside 0 to 5; (None, None) if it is no number."""
    text = raw.strip()
    if not text:
        return None, None
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    # "nan" is a float to Python, too. Infinity is out of range like any other number.
    if math.isnan(score):
        problems.add_code(line, "score", "score_no_number", cell=text[:40])
        return None, None
    if score > HIGHEST:
        return None, "score_above_5"
    return (score, None) if score >= 0 else (None, "score_below_0")
