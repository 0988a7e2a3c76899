"""Draw shapes and text as SVG; every text is escaped here and nowhere else.

Colours are attributes for a light page. Each shape also has a class, by which a style sheet gives
it the colours of a dark one; no style attributes, which a strict policy would refuse.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
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
    """Return the text on one line, cut in the middle if it is wider than `width`.

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

    Shapes are added to the drawing, or to the group that `mark` opened last.
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

    def line(self, x1: float, y1: float, x2: float, y2: float, look: str) -> None:
        """Add a straight line."""
        ends = {
            "x1": format_coordinate(x1),
            "y1": format_coordinate(y1),
            "x2": format_coordinate(x2),
            "y2": format_coordinate(y2),
        }
        self._add("line", ends, look)

    def path(self, points: list[tuple[float, float]], look: str) -> None:
        """Add a polyline through the points."""
        through = " ".join(f"{format_coordinate(x)},{format_coordinate(y)}" for x, y in points)
        self._add("polyline", {"points": through}, look)

    def rectangle(self, x: float, y: float, width: float, height: float, look: str) -> None:
        """Add a rectangle."""
        sides = {
            "width": format_coordinate(max(0, width)),
            "height": format_coordinate(max(0, height)),
        }
        self._add("rect", {"x": format_coordinate(x), "y": format_coordinate(y), **sides}, look)

    def dot(self, x: float, y: float, look: str, radius: float = 4.5) -> None:
        """Add a filled circle."""
        self._add(
            "circle",
            {
                "cx": format_coordinate(x),
                "cy": format_coordinate(y),
                "r": format_coordinate(radius),
            },
            look,
        )

    def diamond(self, x: float, y: float, look: str, radius: float = 6) -> None:
        """Add a diamond, which can be told from a dot without colours."""
        corners = ((x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y))
        points = " ".join(f"{format_coordinate(a)},{format_coordinate(b)}" for a, b in corners)
        self._add("polygon", {"points": points}, look)

    def star(self, x: float, y: float, look: str, radius: float = 9) -> None:
        """Add a star of five points."""
        points = []
        for corner in range(10):
            far = radius if corner % 2 == 0 else radius * 0.45
            angle = math.pi * (corner / 5 - 0.5)
            corner_x, corner_y = x + far * math.cos(angle), y + far * math.sin(angle)
            points.append(f"{format_coordinate(corner_x)},{format_coordinate(corner_y)}")
        self._add("polygon", {"points": " ".join(points)}, look)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        look: str = "label",
        anchor: Anchor = "start",
        size: float | None = None,
        turned: bool = False,
        full: str = "",
    ) -> None:
        """Add a line of text, vertical if `turned`.

        `full` is what a cut text stands for: it is told when the text is pointed at.
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
        added = self._add("text", where, look)
        added.text = remove_control_characters(text)
        if full and " ".join(full.split()) != text:
            ET.SubElement(added, "title").text = remove_control_characters(full)

    def mark(self, tip: str, link: str = "", data: Mapping[str, str] | None = None) -> None:
        """Open a group of shapes that share a tooltip and a link.

        `data` is for scripts, such as what a slider changes.
        """
        group = ET.SubElement(self.root, "g", {"class": "chart-mark"})
        if link:
            group.set("data-href", link)
        for name, value in (data or {}).items():
            group.set(f"data-{name}", remove_control_characters(value))
        ET.SubElement(group, "title").text = remove_control_characters(tip)
        self._parent = group

    def end_mark(self) -> None:
        """Close the group that `mark` opened."""
        self._parent = self.root

    def taken_away(self, title: str, captions: Sequence[str]) -> None:
        """Prepare the drawing for download: white background, title, captions, no page data.

        It gets a title above and captions below.
        """
        for group in self.root.iter("g"):
            for name in [name for name in group.attrib if name.startswith("data-")]:
                del group.attrib[name]
            for tip in group.findall("title"):
                group.remove(tip)
        self.text(10, -14, fit_text(title, self.width - 20, 15), "label", size=15)
        most = int((self.width - 20) / (LETTERS * LETTER_WIDTH))
        lines = [line for caption in captions for line in wrap(caption, most)]
        for at, line in enumerate(lines):
            self.text(10, self.height + 16 + at * CAPTION, line, "faint")
        height = TITLE + self.height + len(lines) * CAPTION + 10
        top, sides = (
            format_coordinate(-TITLE),
            {"width": format_coordinate(self.width), "height": format_coordinate(height)},
        )
        paper = ET.Element("rect", {"y": top, **sides, **LOOKS["paper"]})
        self.root.insert(0, paper)
        self.root.attrib.update(sides, viewBox=f"0 {top} {sides['width']} {sides['height']}")

    def markup(self) -> str:
        """Return the drawing as XML that is valid HTML too."""
        return ET.tostring(self.root, encoding="unicode")

    def _add(self, tag: str, attributes: dict[str, str], look: str) -> ET.Element:
        """Add a shape with SVG attributes and the CSS class of `look`; return its element."""
        known = {"class": f"chart-{look}", **LOOKS[look], **attributes}
        return ET.SubElement(self._parent, tag, known)
