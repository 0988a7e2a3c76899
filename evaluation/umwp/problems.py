"""Draw samples of word problems for people, and find contradictory labels among problems.

Unanswerable problems were made from answerable ones, so partners are similar on purpose. A
contradiction is a pair of equal or nearly equal texts with different labels or answers.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from annotations.exchange.reading.word_problems import WordProblem
from evaluation.core.stats.statistics.descriptive import draw_stratified_sample


def draw_problem_sample(
    problems: Sequence[WordProblem], wanted: int, seed: int = 0
) -> list[WordProblem]:
    """Return a random sample of problems for people, stratified by category and source.

    A problem and the problems made from it are drawn together. The sample has at most `wanted`
    problems, in the order of the file.
    """
    units = _group_related_problems(problems)
    levels: list[list[str | int]] = [
        [_find_main_category(unit) for unit in units],
        [unit[0].source for unit in units],
    ]
    chosen = draw_stratified_sample(levels, [len(unit) for unit in units], wanted, seed)
    ids = {problem.id for index in chosen for problem in units[index]}
    return [problem for problem in problems if problem.id in ids]


def build_stratum_name(category: int | None, form: str, taken_as: str) -> str:
    """Return the stratum name of a reply to annotate: its class, category and prompt form.

    The category of an answerable problem is 0.
    """
    return f"{taken_as}|{category or 0}|{form}"


def _group_related_problems(problems: Sequence[WordProblem]) -> list[list[WordProblem]]:
    """Return groups of related problems (linked by `relevant` ids), each in file order."""
    # Disjoint sets: links may form chains, and a problem may name several originals.
    parents = {problem.id: problem.id for problem in problems}

    def find_root(item: str) -> str:
        while parents[item] != item:
            parents[item] = parents[parents[item]]
            item = parents[item]
        return item

    for problem in problems:
        for other in problem.relevant:
            if other in parents:
                parents[find_root(problem.id)] = find_root(other)
    units: dict[str, list[WordProblem]] = {}
    for problem in problems:
        units.setdefault(find_root(problem.id), []).append(problem)
    return list(units.values())


def _find_main_category(unit: Sequence[WordProblem]) -> int:
    """Return a group's most frequent category of unanswerable problems; 0 without any."""
    categories = Counter(problem.category for problem in unit if problem.category is not None)
    return categories.most_common(1)[0][0] if categories else 0


SAME, SPELLING, ALIKE = "same_text", "same_but_for_marks", "alike"
LABELS, ANSWERS = "labels", "answers"
GRAM = 3
BLOCK = 1024
# Punctuation that does not change numbers: the point of 2.5, the minus of -$3, %, $ and / stay.
_MARKS = re.compile(r"[.,](?!\d)|[!?;:\"'’‘“”`´()\[\]]|[-–—](?!\s*[$€£]?\d)")


class NoiseRow(NamedTuple):
    """A row of noise.csv: two similar problems with contradictory labels or answers.

    `kind` is same_text (but for white space), same_but_for_marks (case and punctuation), or alike;
    `contradiction` labels, or answers (both answerable, with other numbers). `similarity` is the
    Jaccard index of their runs of three letters, 0 to 1. `partners`: one was made of the other.
    """

    kind: str
    contradiction: str
    similarity: float
    partners: bool
    one: str
    other: str
    one_label: str
    other_label: str
    one_text: str
    other_text: str


@dataclass(frozen=True)
class Contradictions:
    """Contradictions found in a set of problems, the most similar pairs first.

    Attributes
    ----------
    problems : number of problems.
    partners_missing : ids of unanswerable problems whose original is not in the set.
    without_partner : ids of unanswerable problems that name no original.
    partners_unanswerable : ids of those whose original is labelled unanswerable.
    gold_of_unanswerable : ids of unanswerable problems with an answer.
    """

    rows: tuple[NoiseRow, ...]
    problems: int
    partners_missing: tuple[str, ...]
    without_partner: tuple[str, ...]
    partners_unanswerable: tuple[str, ...]
    gold_of_unanswerable: tuple[str, ...]

    @cached_property
    def counts(self) -> dict[str, int]:
        """Numbers of contradictory pairs by kind; linked problem pairs are counted separately."""
        counts = Counter(
            f"{row.kind}_{row.contradiction}" + ("_of_partners" if row.partners else "")
            for row in self.rows
        )
        return dict(sorted(counts.items()))


