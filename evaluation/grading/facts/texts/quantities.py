"""Parse the quantities in a text: measures, counts, years and months."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.grading.facts.texts.numbers import (
    FIGURE,
    MARK,
    ORDINALS,
    WORD,
    WORDS,
    Number,
    Token,
    Year,
    is_year,
    parse_century,
    parse_month,
    parse_number,
    parse_year,
)
from evaluation.grading.facts.texts.units import (
    BY_WORD,
    CURRENCIES,
    EXACT,
    SUBUNITS,
    TIME_OF_DAY,
    Rate,
    Unit,
    find_bound,
    is_approximate,
    parse_rate,
    parse_unit,
)

# A number behind one of these names a thing and counts nothing: terminal 1, chapter 5.
_LABELS_WORDS = (
    "answer appendix article battery block box bulb bus case channel chapter "
    "circuit class column diagram example exercise exhibit figure fig gate grade "
    "graph group item layer letter level lamp line model no node number option "
    "page panel paragraph part phase picture plate platform point port problem q "
    "question resistor room route row rule scenario section slide stage step "
    "switch table task terminal terminals track type unit version volume week zone"
)
_LABELS = frozenset(_LABELS_WORDS.split())
_ORDINAL_ENDS = frozenset(("st", "nd", "rd", "th"))
_JOINED = frozenset("[_^#@\\{<")
_OPERATORS = frozenset("+-*/=^–−×")
_PLURALS = frozenset(("people", "men", "women", "children", "mice", "geese", "teeth", "oxen"))
_STARTS = WORDS | {"a", "an", "half", "quarter", "between"} | ORDINALS


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number or range in a text with its unit, rate and bound.

    Attributes
    ----------
    low, high : value, or ends of a range, in `unit`; a count has no unit. place : last significant
        place, such as 100 or .1. about, bound : see `units`. unit : None for a count. rate : unit
        of reference ("per year"), or None. begin, end : first token, and the token after the last.
        shown : value as text. noun : the counted noun, "" without one.
    """

    low: float
    high: float
    place: float
    about: bool
    bound: int
    unit: Unit | None
    rate: Rate | None
    begin: int
    end: int
    shown: str
    noun: str = ""


@dataclass(frozen=True, slots=True)
class DateInText:
    """A year, range of years or month (as low and high, 1 to 12) in a text, with its position."""

    slot: str
    low: int
    high: int
    about: bool
    bound: int
    begin: int
    end: int
    shown: str


def parse_quantities(tokens: Sequence[Token], counts: bool) -> Iterator[Quantity | DateInText]:
    """Yield the quantities and dates in a text, in their order.

    Parameters
    ----------
    counts : whether the question asks for a number, so that 1500 is a number and no year.
    """
    position, n_list_marks = 0, 0
    while position < len(tokens):
        token = tokens[position]
        if token.kind == WORD and token.lower not in _STARTS:
            month = parse_month(tokens, position)
            if month is not None:
                yield DateInText(
                    "month", month, month, False, EXACT, position, position + 1, token.text
                )
            position += 1
            continue
        century = parse_century(tokens, position)
        if century is not None:
            yield _build_date(tokens, position, century)
            position = century.end
            continue
        if token.kind == FIGURE:
            # Marks count up from 1: another figure with a full stop is a number.
            if token.text == str(n_list_marks + 1) and _is_list_mark(
                tokens, position, n_list_marks
            ):
                n_list_marks, position = n_list_marks + 1, position + 2
                continue
            after_code = _skip_code(tokens, position)
            if after_code > position:
                position = after_code
                continue
        quantity = _parse_quantity(tokens, position, counts)
        if quantity is None:
            position += 1
            continue
        yield quantity
        position = quantity.end


def format_number(value: float) -> str:
    """Format a number with thousands separators and at most 10 significant digits."""
    return f"{value:,.10g}"


def _build_date(tokens: Sequence[Token], position: int, year: Year) -> DateInText:
    """Return a parsed year as a date, with its bound and whether it is approximate."""
    end = year.end
    about, bound = is_approximate(tokens, position, end), find_bound(tokens, position, end)
    return DateInText("year", year.low, year.high, about, bound, position, end, year.shown)


def _is_list_mark(tokens: Sequence[Token], position: int, mark: int) -> bool:
    """Return whether a figure numbers a list item, as in "1. ..." or "2) ..."."""
    return (
        position + 2 < len(tokens)
        and tokens[position + 1].text in (".", ")")
        and tokens[position + 1].glued
        and not tokens[position + 2].glued
        and tokens[position + 2].kind != FIGURE
        and (
            position == 0
            or mark > 0
            or tokens[position - 1].kind == MARK
            or tokens[position - 1].end + 1 < tokens[position].start
        )
    )


