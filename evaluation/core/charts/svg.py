"""Draw shapes and text as SVG, with the scales and shortened labels of charts.

Colours are attributes for a light page. Each shape also has a class, by which a style sheet gives
it the colours of a dark one; style attributes are not used, because a strict
Content-Security-Policy refuses them.

Names are shortened to the space in a chart, so that different names keep different labels.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from textwrap import wrap
from typing import Literal
from xml.etree import ElementTree as ET

NAMESPACE = "http://www.w3.org/2000/svg"
FONT = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
LETTERS = 12
# Height of the title and of a caption of a picture that stands alone.
TITLE = 40.0
CAPTION = 18.0
# Width of a letter in proportion to its size, on the safe side.
LETTER_WIDTH = 0.56
# The same for ids and addresses of mail: digits, capitals and @ are wider than small letters.
WIDE_LETTER_WIDTH = 0.64

# Role of a shape -> its look on a light page. The names are also classes (chart-...).
LOOKS: dict[str, dict[str, str]] = {
    "dot": {"fill": "#4f46e5", "stroke": "#ffffff", "stroke-width": "1"},
    "dot-weak": {"fill": "#ffffff", "stroke": "#64748b", "stroke-width": "1.5"},
    "dot-model": {"fill": "#c2410c", "stroke": "#ffffff", "stroke-width": "1"},
    "whisker": {"stroke": "#4f46e5", "stroke-width": "2", "stroke-opacity": "0.45"},
    "whisker-weak": {"stroke": "#64748b", "stroke-width": "2", "stroke-opacity": "0.45"},
    "whisker-model": {"stroke": "#c2410c", "stroke-width": "2", "stroke-opacity": "0.5"},
    "bar": {"fill": "#a5b4fc"},
    "band": {"fill": "#0f766e", "fill-opacity": "0.12"},
    "ceiling": {"stroke": "#0f766e", "stroke-width": "2", "stroke-dasharray": "5 3"},
    "median": {"stroke": "#4f46e5", "stroke-width": "1.5", "stroke-dasharray": "2 3"},
    "line": {"stroke": "#4f46e5", "stroke-width": "2", "fill": "none"},
    # Lines beside each other differ in colour and in dashes.
    "series-0": {"stroke": "#4f46e5", "stroke-width": "2", "fill": "none"},
    "series-1": {"stroke": "#c2410c", "stroke-width": "2", "fill": "none"}
    | {"stroke-dasharray": "7 3"},
    "series-2": {"stroke": "#0f766e", "stroke-width": "2", "fill": "none"}
    | {"stroke-dasharray": "2 3"},
    "series-3": {"stroke": "#a21caf", "stroke-width": "2", "fill": "none"}
    | {"stroke-dasharray": "8 3 2 3"},
    "series-4": {"stroke": "#64748b", "stroke-width": "2", "fill": "none"}
    | {"stroke-dasharray": "1 4"},
    "series-5": {"stroke": "#a16207", "stroke-width": "2", "fill": "none"}
    | {"stroke-dasharray": "12 3"},
    "grid": {"stroke": "#e2e8f0", "stroke-width": "1"},
    "axis": {"stroke": "#94a3b8", "stroke-width": "1"},
    "label": {"fill": "#334155"},
    "faint": {"fill": "#64748b"},
    "label-ceiling": {"fill": "#0f766e"},
    "worst": {
        "stroke": "#4f46e5",
        "stroke-width": "1.5",
        "stroke-dasharray": "6 4",
        "fill": "none",
    },
    "grid-strong": {"stroke": "#94a3b8", "stroke-width": "1", "stroke-dasharray": "2 3"},
    # From dark to light in even steps of lightness (OKLab), so that they are in order without
    # seeing hues. A dark page has the same ones, or its order would be the reverse.
    "heat-0": {"fill": "#23367b"},
    "heat-1": {"fill": "#41557f"},
    "heat-2": {"fill": "#647280"},
    "heat-3": {"fill": "#898f7e"},
    "heat-4": {"fill": "#b0ab77"},
    "heat-5": {"fill": "#d8c869"},
    "heat-6": {"fill": "#ffe54e"},
    "missing": {"fill": "#ffffff", "stroke": "#cbd5e1", "stroke-width": "0.5"},
    "faint-line": {"stroke": "#64748b", "stroke-width": "1"},
    "paper": {"fill": "#ffffff"},
    "frame": {"fill": "none", "stroke": "#e2e8f0", "stroke-width": "1"},
    "path": {"stroke": "#0f766e", "stroke-width": "1.5", "fill": "none"},
    "consensus": {"fill": "#0f766e", "stroke": "#ffffff", "stroke-width": "1.5"},
    # From pale to dark in one hue, so that they can be told apart without seeing colours.
    "grade-0": {"fill": "#f1f5f9", "stroke": "#64748b", "stroke-width": "1"},
    "grade-1": {"fill": "#c7d2fe", "stroke": "#6366f1", "stroke-width": "1"},
    "grade-2": {"fill": "#a5b4fc", "stroke": "#ffffff", "stroke-width": "1"},
    "grade-3": {"fill": "#6366f1", "stroke": "#ffffff", "stroke-width": "1"},
    "grade-4": {"fill": "#312e81", "stroke": "#ffffff", "stroke-width": "1"},
    "grade-none": {"fill": "#ffffff", "stroke": "#64748b", "stroke-width": "1.5"},
    "hit": {"fill": "transparent"},
}
Anchor = Literal["start", "middle", "end"]
# What XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def remove_control_characters(text: str) -> str:
    """Return the text without the control characters that XML forbids."""
    return _FORBIDDEN.sub("\ufffd", text)


def fit_text(text: str, width: float, size: float = LETTERS) -> str:
    """Return the text on one line, cut in the middle if wider than `width` pixels.

    Names of models and questions differ at their ends.
    """
    text = " ".join(text.split())
    most = max(3, int(width / (size * estimate_letter_width(text))))
    if len(text) <= most:
        return text
    end = most // 2 - 1
    return f"{text[: most - 1 - end].rstrip()}…{text[len(text) - end :].lstrip()}"


def estimate_width(text: str, size: float = LETTERS) -> float:
    """Return an upper estimate of a text's width in pixels."""
    return len(text) * size * estimate_letter_width(text)


