"""Read a table of language models: name, size, tuning, family."""

from __future__ import annotations

import re
from dataclasses import dataclass

from annotations.exchange.header import Column
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import normalise_text
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.reading.tables import open_table

_SIZE = re.compile(
    r"(?:(?P<experts>\d+)\s*[x×]\s*)?(?P<number>\d+(?:\.\d+)?(?:e\+?\d+)?)\s*"
    r"(?P<unit>k|m|b|t|thousand|million|billion|trillion)?(?:\s*param(?:eter)?s?)?",
    re.IGNORECASE,
)
_TIMES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}


@dataclass(frozen=True, slots=True)
class System:
    """A language model; `size` is as written, `parameters` its number or None if unknown."""

    name: str
    size: str
    parameters: float | None
    tuning: str
    family: str


@dataclass(frozen=True, slots=True)
class SystemsFile:
    """The language models of a file by name, in the order of the file."""

    name: str
    sha256: str
    systems: dict[str, System]
    warnings: tuple[str, ...]


def parse_parameters(size: str) -> float | None:
    """Return the number of parameters in a size such as 135M or 8x7B; None for other text."""
    match = _SIZE.fullmatch(size.replace(",", "").strip())
    if match is None:
        return None
    factor = _TIMES[match["unit"][0].lower()] if match["unit"] else 1.0
    # The size of a mixture of experts, such as 8x7B, counts as the product.
    number = float(match["number"]) * factor * int(match["experts"] or 1)
    # "1e999" is a float to Python, and infinite.
    return number if 0 < number < float("inf") else None


def read_systems(path: Readable) -> SystemsFile:
    """Read a table of language models from a CSV, TSV, JSON Lines or XLSX file.

    Columns: `system` (or `model`); `size`, `tuning` and `family` may be absent or empty.

    Raises
    ------
    InputError
        A system without a name, or twice; a size without a number.
    """
    columns = (
        Column("system", ("system", "model")),
        Column("size", ("size",), required=False),
        Column("tuning", ("tuning",), required=False),
        Column("family", ("family",), required=False),
    )
    problems = Problems(make_source(path).name)
    table = open_table(path, columns, problems)
    systems: dict[str, System] = {}
    for line, cells, _ in table.rows:
        name, size, tuning, family = map(normalise_text, cells)
        parameters = parse_parameters(size) if size else None
        if not name:
            problems.add_code(line, "system", "system_missing")
        elif name in systems:
            problems.add_code(line, "system", "system_twice", name=name[:60])
        elif size and parameters is None:
            problems.add_code(line, "size", "size_unreadable", size=size[:40])
        else:
            systems[name] = System(name, size, parameters, tuning, family)
    if not systems and not problems.total:
        problems.add_code(None, None, "no_rows", what="systems")
    problems.raise_if_any()
    return SystemsFile(table.name, table.sha256, systems, tuple(table.warnings))