def _skip_code(tokens: Sequence[Token], position: int) -> int:
    """Return the index after a figure that is not a quantity, such as H2O or a date.

    For a number, `position` itself.
    """
    token = tokens[position]
    before = tokens[position - 1] if position else None
    after = (
        tokens[position + 1] if position + 1 < len(tokens) and tokens[position + 1].glued else None
    )
    if before is not None and token.glued:
        if before.text in _JOINED or (before.kind == WORD and before.lower not in BY_WORD):
            return position + 1
        if before.text in _OPERATORS and position > 1 and before.glued:
            # k+1, COVID-19; behind a figure ranges have been read already, and the year of a date
            # stands last.
            return (
                position
                if is_year(token.text) and tokens[position - 2].kind == FIGURE
                else position + 1
            )
    if before is not None and before.lower in _LABELS:
        return position + 1
    if after is not None:
        beyond = (
            tokens[position + 2]
            if position + 2 < len(tokens) and tokens[position + 2].glued
            else None
        )
        if after.text == "]" or after.lower in _ORDINAL_ENDS:
            return position + 2
        if after.text in "*=^+×" and beyond is not None:
            return position + 3
        if after.text in "/.-" and beyond is not None and beyond.kind == FIGURE:
            return position if is_year(token.text) else _skip_date(tokens, position)
        if after.kind == WORD and _is_foreign_suffix(tokens, position + 1):
            return position + 2
    if _is_day(tokens, position):
        return position + 1
    return position


def _is_day(tokens: Sequence[Token], position: int) -> bool:
    """Return whether a figure is the day of a month, as in "12 May" or "May 12"."""
    if not tokens[position].text.isdecimal() or len(tokens[position].text) > 2:
        return False
    if (
        position
        and tokens[position - 1].kind == WORD
        and parse_month(tokens, position - 1) is not None
    ):
        return True
    return position + 1 < len(tokens) and parse_month(tokens, position + 1) is not None


def _is_foreign_suffix(tokens: Sequence[Token], position: int) -> bool:
    """Return whether a word attached to a figure is neither a unit nor a scale such as "k"."""
    word = tokens[position].lower
    return parse_unit(tokens, position) is None and word not in (
        "s",
        "k",
        "m",
        "mn",
        "bn",
        "x",
        "am",
        "pm",
    )


def _skip_date(tokens: Sequence[Token], position: int) -> int:
    """Return the index of the year of a date, or the index after a date without a year.

    For a fraction or a range, `position` itself.
    """
    parts = [position]
    while (
        len(parts) < 3
        and parts[-1] + 2 < len(tokens)
        and tokens[parts[-1] + 1].text == tokens[position + 1].text
        and tokens[parts[-1] + 1].glued
        and tokens[parts[-1] + 2].kind == FIGURE
        and tokens[parts[-1] + 2].glued
    ):
        parts.append(parts[-1] + 2)
    if len(parts) == 3:
        return parts[-1] if is_year(tokens[parts[-1]].text) else parts[-1] + 1
    return (
        position
        if tokens[position + 1].text == "-" or _is_fraction(tokens, position)
        else parts[-1] + 1
    )


def _is_fraction(tokens: Sequence[Token], position: int) -> bool:
    """Return whether a fraction such as 3/4, with denominator up to 20, begins at `position`."""
    top, bottom = tokens[position].text, tokens[position + 2].text
    if not (top.isdecimal() and bottom.isdecimal() and len(top) <= 2 and len(bottom) <= 2):
        return False
    return 0 < int(top) < int(bottom) <= 20