def estimate_letter_width(text: str) -> float:
    """Return the mean width of a text's letters as a share of the font size.

    A text counts as an id, which has wider letters, from a quarter of digits and capitals on.
    """
    n_wide = sum(letter.isdigit() or letter.isupper() or letter == "@" for letter in text)
    return WIDE_LETTER_WIDTH if "@" in text or 4 * n_wide > len(text) else LETTER_WIDTH


def format_coordinate(value: float) -> str:
    """Return an SVG coordinate as text with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


class Drawing:
    """An SVG drawing; later shapes are drawn over earlier ones.

    Shapes are added to the drawing, or to the group that `begin_group` opened last.
    """

    def __init__(self, width: float, height: float, title: str, description: str) -> None:
        self.width = width
        self.height = height
        self.root = ET.Element(
            "svg",
            {
                "xmlns": NAMESPACE,
                "viewBox": f"0 0 {format_coordinate(width)} {format_coordinate(height)}",
                "width": format_coordinate(width),
                "height": format_coordinate(height),
                "role": "img",
                "aria-label": remove_control_characters(f"{title}. {description}"),
                "font-family": FONT,
                "font-size": str(LETTERS),
            },
        )
        self._parent = self.root

    def add_line(self, x1: float, y1: float, x2: float, y2: float, css_class: str) -> None:
        """Add a straight line."""
        ends = {
            "x1": format_coordinate(x1),
            "y1": format_coordinate(y1),
            "x2": format_coordinate(x2),
            "y2": format_coordinate(y2),
        }
        self._add_element("line", ends, css_class)

    def add_polyline(self, points: list[tuple[float, float]], css_class: str) -> None:
        """Add a polyline through the points."""
        through = " ".join(f"{format_coordinate(x)},{format_coordinate(y)}" for x, y in points)
        self._add_element("polyline", {"points": through}, css_class)

    def add_rectangle(
        self, x: float, y: float, width: float, height: float, css_class: str
    ) -> None:
        """Add a rectangle."""
        sides = {
            "width": format_coordinate(max(0, width)),
            "height": format_coordinate(max(0, height)),
        }
        self._add_element(
            "rect", {"x": format_coordinate(x), "y": format_coordinate(y), **sides}, css_class
        )

    def add_dot(self, x: float, y: float, css_class: str, radius: float = 4.5) -> None:
        """Add a filled circle."""
        self._add_element(
            "circle",
            {
                "cx": format_coordinate(x),
                "cy": format_coordinate(y),
                "r": format_coordinate(radius),
            },
            css_class,
        )

    def add_diamond(self, x: float, y: float, css_class: str, radius: float = 6) -> None:
        """Add a diamond, a symbol that differs from a dot also without colours."""
        corners = ((x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y))
        points = " ".join(f"{format_coordinate(a)},{format_coordinate(b)}" for a, b in corners)
        self._add_element("polygon", {"points": points}, css_class)

    def add_star(self, x: float, y: float, css_class: str, radius: float = 9) -> None:
        """Add a star of five points."""
        points = []
        for corner in range(10):
            far = radius if corner % 2 == 0 else radius * 0.45
            angle = math.pi * (corner / 5 - 0.5)
            corner_x, corner_y = x + far * math.cos(angle), y + far * math.sin(angle)
            points.append(f"{format_coordinate(corner_x)},{format_coordinate(corner_y)}")
        self._add_element("polygon", {"points": " ".join(points)}, css_class)

    def add_text(
        self,
        x: float,
        y: float,
        text: str,
        css_class: str = "label",
        anchor: Anchor = "start",
        size: float | None = None,
        turned: bool = False,
        full: str = "",
    ) -> None:
        """Add a line of text, vertical if `turned`.

        `full` is the tooltip: the whole text if `text` is cut.
        """
        where = {
            "x": format_coordinate(x),
            "y": format_coordinate(y),
            "text-anchor": anchor,
            "unicode-bidi": "isolate",
        }
        if size is not None:
            where["font-size"] = format_coordinate(size)
        if turned:
            where["transform"] = f"rotate(-90 {format_coordinate(x)} {format_coordinate(y)})"
        added = self._add_element("text", where, css_class)
        added.text = remove_control_characters(text)
        if full and " ".join(full.split()) != text:
            ET.SubElement(added, "title").text = remove_control_characters(full)

    def begin_group(self, tip: str, link: str = "", data: Mapping[str, str] | None = None) -> None:
        """Begin a group of shapes that share the tooltip `tip` and a link.

        `data` are attributes of the group for the page's scripts, such as those of a slider.
        """
        group = ET.SubElement(self.root, "g", {"class": "chart-mark"})
        if link:
            group.set("data-href", link)
        for name, value in (data or {}).items():
            group.set(f"data-{name}", remove_control_characters(value))
        ET.SubElement(group, "title").text = remove_control_characters(tip)
        self._parent = group

    def end_group(self) -> None:
        """End the group of shapes that `begin_group` began."""
        self._parent = self.root

    def prepare_download(self, title: str, captions: Sequence[str]) -> None:
        """Add a white background, title above and captions below; remove tooltips and page data."""
        # Tooltips may quote workers' texts, which a downloaded file must not contain.
        for group in self.root.iter("g"):
            for name in [name for name in group.attrib if name.startswith("data-")]:
                del group.attrib[name]
            for tip in group.findall("title"):
                group.remove(tip)
        self.add_text(10, -14, fit_text(title, self.width - 20, 15), "label", size=15)
        most = int((self.width - 20) / (LETTERS * LETTER_WIDTH))
        lines = [line for caption in captions for line in wrap(caption, most)]
        for index, line in enumerate(lines):
            self.add_text(10, self.height + 16 + index * CAPTION, line, "faint")
        height = TITLE + self.height + len(lines) * CAPTION + 10
        top, sides = (
            format_coordinate(-TITLE),
            {"width": format_coordinate(self.width), "height": format_coordinate(height)},
        )
        paper = ET.Element("rect", {"y": top, **sides, **LOOKS["paper"]})
        # First, because SVG paints in document order.
        self.root.insert(0, paper)
        self.root.attrib.update(sides, viewBox=f"0 {top} {sides['width']} {sides['height']}")

    def to_xml(self) -> str:
        """Return the drawing as XML that is valid HTML too."""
        return ET.tostring(self.root, encoding="unicode")

    def _add_element(self, tag: str, attributes: dict[str, str], css_class: str) -> ET.Element:
        """Add an SVG element with these attributes and this CSS class; return it."""
        known = {"class": f"chart-{css_class}", **LOOKS[css_class], **attributes}
        return ET.SubElement(self._parent, tag, known)


STEPS = (1, 2, 2.5, 5, 10)


def format_number(value: float | None, missing: str = "–") -> str:
    """Return a number with three decimals, in scientific notation below .0005; else `missing`."""
    if value is None:
        return missing
    if value and abs(value) < 0.0005:
        return f"{value:.2e}"
    return f"{value:.3f}"


def format_interval(low: float | None, high: float | None, missing: str = "–") -> str:
    """Return an interval as "LOW to HIGH"; `missing` without an end."""
    if low is None or high is None:
        return missing
    return f"{format_number(low)} to {format_number(high)}"


@dataclass(frozen=True)
class Scale:
    """A linear map of numbers from `low` to `high` onto positions from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the position of a number; numbers beyond the range are placed at its ends."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)

    def list_ticks(self, most: int = 6) -> list[float]:
        """Return at most `most` + 1 round numbers within the scale's range, for an axis."""
        span = self.high - self.low
        unit = 10 ** math.floor(math.log10(span / most))
        step = next(unit * step for step in STEPS if span / (unit * step) <= most)
        # Rounding must not drop the tick at an end of the scale.
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [tick * step for tick in range(first, last + 1)]


