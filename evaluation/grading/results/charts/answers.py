"""Charts of answers: by score, as a map, and of one worker.

Chart of the answers to a question by score: workers' dots and models' diamonds. Chart of the
answers to a question as a map, with the path of the consensus. Chart of a worker's answers by
question, each scored against the others' consensus.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from annotations.web.texts import shorten_text
from evaluation.core.charts.chart import Chart, EstimateRow, RowLayout, draw_axis, draw_rows
from evaluation.core.charts.svg import Drawing, build_scale, estimate_width, fit_text, format_number
from evaluation.grading.results.report.maps import AnswerMap, MapAnswer, Place
from evaluation.grading.results.report.questions import ModelAnswer, QuestionAnswer
from evaluation.grading.results.report.workers import WorkerAnswer

MOST = 200
# Dots that would touch stand on each other, up to so many.
LANES = 14
LANE = 9.5
TOP = 12.0
TIP = 300


def build_answers_chart(
    answers: Sequence[QuestionAnswer], models: Sequence[ModelAnswer], n_answers: int
) -> Chart:
    """Return the chart of the answers to a question by score: 200 workers', 20 models'."""
    plotted = [answer for answer in answers if answer.score is not None][:MOST]
    scored = [model for model in models if model.score is not None][:20]

    def draw_chart(width: float) -> Drawing:
        """Return the chart drawn at the given width."""
        layout = RowLayout(width, [row.name for row in scored])
        description = f"Scores of {len(plotted)} workers' answers and {len(scored)} models' answers"
        scores = [answer.score for answer in plotted] + [model.score for model in scored]
        scale = build_scale(scores, layout.left, layout.right)
        lanes = _assign_lanes([scale(answer.score or 0.0) for answer in plotted])
        floor = TOP + max(3, *lanes, 0) * LANE + 14
        layout = replace(layout, top=floor + 10)
        drawing = Drawing(width, layout.height, "Answers by score", description)
        draw_axis(drawing, layout, scale, "score: similarity to the consensus")
        drawing.add_line(layout.left, floor, layout.right, floor, "axis")
        if layout.left > 90:
            drawing.add_text(layout.left - 12, floor - 6, "workers", "label", "end")
        for answer, lane in zip(plotted, lanes, strict=True):
            drawing.begin_group(_format_tip(answer.worker_name, answer.score, answer.text))
            drawing.add_dot(scale(answer.score or 0.0), floor - 7 - lane * LANE, "dot")
            drawing.end_group()
        for index, model in enumerate(scored):
            drawing.begin_group(
                _format_tip(model.name, model.score, model.text or f"[{model.status}]")
            )
            layout.draw_row(drawing, index)
            drawing.add_diamond(scale(model.score or 0.0), layout.compute_y(index), "dot-model")
            drawing.end_group()
        return drawing

    return Chart(
        name="answers",
        title="How close each answer is to the consensus",
        explanation=(
            "Every dot is a worker's answer, every diamond a model's; the further right, the "
            "closer it is to the consensus of the crowd. Point at one, or touch it, to read it."
        ),
        draw=draw_chart,
        note=(
            f"The picture shows the {len(plotted)} nearest of {n_answers:,} workers' answers."
            if n_answers > len(plotted)
            else ""
        ),
    )


def _assign_lanes(places: Sequence[float]) -> list[int]:
    """Return the lane of each dot; dots that would overlap are in different lanes."""
    ends = [float("inf")] * LANES
    lanes = []
    for x in places:
        # Answers come best first, so that dots are placed from right to left.
        lane = next((index for index, end in enumerate(ends) if end - x >= LANE), LANES - 1)
        ends[lane] = x
        lanes.append(lane)
    return lanes


def _format_tip(name: str, score: float | None, text: str) -> str:
    """Return the tooltip of an answer to a question: name, score and text."""
    cut = shorten_text(text, TIP)
    return f"{name}: {format_number(score)}\n{cut}"


# Radius of an equal vote, and of the greatest and the least dot.
EQUAL, GREATEST, LEAST = 7.0, 17.0, 2.2
GRADES = ("0 to 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 to 1")
LEGEND = 40.0
# Below this share of the differences a map hardly says anything.
LITTLE = 0.05
LITTLE_HELD = "That is little: choose the directions of this question alone above."
RESULT = "This is the result."
"""The end of the caption of the last iteration."""
MARGIN = 22.0


@dataclass(frozen=True)
class PixelTransform:
    """Linear transformation from map coordinates to pixel positions in the chart."""

    scale: float
    middle: Place
    centre: Place

    def __call__(self, place: Place) -> Place:
        """Return the pixel position of a map coordinate."""
        return (
            self.centre[0] + (place[0] - self.middle[0]) * self.scale,
            # Coordinates of a drawing grow downwards.
            self.centre[1] - (place[1] - self.middle[1]) * self.scale,
        )


def build_map_chart(
    answers: AnswerMap, index: int | None = None, link: Callable[[UUID], str] = lambda _: ""
) -> Chart:
    """Return the map of a question's answers at the iteration `index`, by default the last.

    `link` returns the URL of a worker.
    """
    last = len(answers.iterations) - 1
    index = last if index is None else min(max(index, 0), last)
    most = max((vote for answer in answers.answers for vote in answer.votes or ()), default=1.0)
    unit = min(EQUAL, GREATEST / math.sqrt(most)) if most > 0 else EQUAL

    def draw_chart(width: float) -> Drawing:
        """Return the map drawn at the given width."""
        size = unit if width > 600 else unit * 0.7
        floor = 520.0 if width > 600 else 320.0
        legend = LEGEND if width > 600 else LEGEND + 60
        description = (
            f"{len(answers.answers)} workers' answers and {len(answers.models)} models' answers by "
            f"likeness, with the consensus at iteration {answers.iterations[index]}"
        )
        drawing = Drawing(width, floor + legend, "Map of the answers", description)
        plane = _fit_transform(answers, width, floor)
        drawing.add_rectangle(0.5, 0.5, width - 1, floor - 1, "frame")
        drawing.add_polyline([plane(place) for place in answers.path], "path")
        # Great dots behind small ones, or they would hide them.
        for answer in sorted(answers.answers, key=lambda drawn: -_get_voting_weight(drawn, index)):
            _draw_answer(drawing, answer, plane, size, index, link(answer.worker))
        for model in answers.models:
            drawing.begin_group(
                _format_map_tip(model.name, [f"score {format_number(model.score)}"], model.text)
            )
            drawing.add_diamond(*plane(model.place), "dot-model", 6.5 if width > 600 else 5.5)
            drawing.end_group()
        _draw_consensus(drawing, answers, plane, index)
        _draw_legend(drawing, width, floor, size, bool(answers.models))
        return drawing

    return Chart(
        name="map",
        title="The answers as a map",
        explanation=(
            "Answers with similar meaning are close together. A bigger dot has a higher weight; "
            "a stronger colour means a better grade. The star is "
            "the consensus: the middle of all answers, each counted by its weight. Diamonds are "
            "models' answers, which never count. Point at one, touch it, or use the arrow keys."
        ),
        draw=draw_chart,
        note=" ".join(build_map_notes(answers)),
    )


def build_map_notes(answers: AnswerMap) -> list[str]:
    """Return sentences on what the map of answers shows and leaves out."""
    if answers.share is None:
        sentences = ["All answers to this question have the same vector."]
    else:
        sentences = [
            f"A map cannot show everything: these two directions hold "
            f"{_format_percent(answers.share)} of the differences between the answers to this "
            "question"
            + (
                ", and are the same for every question of the run."
                if answers.axes == "run"
                else ", the most that two directions can, and are this question's own."
            )
        ]
        sentences.append(
            "Distant answers differ. Close answers may still differ in dimensions that are not "
            "shown."
        )
        if answers.axes == "run" and answers.share < LITTLE:
            sentences.append(LITTLE_HELD)
    if answers.similarity == "euclidean":
        sentences.append("The run compares by distance, of which the distances here are shadows.")
    elif answers.unit_length:
        sentences.append(
            "All vectors have the same length, as if on a sphere, and this is its shadow."
        )
    else:
        sentences.append(
            "Vectors differ in length, which moves them on the map, but the score uses their "
            "directions only."
        )
    if not answers.is_mean:
        sentences.append(
            "The star is the weighted mean of all answers; the run's own consensus is another, "
            "such as the majority of words or the mean of the largest camp."
        )
    left_out = answers.n_answers - len(answers.answers)
    if left_out > 0:
        sentences.append(
            f"Of {answers.n_answers:,} answers those nearest to the consensus and farthest from it "
            f"are shown, {len(answers.answers)} in all; the star counts all of them."
        )
    if answers.n_models > len(answers.models):
        sentences.append(f"The {len(answers.models)} best of {answers.n_models} models are shown.")
    return sentences


def _format_percent(share: float) -> str:
    """Return a share as whole percents; "less than 1%" for smaller ones."""
    return "less than 1%" if share < 0.01 else f"{share:.0%}"


def build_iteration_captions(answers: AnswerMap) -> list[str]:
    """Return the caption of each shown iteration: how far the exemplary answer moved."""
    last = answers.iterations[-1]
    words = []
    for iteration, moved in zip(answers.iterations, answers.moved, strict=True):
        if iteration == 0:
            text = "Start: every answer counts equally, and there are no grades yet."
        else:
            how = f"moved by {moved:.3f}" if moved >= 0.0005 else "hardly moved any more"
            text = f"Iteration {iteration} of {last}: the consensus {how}."
        words.append(text if iteration != last or not last else f"{text} {RESULT}")
    return words


def _draw_answer(
    drawing: Drawing, answer: MapAnswer, plane: PixelTransform, size: float, index: int, link: str
) -> None:
    """Draw an answer as a dot: the area shows its voting weight, the shade its author's grade."""
    lines = [f"score {format_number(answer.score)}"]
    if answer.grades[-1] is not None:
        lines.insert(0, f"grade {format_number(answer.grades[-1])}")
    data = {}
    if answer.votes is not None:
        data = {
            "radii": " ".join(f"{_compute_radius(vote, size):.1f}" for vote in answer.votes),
            "grades": " ".join(_choose_shade(grade) for grade in answer.grades),
        }
    drawing.begin_group(_format_map_tip(answer.name, lines, answer.text), link, data)
    radius = _compute_radius(_get_voting_weight(answer, index), size)
    drawing.add_dot(*plane(answer.place), f"grade-{_choose_shade(answer.grades[index])}", radius)
    drawing.end_group()


