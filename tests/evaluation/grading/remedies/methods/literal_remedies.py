"""The remedies written out answer by answer, as platform/docs/data-formats.md words them."""

import numpy as np

from tests.evaluation.consensus.methods import literal


def medoid(rows, similarity):
    """The row that is most like the others; the first one wins a tie."""
    sums = [sum(similarity(x, y) for b, y in enumerate(rows) if b != a) for a, x in enumerate(rows)]
    best = max(sums)
    return next(a for a, s in enumerate(sums) if s >= best - 1e-9)


def units_of(answers, excluded, groups, similarity):
    """Return the answers that vote, by unit, and the unit of each worker that has one."""
    unit = {w: w for w, _ in answers if w not in excluded}
    for number, group in enumerate(groups):
        unit.update(dict.fromkeys(group, f"group {number}"))
    voting = {(w, q): x for (w, q), x in answers.items() if w in unit and unit[w] == w}
    for number, group in enumerate(groups):
        for question in dict.fromkeys(q for w, q in answers if w in group):
            rows = [x for (w, q), x in answers.items() if w in group and q == question]
            voting[f"group {number}", question] = rows[medoid(rows, similarity)]
    return voting, unit


def capped(weights, cap):
    """min(cap, c w) with the c, found by halving, that makes the sum 1."""
    low, high = 0.0, 1e12
    for _ in range(200):
        c = (low + high) / 2
        low, high = (low, c) if sum(min(cap, c * w) for w in weights.values()) > 1 else (c, high)
    out = {unit: min(cap, high * w) for unit, w in weights.items()}
    rest = [unit for unit, w in weights.items() if w == 0]
    left = 1 - sum(out.values())
    if rest and left > 1e-9:
        out.update(dict.fromkeys(rest, left / len(rest)))
    return out


def grade_of(raw, low, high):
    return None if raw is None else float(np.clip((raw - low) / (high - low), 0, 1))


def literal_remedied(
    answers,
    excluded=(),
    groups=(),
    group_vote=0.25,
    cap=None,
    similarity=literal.cosine,
    vote=literal.mean_vote,
    leave_one_out=False,
    difficulty=False,
    discrimination=False,
    max_iterations=25,
):
    """Return raw scores and grades of all workers, and the units' weights."""
    voting, unit = units_of(answers, excluded, groups, similarity)
    units = list(dict.fromkeys(u for u, _ in voting))
    collapsed = {u for u in units if str(u).startswith("group")}
    weights = dict.fromkeys(units, 1 / len(units))

    def scores_of():
        plain, left_out = (
            literal.scores_of(voting, weights, similarity, vote, out) for out in (False, True)
        )
        return {
            key: left_out[key] if leave_one_out or key[0] in collapsed else plain[key]
            for key in voting
        }

    for _ in range(max_iterations):
        previous, scores = weights, scores_of()
        raw = literal.raw_scores(scores, units, difficulty, discrimination)
        scale = [raw[u] for u in units if u not in collapsed and raw[u] is not None]
        low, high = min(scale), max(scale)
        share = {
            u: (grade_of(raw[u], low, high) or 0.0) * (group_vote if u in collapsed else 1.0)
            for u in units
        }
        weights = {u: share[u] / sum(share.values()) for u in units}
        weights = weights if cap is None else capped(weights, cap)
        if len(units) * np.sqrt(np.mean([(weights[u] - previous[u]) ** 2 for u in units])) < 1e-6:
            break
    final, weights = weights, previous
    adjusted = literal.without_difficulty(scores) if difficulty else scores
    q = literal.question_weights(adjusted) if discrimination else None
    effect = {key[1]: scores[key] - s for key, s in adjusted.items() if s is not None}
    for worker in dict.fromkeys(w for w, _ in answers):
        if unit.get(worker) == worker:
            continue
        values, times = [], []
        for (who, question), x in answers.items():
            others = {k: v for k, v in voting.items() if k[0] != unit.get(worker)}
            if who != worker or not any(asked == question for _, asked in others):
                continue
            s = similarity(x, literal.exemplar(others, question, previous, vote))
            values.append(s - effect[question])
            times.append(1.0 if q is None else q[question])
        raw[worker] = np.average(values, weights=times) if sum(times) > 0 else None
    grades = {w: None if w in excluded else grade_of(raw[w], low, high) for w, _ in answers}
    return raw, grades, final