def _parse_quantity(
    tokens: Sequence[Token], position: int, counts: bool
) -> Quantity | DateInText | None:
    """Return the quantity or date that begins at a token; None if there is none."""
    word = tokens[position].lower
    if word in ("a", "an", "half", "quarter"):
        part_of_unit = _parse_part_of_unit(tokens, position)
        if part_of_unit is not None:
            return part_of_unit
    if word == "between":
        return _parse_between(tokens, position)
    number = _parse_clock(tokens, position)
    if number is not None:
        return number
    if (
        position + 2 < len(tokens)
        and tokens[position + 1].text == "/"
        and _is_fraction(tokens, position)
    ):
        value = int(tokens[position].text) / int(tokens[position + 2].text)
        part = Number(value, 0.01, position + 3, "")
        return _build_quantity(tokens, position, part, part)
    if word == "one" and len(tokens) > 2 and parse_unit(tokens, position + 1) is None:
        after = tokens[position + 1].lower if position + 1 < len(tokens) else ""
        if after not in ("hundred", "thousand", "million", "billion", "dozen"):
            return None  # mostly a pronoun
    first = parse_number(tokens, position)
    if first is None:
        return None
    year = parse_year(tokens, position, first, counts)
    if year is not None:
        return _build_date(tokens, position, year)
    return _build_quantity(tokens, position, first, _parse_range_end(tokens, first) or first)


def _parse_range_end(tokens: Sequence[Token], first: Number) -> Number | None:
    """Return the upper end of a range such as "2-3" or "2 to 3"; None if there is none."""
    position = first.end
    if position + 1 >= len(tokens) or tokens[position].text not in ("-", "–", "to", "or"):
        return None
    if tokens[position].text == "-" and tokens[position + 1].kind != FIGURE:
        return None
    second = parse_number(tokens, position + 1)
    if second is None or second.value <= first.value:
        return None
    return second


def _parse_between(tokens: Sequence[Token], position: int) -> Quantity | None:
    """Return the range stated as "between 2 and 3 km"; None for other tokens."""
    first = parse_number(tokens, position + 1) if position + 1 < len(tokens) else None
    if first is None or is_year(first.figures):
        return None
    end = first.end
    unit = parse_unit(tokens, end)
    if unit is not None:
        end = unit[1]
    if end + 1 >= len(tokens) or tokens[end].lower != "and":
        return None
    second = parse_number(tokens, end + 1)
    if second is None or second.value <= first.value:
        return None
    return _build_quantity(tokens, position, first, second)


def _build_quantity(
    tokens: Sequence[Token], position: int, first: Number, last: Number
) -> Quantity:
    """Return the quantity of a number or range, with the unit and rate that follow it."""
    begin, end = position, last.end
    unit, low, high = None, first.value, last.value
    place = min(first.place, last.place)
    text = format_number(low) if low == high else f"{format_number(low)}–{format_number(high)}"
    before = tokens[position - 1] if position else None
    unit_and_end = parse_unit(tokens, end)
    if unit_and_end is None and before is not None and before.text in CURRENCIES:
        unit, begin = CURRENCIES[before.text], position - 1
        text = f"{text} {unit.symbol}"
    elif unit_and_end is not None:
        unit, end = unit_and_end
        text = f"{text} {unit.symbol}"
        if low == high:
            addition = _parse_addition(tokens, end, unit)
            if addition is not None:
                added_value, sub_unit, end = addition
                text = (
                    f"{text} {format_number(added_value)} {sub_unit.symbol}"
                    if sub_unit
                    else f"{format_number(low + added_value)} {unit.symbol}"
                )
                low = high = low + (
                    added_value * sub_unit.factor / unit.factor if sub_unit else added_value
                )
                place = min(place, (sub_unit.factor / unit.factor) if sub_unit else place)
    about, bound = is_approximate(tokens, begin, end), find_bound(tokens, begin, end)
    if bound == EXACT:
        bound = find_bound(tokens, begin, last.end)
    rate = parse_rate(tokens, end)
    noun = ""
    if unit is None and rate is None:
        noun, after_noun = _find_noun(tokens, end)
        rate = parse_rate(tokens, after_noun) if noun else None
    if rate is not None:
        end = rate.end
        text = f"{text} per {rate.unit.singular}"
    return Quantity(low, high, place, about, bound, unit, rate, begin, end, text, noun)