def build_scale(values: Iterable[float | None], start: float, end: float) -> Scale:
    """Return a scale that holds all numbers with 5% margin; 0 to 1 if there are none."""
    known = [value for value in values if value is not None]
    if not known:
        return Scale(0.0, 1.0, start, end)
    low, high = min(known), max(known)
    # Equal numbers would give a scale of length 0.
    air = (high - low) * 0.05 or 0.05
    return Scale(low - air, high + air, start, end)


def format_tick(tick: float) -> str:
    """Return the number at an axis tick as text, without trailing zeros."""
    # + 0.0 turns -0.0 into 0.
    return f"{round(tick, 6) + 0.0:g}"


ELLIPSIS = "…"
FEWEST = 5


def fit_labels(names: Sequence[str], width: float, size: float = LETTERS) -> list[str]:
    """Return the names shortened to one line of at most `width` pixels, still distinct.

    See `shorten_distinctly`; a number at the end may make a label a little wider than that.
    """
    widest = max(map(estimate_letter_width, names), default=1.0)
    return shorten_distinctly(names, int(width / (size * widest)))


def shorten_distinctly(names: Sequence[str], most: int) -> list[str]:
    """Return the names shortened to `most` characters (but not below 5), still distinct.

    A name that is too long keeps its beginning and its end. Names that become equal thereby keep
    the part in which they differ instead, without their common beginning and end. If that part
    is too long as well, each gets a number at the end.
    """
    most = max(FEWEST, most)
    lines = [" ".join(name.split()) for name in names]
    distinct = list(dict.fromkeys(lines))
    short = {name: _cut_middle(name, most) for name in distinct}
    for alike in _group_equal_labels(short):
        short |= dict(zip(alike, _shorten_to_difference(alike, most), strict=True))
    labels_used: set[str] = set()
    for name in distinct:
        label, number = short[name], 1
        while label in labels_used:
            number += 1
            end = f"{ELLIPSIS}{number}"
            label = f"{short[name][: most - len(end)].rstrip(ELLIPSIS + ' ')}{end}"
        labels_used.add(label)
        short[name] = label
    return [short[line] for line in lines]


