"""The numbers of methods.md written out with loops, an answer at a time."""

from collections import Counter
from math import log
from statistics import pvariance


def of_item(answers, right, possible):
    """`answers`: one for each reply, None for no vote; `right`: whether each is."""
    votes = [answer for answer in answers if answer is not None]
    times = Counter(votes)
    found = {
        "accuracy": right[0],
        "worst_case": min(right),
        "best_case": max(right),
        "item_difficulty": sum(right) / len(right),
        "plurality": 0,
        "plurality_fractional": 0.0,
    }
    if votes:
        modes = [answer for answer, count in times.items() if count == max(times.values())]
        mode = answers[0] if answers[0] in modes else next(a for a in answers if a in modes)
        found["plurality"] = right[answers.index(mode)]
        found["plurality_fractional"] = sum(right[answers.index(m)] for m in modes) / len(modes)
        found["tie_rate"] = int(len(modes) > 1)
        shares = [count / len(votes) for count in times.values()]
        if possible > 1:
            found["certainty"] = 1 + sum(p * log(p) for p in shares) / log(possible)
            found["m2_certainty"] = 1 - possible / (possible - 1) * (1 - sum(p * p for p in shares))
    if len(votes) > 1:
        r = len(votes)
        found["agreement"] = (sum(f * f for f in times.values()) - r) / (r * (r - 1))
        if possible > 1:
            found["free_marginal_kappa"] = (found["agreement"] - 1 / possible) / (1 - 1 / possible)
    return found


def fleiss(items):
    pooled, agreements = Counter(), []
    for answers in items:
        votes = [answer for answer in answers if answer is not None]
        if len(votes) > 1:
            pooled.update(votes)
            agreements.append(of_item(answers, [0] * len(answers), 2)["agreement"])
    expected = sum((count / pooled.total()) ** 2 for count in pooled.values())
    return (sum(agreements) / len(agreements) - expected) / (1 - expected)


def alpha(right):
    """`right`: a row a question, a column a wording."""
    r = len(right[0])
    of_wordings = sum(pvariance(column) for column in zip(*right, strict=True))
    return r / (r - 1) * (1 - of_wordings / pvariance([sum(row) for row in right]))


def alpha_of_paper(right):
    return alpha([list(column) for column in zip(*right, strict=True)])
