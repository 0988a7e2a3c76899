"""AQER written out cell by cell, vector by vector, as the paper words it.

Slow and simple: the exemplary answers are formed, every mean is a loop. The project's Gram form
is compared with this.
"""

import numpy as np


def cosine(a, b):
    norm = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / norm) if norm > 1e-13 else 0.0


def negative_distance(a, b):
    return -float(np.linalg.norm(a - b))


def mean_vote(rows, weights):
    if sum(weights) <= 0:
        weights = [1.0] * len(rows)
    return sum(w * x for w, x in zip(weights, rows, strict=True)) / sum(weights)


def majority_vote(rows, weights):
    return (mean_vote(rows, weights) > 0.5 + 1e-12).astype(float)


def exemplar(answers, question, weights, vote=mean_vote, without=None):
    chosen = [(w, x) for (w, q), x in answers.items() if q == question and w != without]
    return vote([x for _, x in chosen], [weights[w] for w, _ in chosen])


def scores_of(answers, weights, similarity, vote, leave_one_out):
    """Return the score of every answer; None for a question's only answer when it is left out."""
    scores = {}
    for (worker, question), x in answers.items():
        alone = sum(q == question for _, q in answers) == 1
        if leave_one_out and alone:
            scores[worker, question] = None
            continue
        without = worker if leave_one_out else None
        scores[worker, question] = similarity(
            x, exemplar(answers, question, weights, vote, without)
        )
    return scores


def without_difficulty(scores):
    """Subtract question effects, found by a dense least-squares fit of s = theta_i + b_j."""
    cells = [key for key, s in scores.items() if s is not None]
    workers = sorted({w for w, _ in cells})
    questions = sorted({q for _, q in cells})
    design = np.zeros((len(cells), len(workers) + len(questions)))
    for row, (w, q) in enumerate(cells):
        design[row, workers.index(w)] = 1
        design[row, len(workers) + questions.index(q)] = 1
    solution = np.linalg.lstsq(design, [scores[key] for key in cells], rcond=None)[0]
    effect = dict(zip(questions, solution[len(workers) :], strict=True))
    for part in connected(cells):
        mean = np.mean([effect[q] for q in part])
        effect.update({q: effect[q] - mean for q in part})
    return {key: None if s is None else s - effect[key[1]] for key, s in scores.items()}


def connected(cells):
    """Return the sets of questions that workers connect."""
    parts = []
    for worker in {w for w, _ in cells}:
        mine = {q for w, q in cells if w == worker}
        for part in [p for p in parts if p & mine]:
            mine |= part
            parts.remove(part)
        parts.append(mine)
    return parts


def question_weights(scores):
    """Return q_j, the item-rest correlation cut at zero; the median below five answerers."""
    known = {key: s for key, s in scores.items() if s is not None}
    q, few = {}, []
    for question in {q for _, q in known}:
        pairs = []
        for (worker, asked), s in known.items():
            rest = [t for (w, other), t in known.items() if w == worker and other != question]
            if asked == question and rest:
                pairs.append((s, np.mean(rest)))
        if len(pairs) < 5:
            few.append(question)
            continue
        x, y = np.array(pairs).T
        varied = x.std() > 1e-12 and y.std() > 1e-12
        q[question] = max(0.0, np.corrcoef(x, y)[0, 1]) if varied else 0.0
    if not q:
        return dict.fromkeys(few, 1.0)
    q.update(dict.fromkeys(few, np.median(list(q.values()))))
    return q if any(q.values()) else dict.fromkeys(q, 1.0)


def raw_scores(scores, workers, difficulty, discrimination):
    if difficulty:
        scores = without_difficulty(scores)
    q = question_weights(scores) if discrimination else None
    raw = {}
    for worker in workers:
        mine = {key: s for key, s in scores.items() if key[0] == worker and s is not None}
        weights = [1.0 if q is None else q[key[1]] for key in mine]
        raw[worker] = np.average(list(mine.values()), weights=weights) if sum(weights) > 0 else None
    return raw


def grades_of(raw):
    known = [r for r in raw.values() if r is not None]
    low, high = min(known), max(known)
    flat = high - low <= 1e-12 * max(1, abs(high))
    return {
        w: None if r is None else 1.0 if flat else (r - low) / (high - low) for w, r in raw.items()
    }


def literal_aqer(
    answers,
    similarity=cosine,
    vote=mean_vote,
    leave_one_out=False,
    difficulty=False,
    discrimination=False,
    stopping="relative",
    tolerance=1e-6,
    max_iterations=100,
    start=None,
):
    """Grade the workers of ``{(worker, question): vector}``; see methods.md, section 1."""
    workers = list(dict.fromkeys(w for w, _ in answers))
    m = len(workers)
    weights = dict.fromkeys(workers, 1 / m) if start is None else start
    trace = []
    for _ in range(max_iterations):
        previous = weights
        scores = scores_of(answers, weights, similarity, vote, leave_one_out)
        raw = raw_scores(scores, workers, difficulty, discrimination)
        grades = grades_of(raw)
        total = sum(g or 0.0 for g in grades.values())
        weights = {w: (g or 0.0) / total for w, g in grades.items()}
        trace.append(np.sqrt(np.mean([(weights[w] - previous[w]) ** 2 for w in workers])))
        if trace[-1] * (m if stopping == "relative" else 1) < tolerance:
            break
    return {
        "raw": raw,
        "grades": grades,
        "weights": weights,
        "scores": scores_of(answers, previous, similarity, vote, leave_one_out=False),
        "final_scores": scores_of(answers, weights, similarity, vote, leave_one_out=False),
        "left_out": scores_of(answers, weights, similarity, vote, leave_one_out=True),
        "trace": trace,
    }