def _parse_addition(
    tokens: Sequence[Token], position: int, unit: Unit
) -> tuple[float, Unit | None, int] | None:
    """Return the amount added to a measure ("25 min" in "12 h 25 min"), its unit, and the end.

    "12 h 25 min", "12 hours and 25 minutes", "6 metres 80", "2 hours and a half" (of the unit).
    """
    next_token = position
    if position < len(tokens) and tokens[position].text in ("and", ",", "&"):
        next_token = position + 1
    words = [token.lower for token in tokens[position : position + 3]]
    if words == ["and", "a", "half"]:
        return 0.5, None, position + 3
    if next_token >= len(tokens):
        return None
    number = parse_number(tokens, next_token)
    if number is None:
        return None
    unit_and_end = parse_unit(tokens, number.end)
    if unit_and_end is not None:
        sub_unit, end = unit_and_end
        fits = sub_unit.dimension == unit.dimension and sub_unit.factor < unit.factor
        if unit.symbol == "h" and sub_unit.symbol == "m":  # 12 h 25 m
            sub_unit, fits = BY_WORD["minute"], True
        return (number.value, sub_unit, end) if fits else None
    default = SUBUNITS.get(unit.symbol)
    if (
        default is None
        or next_token != position
        or number.value >= 100
        or number.end != position + 1
    ):
        return None
    after = tokens[number.end] if number.end < len(tokens) else None
    if (
        after is not None
        and after.kind == WORD
        and after.lower not in ("later", "long", "high", "and", "tall")
    ):
        return None
    return number.value, default, number.end


def _parse_part_of_unit(tokens: Sequence[Token], start: int) -> Quantity | None:
    """Return a part of a unit, such as "half an hour" or "an hour and a half"; else None."""
    words = [token.lower for token in tokens[start : start + 6]]
    unit, end, value = None, start, 0.0
    if words[0] in ("a", "an") and len(words) > 1 and words[1] in ("half", "quarter"):
        return _parse_part_of_unit(tokens, start + 1)
    if words[0] in ("a", "an"):
        unit_and_end = parse_unit(tokens, start + 1)
        if unit_and_end is not None and [
            token.lower for token in tokens[unit_and_end[1] : unit_and_end[1] + 3]
        ] == [
            "and",
            "a",
            "half",
        ]:
            unit, end, value = unit_and_end[0], unit_and_end[1] + 3, 1.5
    elif words[0] in ("half", "quarter"):
        position = start + 1
        while (
            position < start + 3
            and position < len(tokens)
            and tokens[position].lower in ("of", "a", "an")
        ):
            position += 1
        unit_and_end = parse_unit(tokens, position) if position > start + 1 else None
        if unit_and_end is not None:
            unit, end = unit_and_end
            value = 0.5 if words[0] == "half" else 0.25
    if unit is None:
        return None
    about, bound = is_approximate(tokens, start, end), find_bound(tokens, start, end)
    text = f"{format_number(value)} {unit.symbol}"
    return Quantity(value, value, 0.1, about, bound, unit, None, start, end, text)


def _parse_clock(tokens: Sequence[Token], position: int) -> Quantity | None:
    """Return "12:25" as a duration, or as a time of day with am or pm; None for other tokens."""
    if tokens[position].kind != FIGURE:
        return None
    hours, minutes, end = tokens[position].text, "", position + 1
    if (
        position + 2 < len(tokens)
        and tokens[position + 1].text == ":"
        and tokens[position + 1].glued
        and tokens[position + 2].glued
        and len(tokens[position + 2].text) == 2
        and tokens[position + 2].text.isdecimal()
    ):
        minutes, end = tokens[position + 2].text, position + 3
    after = tokens[end].lower if end < len(tokens) else ""
    is_time_of_day = after in ("am", "pm", "a.m", "p.m", "o'clock", "o’clock")
    if not hours.isdecimal() or len(hours) > 2 or not (minutes or is_time_of_day):
        return None
    hour, minute = int(hours), int(minutes or 0)
    if minute > 59 or hour > (12 if is_time_of_day else 99):
        return None
    text = f"{hour}:{minute:02}"
    if is_time_of_day:
        # 12 am is 0, 12 pm is 12.
        hour = hour % 12 + (12 if after.startswith("p") else 0)
        text, end = f"{text} {after}", end + 1
    unit = Unit(TIME_OF_DAY, 3600.0, "h") if is_time_of_day else BY_WORD["hour"]
    value = hour + minute / 60
    about, bound = is_approximate(tokens, position, end), find_bound(tokens, position, end)
    if not is_time_of_day:
        text = f"{hour} h {minute} min"
    return Quantity(value, value, 1 / 60, about, bound, unit, None, position, end, text)


def _find_noun(tokens: Sequence[Token], position: int) -> tuple[str, int]:
    """Return the counted noun after a number ("" if there is none), and the next index."""
    for past in range(position, min(position + 3, len(tokens))):
        token = tokens[past]
        if token.kind != WORD:
            break
        if (token.lower.endswith("s") and len(token.lower) > 3) or token.lower in _PLURALS:
            return token.lower, past + 1
    if position < len(tokens) and tokens[position].lower == "x" and tokens[position].glued:
        return "times", position + 1
    return "", position
