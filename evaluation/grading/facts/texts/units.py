"""Units of measures, the rates they refer to, and words that make a number approximate.

Units of measures: their dimension, and factor to the dimension's base unit. Rates: the unit that a
measure refers to, as in "a year", "per kilometre", "daily". Words that make a number approximate or
a bound: about, at least, at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evaluation.grading.facts.texts.numbers import Token


class Unit(NamedTuple):
    """A unit of measure: dimension, factor to the base unit, symbol and offset.

    Attributes
    ----------
    dimension : such as "length". factor : number of base units in one unit.
    symbol : text after a displayed value. offset : for temperatures: base = (value + offset) *
        factor.
    """

    dimension: str
    factor: float
    symbol: str
    offset: float = 0.0

    @property
    def singular(self) -> str:
        """The unit's name in the singular, such as "year" for "years"."""
        return _SINGULAR.get(self.symbol, self.symbol)

    def convert_to_base(self, value: float) -> float:
        """Return a value in this unit as a value in the base unit of the dimension."""
        return (value + self.offset) * self.factor


DURATION, SHARE, TIME_OF_DAY = "duration", "share", "time of day"
_HOUR, _DAY = 3600.0, 86400.0
_YEAR = 365.25 * _DAY

# Dimension: base factor, symbol, words in lower case; a word is told with and without plural s.
_WORDS: dict[str, tuple[tuple[float, str, str], ...]] = {
    DURATION: (
        (1e-9, "ns", "nanosecond ns"),
        (1e-6, "µs", "microsecond µs μs"),
        (1e-3, "ms", "millisecond ms msec"),
        (1.0, "s", "second sec"),
        (60.0, "min", "minute min"),
        (_HOUR, "h", "hour hr"),
        (_DAY, "days", "day"),
        (7 * _DAY, "weeks", "week"),
        (14 * _DAY, "fortnights", "fortnight"),
        (_YEAR / 12, "months", "month"),
        (_YEAR, "years", "year yr"),
        (10 * _YEAR, "decades", "decade"),
        (100 * _YEAR, "centuries", "century centuries"),
        (1000 * _YEAR, "millennia", "millennium millennia"),
    ),
    "length": (
        (1e-9, "nm", "nanometre nanometer nm"),
        (1e-6, "µm", "micrometre micrometer micron µm μm"),
        (1e-3, "mm", "millimetre millimeter mm"),
        (1e-2, "cm", "centimetre centimeter cm"),
        (1.0, "m", "metre meter"),
        (1e3, "km", "kilometre kilometer km"),
        (0.0254, "in", "inch inches"),
        (0.3048, "ft", "foot feet ft"),
        (0.9144, "yd", "yard yd"),
        (1609.344, "miles", "mile mi"),
        (1852.0, "nautical miles", "nmi"),
        (1.495978707e11, "au", "au"),
        (9.4607e15, "light-years", "lightyear ly"),
    ),
    "mass": (
        (1e-6, "mg", "milligram mg"),
        (1e-3, "g", "gram gramme"),
        (1.0, "kg", "kilogram kilo kg"),
        (1e3, "t", "ton tonne"),
        (0.45359237, "lb", "lb lbs"),
        (0.028349523, "oz", "ounce oz"),
    ),
    "volume": (
        (1e-3, "ml", "millilitre milliliter ml"),
        (1e-2, "cl", "centilitre centiliter cl"),
        (1.0, "l", "litre liter ltr"),
        (3.785411784, "gallons", "gallon gal"),
        (0.473176473, "pints", "pint"),
    ),
    "area": ((1e4, "ha", "hectare ha"), (4046.8564224, "acres", "acre")),
    "dollars": (
        (1.0, "dollars", "dollar usd buck"),
        (0.01, "cents", "cent"),
    ),
    "euros": ((1.0, "euros", "euro eur"),),
    "pounds": ((1.0, "pounds", "pound gbp quid"), (0.01, "pence", "pence penny")),
    "yen": ((1.0, "yen", "yen"),),
    "rupees": ((1.0, "rupees", "rupee inr"),),
    "francs": ((1.0, "francs", "franc chf"),),
    "energy": (
        (1.0, "J", "joule"),
        (1e3, "kJ", "kilojoule kj"),
        # In everyday words a calorie is a kilocalorie.
        (4184.0, "kcal", "kcal kilocalorie calorie"),
        (3.6e6, "kWh", "kwh"),
    ),
    "power": (
        (1.0, "W", "watt"),
        (1e3, "kW", "kilowatt kw"),
        (1e6, "MW", "megawatt mw"),
        (1e9, "GW", "gigawatt gw"),
        (735.5, "hp", "horsepower hp"),
    ),
    "voltage": ((1.0, "V", "volt"), (1e-3, "mV", "millivolt mv"), (1e3, "kV", "kilovolt kv")),
    "current": ((1.0, "A", "ampere amp"), (1e-3, "mA", "milliampere milliamp ma")),
    "resistance": ((1.0, "ohm", "ohm"),),
    "frequency": (
        (1.0, "Hz", "hertz hz"),
        (1e3, "kHz", "kilohertz khz"),
        (1e6, "MHz", "megahertz mhz"),
        (1e9, "GHz", "gigahertz ghz"),
    ),
    "data": (
        (0.125, "bits", "bit"),
        (1.0, "bytes", "byte"),
        (1e3, "kB", "kilobyte kb"),
        (1e6, "MB", "megabyte mb"),
        (1e9, "GB", "gigabyte gb gig"),
        (1e12, "TB", "terabyte tb"),
    ),
    "pressure": (
        (1.0, "Pa", "pascal"),
        (100.0, "hPa", "hpa hectopascal millibar mbar"),
        (1e5, "bar", "bar"),
        (101325.0, "atm", "atm atmosphere"),
        (6894.757, "psi", "psi"),
    ),
    SHARE: ((0.01, "%", "percent percentage"),),
    "degrees": ((1.0, "degrees", "degree deg"),),
}
_SPEED = {"mph": (0.44704, "mph"), "kph": (1 / 3.6, "km/h"), "kmh": (1 / 3.6, "km/h")}
SPEED = f"length per {DURATION}"

