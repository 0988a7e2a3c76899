"""Read exports of oTree: all apps (one row per participant) or one app (one row per round)."""

from __future__ import annotations

import re

from annotations.exchange.column_names import is_remark_heading, normalise_name
from annotations.exchange.presets.columns import is_constant_by_question
from annotations.exchange.presets.experiments import find_free_text_columns
from annotations.exchange.presets.mapping import Mapping
from annotations.exchange.presets.preset import Row
from annotations.exchange.presets.table import Head

NEVER_BEGAN = "participants who never began"
BOTS = "participants who are bots"


def is_otree_export(head: Head) -> bool:
    """Return whether the columns are those of an oTree export, of all apps or of one."""
    return "participant.code" in head.header


def propose_otree_mapping(head: Head) -> Mapping:
    """Return the column mapping of an oTree export; no answers if no player field has text.

    In the file of one app each round is a row: the text that is shown in it is the wording, or,
    where each participant has another order, the question.
    """
    label = "participant.label"
    labels, codes = head.get_values(label), head.get_values("participant.code")
    worker = label if len(labels) == len(codes) and len(labels) > 0 else "participant.code"
    fields = [
        name
        for name in head.header
        if re.search(r"(^|\.\d+\.)player\.", name)
        and not name.endswith((".id_in_group", ".role", ".payoff"))
        and not is_remark_heading(name)
    ]
    rounds = "subsession.round_number"
    question = rounds if len(set(head.get_values(rounds))) > 1 else ""
    written = find_free_text_columns(head, fields)
    if not question:
        shown = [name for name in written if len(set(head.get_values(name))) == 1]
        return Mapping(worker, "", tuple(name for name in written if name not in shown) or written)
    shown = [name for name in written if is_constant_by_question(head, question, name)]
    texts = [name for name in written if name not in shown]
    asked = next((name for name in texts if _identifies_each_round(head, worker, name)), "")
    if not shown and asked and len(texts) > 1:
        return Mapping(worker, asked, tuple(name for name in texts if name != asked))
    return Mapping(worker, question, tuple(texts) or written, shown[0] if texts and shown else "")


def _identifies_each_round(head: Head, worker: str, column: str) -> bool:
    """Return whether a column's texts identify the rounds: each occurs once per participant."""
    pairs = list(zip(head.get_cells(worker), head.get_cells(column), strict=True))
    texts = {text for _, text in pairs}
    return "" not in texts and len(set(pairs)) == len(pairs) and 2 * len(texts) <= len(pairs)


def find_otree_exclusion_reason(row: Row) -> str:
    """Return why an oTree row is not read (a bot, or a place without participant); "" if read."""
    if row.get(normalise_name("participant._is_bot"), "").strip().casefold() in ("1", "true"):
        return BOTS
    place = row.get(normalise_name("participant._index_in_pages"), "")
    return NEVER_BEGAN if place.strip() == "0" else ""