def find_contradictions(problems: Sequence[WordProblem], least: float) -> Contradictions:
    """Return the pairs of similar problems whose labels or answers contradict each other.

    Parameters
    ----------
    least : two problems are similar from this Jaccard index on, above 0 to 1.
    """
    known = {problem.id: problem for problem in problems}
    labelled = [problem for problem in problems if problem.answerable is not None]
    unanswerable = [problem for problem in labelled if not problem.answerable]
    return Contradictions(
        tuple(sorted(_list_contradictions(labelled, least), key=_build_sort_key)),
        len(problems),
        tuple(
            problem.id
            for problem in unanswerable
            if any(item not in known for item in problem.relevant)
        ),
        tuple(problem.id for problem in unanswerable if not problem.relevant),
        tuple(
            problem.id
            for problem in unanswerable
            if any(item in known and known[item].answerable is False for item in problem.relevant)
        ),
        tuple(problem.id for problem in unanswerable if problem.answers),
    )


def _build_sort_key(row: NoiseRow) -> tuple[int, float]:
    """Return the sort key of a contradiction: equal texts first, then most similar."""
    return (SAME, SPELLING, ALIKE).index(row.kind), -row.similarity


def _list_contradictions(problems: Sequence[WordProblem], least: float) -> Iterator[NoiseRow]:
    """Yield a row for each similar pair with different labels or different answers."""
    texts = [_normalize_text(problem.text) for problem in problems]
    for i, j, similarity in _find_similar_pairs(texts, least):
        first, second = problems[i], problems[j]
        if first.answerable != second.answerable:
            contradiction = LABELS
        elif first.answerable and set(first.answers) != set(second.answers):
            contradiction = ANSWERS
        else:
            continue
        is_same = " ".join(first.text.split()) == " ".join(second.text.split())
        kind = SAME if is_same else SPELLING if texts[i] == texts[j] else ALIKE
        if kind == ALIKE and contradiction == ANSWERS:
            continue  # other numbers in the text explain the other answer
        yield NoiseRow(
            kind,
            contradiction,
            similarity,
            first.id in second.relevant or second.id in first.relevant,
            *(
                first.id,
                second.id,
                _format_problem_label(first),
                _format_problem_label(second),
                first.text,
                second.text,
            ),
        )


def _format_problem_label(problem: WordProblem) -> str:
    """Return a problem's accepted answers as text, or "unanswerable" with its category."""
    if problem.answerable:
        return " or ".join(f"{answer:g}" for answer in problem.answers)
    return "unanswerable" + (f" ({problem.category})" if problem.category else "")


def _normalize_text(text: str) -> str:
    """Return a text in lower case, without punctuation that leaves numbers unchanged."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_MARKS.sub(" ", folded).split())


def _find_similar_pairs(texts: Sequence[str], least: float) -> Iterator[tuple[int, int, float]]:
    """Yield (i, j, similarity) of text pairs whose trigram Jaccard index is at least `least`.

    The Jaccard index is the number of common trigrams, divided by the number in either text.
    """
    numbers: dict[str, int] = {}
    rows, columns = [], []
    for row, text in enumerate(texts):
        padded = f" {text} "
        for gram in {padded[i : i + GRAM] for i in range(max(1, len(padded) - GRAM + 1))}:
            rows.append(row)
            columns.append(numbers.setdefault(gram, len(numbers)))
    shape = (len(texts), max(1, len(numbers)))
    grams = sparse.csr_matrix((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)
    sizes = np.asarray(grams.sum(axis=1)).ravel()
    # In blocks: the full matrix of all pairs would not fit into memory.
    for start in range(0, len(texts), BLOCK):
        common = (grams[start : start + BLOCK] @ grams.T).toarray()
        union = sizes[start : start + BLOCK, None] + sizes[None, :] - common
        jaccard = common / np.maximum(union, 1.0)
        for i, j in np.argwhere(jaccard >= least):
            # The matrix is symmetric: each pair once, and no text with itself.
            if start + i < j:
                # The division in single precision may give slightly more than 1.
                yield int(start + i), int(j), min(1.0, float(jaccard[i, j]))