BY_WORD: dict[str, Unit] = {}
for _dimension, _units in _WORDS.items():
    for _factor, _symbol, _names in _units:
        for _name in _names.split():
            _unit = Unit(_dimension, _factor, _symbol)
            BY_WORD[_name] = _unit
            BY_WORD.setdefault(f"{_name}s", _unit)
BY_WORD |= {word: Unit(SPEED, *of) for word, of in _SPEED.items()}
BY_WORD |= {
    "celsius": Unit("temperature", 1.0, "°C", 273.15),
    "centigrade": Unit("temperature", 1.0, "°C", 273.15),
    "fahrenheit": Unit("temperature", 5 / 9, "°F", 459.67),
    "kelvin": Unit("temperature", 1.0, "K"),
    "kelvins": Unit("temperature", 1.0, "K"),
}

_SINGULAR = {
    unit.symbol: unit.symbol[:-1]
    for unit in BY_WORD.values()
    if len(unit.symbol) > 3 and unit.symbol.endswith("s")
} | {"centuries": "century", "millennia": "millennium"}

# Single letters and signs: only right after a figure, in this case.
_SYMBOLS = {
    "m": BY_WORD["metre"],
    "g": BY_WORD["gram"],
    "t": BY_WORD["ton"],
    "l": BY_WORD["litre"],
    "L": BY_WORD["litre"],
    "h": BY_WORD["hour"],
    "s": BY_WORD["second"],
    "d": BY_WORD["day"],
    "y": BY_WORD["year"],
    "V": BY_WORD["volt"],
    "v": BY_WORD["volt"],
    "W": BY_WORD["watt"],
    "A": BY_WORD["ampere"],
    "J": BY_WORD["joule"],
    "K": BY_WORD["kelvin"],
    "C": BY_WORD["celsius"],
    "F": BY_WORD["fahrenheit"],
    "B": BY_WORD["byte"],
    "%": BY_WORD["percent"],
    "°": BY_WORD["degree"],
    "Ω": BY_WORD["ohm"],
    "€": BY_WORD["euro"],
    "$": BY_WORD["dollar"],
    "£": BY_WORD["pound"],
    "¥": BY_WORD["yen"],
    "₹": BY_WORD["rupee"],
}
CURRENCIES = {sign: _SYMBOLS[sign] for sign in "€$£¥₹"}
# What is added to a unit when a number without one follows: 12 h 25, 6 metres 80, 5 ft 10.
SUBUNITS = {
    "h": BY_WORD["minute"],
    "min": BY_WORD["second"],
    "m": BY_WORD["centimetre"],
    "ft": BY_WORD["inch"],
    "euros": Unit("euros", 0.01, "cents"),
    "dollars": BY_WORD["cent"],
    "pounds": BY_WORD["penny"],
}
_LIGHT = frozenset(("year", "years"))


