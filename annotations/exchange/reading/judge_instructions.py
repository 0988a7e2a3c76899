"""Read a table of instructions to the judge, each for one item of the prompts."""

from __future__ import annotations

from dataclasses import dataclass

from annotations.exchange.header import Column
from annotations.exchange.ids import clean_id
from annotations.exchange.problems import Problems
from annotations.exchange.reading.prompts import PromptItem
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.reading.tables import open_table

COLUMNS = (
    Column("item", ("item",), renamed_by=""),
    Column("instruction", ("instruction",), renamed_by=""),
)


@dataclass(frozen=True, slots=True)
class JudgeInstructions:
    """Instructions of a file, by item id; the other items have the common instruction."""

    name: str
    sha256: str
    instructions: dict[str, str]


def read_judge_instructions(file: Readable, items: tuple[PromptItem, ...]) -> JudgeInstructions:
    """Read a table of instructions to the judge: item, instruction.

    Raises
    ------
    InputError
        Every row without an instruction, with an item that the prompts do not have, or with an
        item of an earlier row.
    """
    known = {item.id for item in items}
    problems = Problems(make_source(file).name)
    table = open_table(file, COLUMNS, problems)
    instructions: dict[str, str] = {}
    for line, (item, instruction), _ in table.rows:
        name, text = clean_id(item), instruction.strip()
        if not text:
            problems.add_code(line, "instruction", "change_value_missing", name="instruction")
        if name not in known:
            problems.add_code(line, "item", "instructed_item_unknown", item=name or "(none)")
        elif name in instructions:
            problems.add_code(line, "item", "item_instructed_twice", item=name)
        elif text:
            instructions[name] = text
    problems.raise_if_any()
    return JudgeInstructions(table.name, table.sha256, instructions)