def _draw_consensus(
    drawing: Drawing, answers: AnswerMap, plane: PixelTransform, index: int
) -> None:
    """Draw the exemplary answer at one iteration as a star, with its path over all iterations."""
    places = [plane(place) for place in answers.path]
    x, y = places[index]
    path = " ".join(f"{px - x:.1f},{py - y:.1f}" for px, py in places)
    drawing.begin_group("the consensus (synthetic exemplary answer)", data={"path": path})
    drawing.add_star(x, y, "consensus", 10)
    drawing.end_group()


def _draw_legend(drawing: Drawing, width: float, floor: float, size: float, models: bool) -> None:
    """Draw the legend below the map, on as many lines as the width needs."""
    x, y = 8.0, floor + 24

    def reserve_entry(words: str) -> float:
        """Return the x position of a legend entry, on a new line if the entry does not fit."""
        nonlocal x, y
        wanted = 16 + estimate_width(words) + 12
        if x + wanted > width:
            x, y = 8.0, y + 22
        start, x = x, x + wanted
        return start

    for shade, words in [*enumerate(GRADES), ("none", "no grade")]:
        words = f"grade {words}" if shade == 0 else words
        start = reserve_entry(words)
        drawing.add_dot(start + 7, y - 4, f"grade-{shade}", 6)
        drawing.add_text(start + 18, y, words, "faint")
    for words in ("consensus", "its way here", *(["model"] if models else [])):
        start = reserve_entry(words)
        if words == "model":
            drawing.add_diamond(start + 7, y - 4, "dot-model")
        elif words == "consensus":
            drawing.add_star(start + 7, y - 4, "consensus", 8)
        else:
            drawing.add_line(start, y - 4, start + 14, y - 4, "path")
        drawing.add_text(start + 18, y, words, "faint")
    start = reserve_entry("an equal vote")
    drawing.add_dot(start + 7, y - 4, "grade-none", min(size, 9))
    drawing.add_text(start + 18, y, fit_text("an equal vote", width), "faint")