def parse_unit(tokens: Sequence[Token], position: int) -> tuple[Unit, int] | None:
    """Return the unit that begins at a token, and the index after it; None without a unit."""
    if position >= len(tokens):
        return None
    token = tokens[position]
    after = tokens[position + 1].lower if position + 1 < len(tokens) else ""
    if token.text == "-" and token.glued and after in BY_WORD:
        return parse_unit(tokens, position + 1)  # a 12-hour cycle
    if token.lower in ("square", "sq", "cubic") and after in BY_WORD:
        return _build_power_unit(BY_WORD[after], token.lower), position + 2
    if token.lower == "light" and after and after != "-":
        return (BY_WORD["ly"], position + 2) if after in _LIGHT else None
    if token.lower == "per" and after == "cent":
        return BY_WORD["percent"], position + 2
    if token.text in ("°", "º") or token.lower in ("degree", "degrees"):
        return _parse_degrees(tokens, position)
    unit = BY_WORD.get(token.lower) or _SYMBOLS.get(token.text)
    if unit is None:
        return None
    return _parse_power(tokens, unit, position + 1)


def _parse_degrees(tokens: Sequence[Token], position: int) -> tuple[Unit, int]:
    """Return the unit of a degree sign or word (temperature or angle), and the index after it."""
    after = tokens[position + 1] if position + 1 < len(tokens) else None
    if after is not None:
        unit = BY_WORD.get(after.lower) or _SYMBOLS.get(after.text)
        if unit is not None and unit.dimension == "temperature":
            return unit, position + 2
    return BY_WORD["degree"], position + 1


def _parse_power(tokens: Sequence[Token], unit: Unit, position: int) -> tuple[Unit, int]:
    """Return a length unit with its exponent, as in "km²" or "m2", and the index after it."""
    if unit.dimension == "length" and position < len(tokens) and tokens[position].glued:
        if tokens[position].text in ("2", "²"):
            return _build_power_unit(unit, "square"), position + 1
        if tokens[position].text in ("3", "³"):
            return _build_power_unit(unit, "cubic"), position + 1
    return unit, position


def _build_power_unit(unit: Unit, word: str) -> Unit:
    """Return the square or cubic unit of a length; other units unchanged."""
    if unit.dimension != "length":
        return unit
    if word == "cubic":
        # The base unit of a volume is the litre; a cubic metre has 1,000.
        return Unit("volume", unit.factor**3 * 1000.0, f"{unit.symbol}³")
    return Unit("area", unit.factor**2, f"{unit.symbol}²")


_BY = frozenset(("a", "an", "per", "each", "every"))
_ADVERBS = {
    "daily": "day",
    "hourly": "hour",
    "weekly": "week",
    "monthly": "month",
    "yearly": "year",
    "annually": "year",
    "annual": "year",
}


class Rate(NamedTuple):
    """The unit per which a measure is stated ("per year"), with its first and last tokens."""

    unit: Unit
    begin: int
    end: int


def parse_rate(tokens: Sequence[Token], position: int) -> Rate | None:
    """Return the rate at a token directly after a measure ("a year", "/h"); None without one."""
    if position >= len(tokens):
        return None
    word = tokens[position].lower
    if word in _BY or tokens[position].text == "/":
        unit = parse_unit(tokens, position + 1)
        if unit is not None:
            return Rate(unit[0], position, unit[1])
    return None