def _group_equal_labels(short: dict[str, str]) -> list[list[str]]:
    """Return the groups of names that have the same short label."""
    groups: dict[str, list[str]] = {}
    for name, label in short.items():
        groups.setdefault(label, []).append(name)
    return [alike for alike in groups.values() if len(alike) > 1]


def _cut_middle(name: str, most: int) -> str:
    """Return the name, cut in the middle if it has more than `most` characters."""
    if len(name) <= most:
        return name
    end = most // 2 - 1
    return f"{name[: most - 1 - end].rstrip()}{ELLIPSIS}{name[len(name) - end :].lstrip()}"


def _count_common_letters(names: Sequence[str]) -> int:
    """Return how many letters at the beginning all names share."""
    columns = zip(*names, strict=False)
    return sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, columns))


def _shorten_to_difference(alike: Sequence[str], most: int) -> list[str]:
    """Return names with equal beginning and end, shortened to the part that differs."""
    first = _count_common_letters(alike)
    last = _count_common_letters([name[first:][::-1] for name in alike])
    shortened = []
    for name in alike:
        differs = name[first : len(name) - last]
        # A few letters of the beginning say of what family it is.
        room = most - 2
        head = min(first, max(0, (room - len(differs)) // 2))
        tail = min(last, max(0, room - len(differs) - head))
        core = differs if len(differs) <= room else _cut_middle(differs, room)
        before = name[:head].rstrip()
        after = name[len(name) - tail :].lstrip() if tail else ""
        cut_before = ELLIPSIS if head < first else ""
        cut_after = ELLIPSIS if tail < last else ""
        shortened.append(f"{before}{cut_before}{core}{cut_after}{after}")
    return shortened