def _fit_transform(answers: AnswerMap, width: float, floor: float) -> PixelTransform:
    """Return the transformation with the largest scale that fits all points in the chart."""
    places = [
        *(answer.place for answer in answers.answers),
        *(model.place for model in answers.models),
        *answers.path,
    ]
    xs, ys = [place[0] for place in places], [place[1] for place in places]
    wide, high = max(xs) - min(xs), max(ys) - min(ys)
    room = (width - 2 * MARGIN, floor - 2 * MARGIN)
    # One scale for both axes, else distances on the map would depend on the direction.
    scales = [a / b for a, b in zip(room, (wide, high), strict=True) if b > 0]
    return PixelTransform(
        scale=min(scales, default=1.0),
        middle=((max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2),
        centre=(width / 2, floor / 2),
    )


def _get_voting_weight(answer: MapAnswer, index: int) -> float:
    """Return an answer's voting weight at an iteration; 1 for an equal or unknown vote."""
    return 1.0 if answer.votes is None else answer.votes[index]


def _compute_radius(vote: float, size: float) -> float:
    """Return the radius of a dot whose area is proportional to the vote."""
    # The area of a dot is its vote, except for dots too small to be seen.
    return max(LEAST, size * math.sqrt(max(vote, 0.0)))


def _choose_shade(grade: float | None) -> str:
    """Return the number of a grade's shade, as text; "none" without a grade."""
    return "none" if grade is None else str(min(int(grade * len(GRADES)), len(GRADES) - 1))


def _format_map_tip(name: str, lines: list[str], text: str) -> str:
    """Return the tooltip of an answer: name, numbers and text."""
    cut = shorten_text(text, TIP)
    return "\n".join([f"{name}: {', '.join(lines)}", cut])


def build_worker_chart(
    answers: Sequence[WorkerAnswer], mean: float | None, link: Callable[[UUID], str] = lambda _: ""
) -> Chart:
    """Return the chart of one worker's leave-one-out scores, one row per question."""
    rows = [
        EstimateRow(
            name=answer.question_name,
            value=answer.score_leave_one_out,
            low=None,
            high=None,
            tip=_format_worker_tip(answer),
            link=link(answer.question),
        )
        for answer in answers
        if answer.score_leave_one_out is not None
    ]

    def draw_chart(width: float) -> Drawing:
        """Return the chart drawn at the given width."""
        layout = RowLayout(width, [row.name for row in rows])
        description = f"Scores of {len(rows)} answers"
        drawing = Drawing(width, layout.height, "Answers by question", description)
        scale = build_scale([*(row.value for row in rows), mean], layout.left, layout.right)
        draw_axis(drawing, layout, scale, "similarity to the consensus of the others")
        if mean is not None:
            drawing.add_line(scale(mean), layout.top, scale(mean), layout.bottom, "median")
        draw_rows(drawing, layout, scale, rows)
        return drawing

    return Chart(
        name="scores",
        title="Where this worker agrees with the others, and where not",
        explanation=(
            "A dot further left is an answer that differs more from the others' answers to the "
            "question. The dotted line is the worker's mean. Different is not always wrong: "
            "compare the answer with the nearest one below."
        ),
        draw=draw_chart,
    )


def _format_worker_tip(answer: WorkerAnswer) -> str:
    """Return the tooltip of an answer: question, score and text."""
    text = shorten_text(answer.text, TIP)
    return f"{answer.question_name}: {format_number(answer.score_leave_one_out)}\n{text}"