def find_rate(tokens: Sequence[Token], begin: int, end: int) -> Rate | None:
    """Return the rate that tokens name ("each century", "daily"); None without one.

    "Every 20 minutes" is itself a measure; "a year" is a rate only directly after a measure.
    """
    for index in range(begin, end):
        word = tokens[index].lower
        if word in _ADVERBS:
            return Rate(BY_WORD[_ADVERBS[word]], index, index + 1)
        if word in ("each", "every", "per") and index + 1 < end:
            unit = BY_WORD.get(tokens[index + 1].lower)
            if unit is not None and unit.dimension == DURATION:
                return Rate(unit, index, index + 2)
    return None


AT_MOST, EXACT, AT_LEAST = -1, 0, 1

_ABOUT = frozenset(
    [
        "about",
        "around",
        "approximately",
        "approx",
        "roughly",
        "circa",
        "ca",
        "c",
        "nearly",
        "almost",
        "~",
        "≈",
        "some",
        "estimated",
    ]
)
_ABOUT_AFTER = frozenset(("or so", "give or", "plus or", "ish"))
_PHRASES: dict[tuple[str, ...], int] = {
    ("at", "least"): AT_LEAST,
    ("more", "than"): AT_LEAST,
    ("greater", "than"): AT_LEAST,
    ("longer", "than"): AT_LEAST,
    ("shorter", "than"): AT_MOST,
    ("no", "shorter", "than"): AT_LEAST,
    ("no", "less", "than"): AT_LEAST,
    ("not", "less", "than"): AT_LEAST,
    ("no", "fewer", "than"): AT_LEAST,
    ("no", "more", "than"): AT_MOST,
    ("not", "more", "than"): AT_MOST,
    ("never", "more", "than"): AT_MOST,
    ("no", "longer", "than"): AT_MOST,
    ("at", "most"): AT_MOST,
    ("less", "than"): AT_MOST,
    ("fewer", "than"): AT_MOST,
    ("up", "to"): AT_MOST,
    ("over",): AT_LEAST,
    ("above",): AT_LEAST,
    ("exceeding",): AT_LEAST,
    ("minimum",): AT_LEAST,
    ("minimum", "of"): AT_LEAST,
    (">",): AT_LEAST,
    ("≥",): AT_LEAST,
    ("under",): AT_MOST,
    ("below",): AT_MOST,
    ("within",): AT_MOST,
    ("maximum",): AT_MOST,
    ("maximum", "of"): AT_MOST,
    ("<",): AT_MOST,
    ("≤",): AT_MOST,
}
_AFTER: dict[tuple[str, ...], int] = {
    ("or", "more"): AT_LEAST,
    ("or", "over"): AT_LEAST,
    ("or", "less"): AT_MOST,
    ("or", "fewer"): AT_MOST,
    ("at", "least"): AT_LEAST,
    ("at", "most"): AT_MOST,
    ("+",): AT_LEAST,
}


def is_approximate(tokens: Sequence[Token], position: int, end: int) -> bool:
    """Return whether the number in these tokens is approximate, as in "about 5"."""
    before = [token.lower for token in tokens[max(0, position - 2) : position]]
    if any(word in _ABOUT for word in before):
        return True
    return " ".join(token.lower for token in tokens[end : end + 2]) in _ABOUT_AFTER


def find_bound(tokens: Sequence[Token], position: int, end: int) -> int:
    """Return the bound of the number in these tokens: -1 at most, 1 at least, 0 exact."""
    before = [token.lower for token in tokens[max(0, position - 3) : position]]
    # The longest phrase first: "no more than" ends in "more than", its opposite.
    for length in (3, 2, 1):
        bound = _PHRASES.get(tuple(before[-length:])) if len(before) >= length else None
        if bound is not None:
            return bound
    for length in (2, 1):
        bound = _AFTER.get(tuple(token.lower for token in tokens[end : end + length]))
        if bound is not None and (length > 1 or tokens[end].glued):
            return bound
    return EXACT
