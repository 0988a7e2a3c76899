"""What an alarm says: the evidence, what it means, what to do, for people without statistics.

No message names a worker or a question: these stand beside it, and may be erased.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evaluation.methods.alarms import Finding


def message_of(finding: Finding) -> str:
    """Return the message of a finding."""
    return _WORDINGS[finding.kind, finding.case](finding, finding.figures)


def _copies_proven(f: Finding, of: Any) -> str:
    return (
        f"{_people(f)} gave the same answers but for light edits: the mean cosine of their answers "
        f"to the same question is {of['mean_cosine']:.2f}, and they close {f.statistic:.0%} of the "
        "gap that workers of their quality leave between each other. AQER counts agreement as "
        "quality, so copies lift each other's grades and can outvote the rest. Read their answers "
        "side by side; if they were copied, grade again with the group as one voter "
        "(--collapse-copies)."
    )


def _copies_alike(f: Finding, of: Any) -> str:
    return (
        f"The answers of {_people(f)} are much nearer to each other than their quality explains: "
        f"they close {f.statistic:.0%} of the gap to identity that workers like them leave. "
        "Copying from each other or from one source is the usual reason, and it lifts each other's "
        "grades. Read their answers side by side; if they were copied, grade again with the group "
        "as one voter (--collapse-copies)."
    )


def _partly(f: Finding, of: Any) -> str:
    return (
        f"{_people(f)} share a part of their answers almost word for word: {f.statistic:.0%} of "
        "them more than other workers do on the same questions. It may be a common source or some "
        "copied answers; the rest of their work is their own. The grade is little changed by it. "
        "Read these answers side by side before you decide anything."
    )


def _clique(f: Finding, of: Any) -> str:
    return (
        f"{_people(f)} are a camp of very similar answers: they close {f.statistic:.0%} of the gap "
        "to identity that workers of their quality leave. That does not say that they copied, nor "
        "that they are wrong: in a crowd of two camps the honest ones can look like this too. Do "
        "not exclude them on this alone; let an expert grade some answers that tell the camps "
        "apart (--suggest-anchors, then --anchors)."
    )


def _camps(f: Finding, of: Any) -> str:
    agreement = of["start_agreement"]
    known = "" if agreement is None else f" ({agreement:.2f} on a scale from -1 to 1)"
    hangs = (
        f"Which of them ends on top hangs on where the grading starts{known}: the ranking cannot "
        "be known from the answers alone."
        if of["open"]
        else "The grades follow the camp that agrees more, which need not be the one that is right"
        f"; started from either camp, the ranking stays much the same{known}."
    )
    sampled = of["sampled"]
    some = "" if sampled is None else f" (seen in a sample of {sampled:,} workers)"
    return (
        f"The crowd falls into two camps{some}: these {len(f.workers)} workers agree with each "
        f"other by {of['surplus']:.2f} more (mean cosine) than with the {of['other']} of the other "
        f"camp, who do likewise. {hangs} It may be a shared error, collusion, or two honest ways "
        "to answer. Do not pay or reject by these grades before an expert has graded some answers "
        "that tell the camps apart (--suggest-anchors, then --anchors)."
    )


def _question_camps(f: Finding, of: Any) -> str:
    return (
        f"The answers to {len(f.questions)} of {of['n_tested']} questions fall into two camps that "
        f"agree with themselves but not with each other, more than {f.threshold:.0%} of the "
        "questions. A misconception that many share, or a question that can be read in two ways, "
        "looks like this; the larger camp decides what counts as right. Read the answers of both "
        "camps; correct or drop the question, or grade against the nearest camp (--camps)."
    )


def _leverage(f: Finding, of: Any) -> str:
    return (
        "The ranking hangs on one worker: without this one, the others' order changes so much "
        f"that it agrees with the present one by only {f.statistic:.2f} (1 is the same order). "
        "Read this worker's answers, ask more people, or cap what one vote may weigh "
        "(--weight-cap)."
    )


def _disagreement(f: Finding, of: Any) -> str:
    return (
        "Two ways to compare texts rank the workers differently: graded by their words alone, "
        f"their order agrees with this one by only {f.statistic:.2f} (1 is the same order, 0 no "
        "agreement). One of the two does not see what makes an answer good here. Check some "
        "answers by hand, and that the embedding model knows the language and the subject."
    )


def _dont_know(f: Finding, of: Any) -> str:
    return (
        f"{_people(f)} often answered no more than that they do not know (up to {f.statistic:.0%} "
        "of a worker's answers). Such answers are alike, so they can agree with each other and "
        "gain votes. If they are many, treat them as unanswered or exclude these workers' votes "
        "(--exclude-workers)."
    )


def _model_like(f: Finding, of: Any) -> str:
    return (
        f"The answers of {_people(f)} are nearer to those of the language model {of['model']} than "
        "to any other worker's. They may have been written with such a model; people who answer "
        "in the same style look alike too. It is no proof: read the answers side by side."
    )


def _concentrated(f: Finding, of: Any) -> str:
    effective = f.statistic * of["n_workers"] if f.statistic is not None else 0.0
    return (
        f"Few workers decide: the votes weigh as much as those of {effective:.1f} equal voters "
        f"among {of['n_workers']}. The workers named carry half of the weight. That is right if "
        "they are the good ones, and dangerous if they agree for another reason. Compare with a "
        "grading that caps each vote (--weight-cap)."
    )


def _unstable(f: Finding, of: Any) -> str:
    return (
        "With other questions of the same kind the ranking would be another one: in the typical "
        f"draw of questions it agrees with this one by {f.statistic:.2f} (1 is the same order). "
        "Do not rely on close ranks; ask more questions, and look at the intervals."
    )


def _no_convergence(f: Finding, of: Any) -> str:
    return (
        f"The weights did not settle in {of['n_iterations']} iterations: the last one still "
        f"changed them by {f.statistic:.1g}, more than {f.threshold:.1g}. Allow more iterations "
        "(--max-iterations), and do not rely on close ranks."
    )


def _too_few_in_all(f: Finding, of: Any) -> str:
    return (
        f"Only {f.statistic:.0f} workers answered: grades and ranks need at least 3, because the "
        "quality of one is judged by the others. Ask more people."
    )


def _too_few_answers(f: Finding, of: Any) -> str:
    return (
        f"{_people(f)} without a rank: fewer than 5 of their answers are to questions that at "
        "least 3 workers answered. Their grades rest on too little to be compared; ask them more "
        "questions, or leave them out of decisions."
    )


def _people(f: Finding) -> str:
    return "1 worker" if len(f.workers) == 1 else f"{len(f.workers):,} workers"


_WORDINGS: dict[tuple[str, str], Callable[[Finding, Any], str]] = {
    ("copies", "proven"): _copies_proven,
    ("copies", "alike"): _copies_alike,
    ("copies", "partly"): _partly,
    ("clique", "clique"): _clique,
    ("two_camps", "crowd"): _camps,
    ("two_camps", "questions"): _question_camps,
    ("leverage", "worker"): _leverage,
    ("grader_disagreement", "crowd"): _disagreement,
    ("dont_know", "workers"): _dont_know,
    ("model_like", "model"): _model_like,
    ("concentrated_weight", "crowd"): _concentrated,
    ("unstable_ranking", "crowd"): _unstable,
    ("no_convergence", "crowd"): _no_convergence,
    ("too_few", "crowd"): _too_few_in_all,
    ("too_few", "workers"): _too_few_answers,
}
