"""A stratified sample of problems for people, and the strata of replies for annotators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from annotations.exchange.reading.word_problems import WordProblem
from evaluation.methods.statistics.sampling import stratified


def sample_of_problems(
    problems: Sequence[WordProblem], wanted: int, seed: int = 0
) -> list[WordProblem]:
    """Draw problems by category and source; a problem and those made of it stay together.

    Returns
    -------
    In the order of the file, `wanted` at most.
    """
    units = _together(problems)
    levels: list[list[str | int]] = [
        [_category(unit) for unit in units],
        [unit[0].source for unit in units],
    ]
    chosen = stratified(levels, [len(unit) for unit in units], wanted, seed)
    ids = {problem.id for place in chosen for problem in units[place]}
    return [problem for problem in problems if problem.id in ids]


def stratum_of(category: int | None, form: str, taken_as: str) -> str:
    """Return the stratum of a reply in a sample for annotators.

    By what the classifier said, the category of the problem (0 where it has an answer), the form.
    """
    return f"{taken_as}|{category or 0}|{form}"


def _together(problems: Sequence[WordProblem]) -> list[list[WordProblem]]:
    """Return the problems in groups that `relevant` links, each in the order of the file."""
    first = {problem.id: problem.id for problem in problems}

    def root(item: str) -> str:
        while first[item] != item:
            first[item] = first[first[item]]
            item = first[item]
        return item

    for problem in problems:
        for other in problem.relevant:
            if other in first:
                first[root(problem.id)] = root(other)
    units: dict[str, list[WordProblem]] = {}
    for problem in problems:
        units.setdefault(root(problem.id), []).append(problem)
    return list(units.values())


def _category(unit: Sequence[WordProblem]) -> int:
    """Return the commonest category of a group, 0 where all have answers."""
    categories = Counter(one.category for one in unit if one.category is not None)
    return categories.most_common(1)[0][0] if categories else 0
