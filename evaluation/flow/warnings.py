"""What somebody should know before trusting a grading, in codes; `evaluation.words` says them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evaluation.flow.remedies import RemedyReport
from evaluation.methods import AQER, ModelScores
from evaluation.texts.short import short_answers_warning
from evaluation.words.message import Message


def grading_warnings(
    aqer: AQER,
    models: ModelScores | None,
    n_empty: int,
    n_repeated: int = 0,
    texts: Sequence[str] = (),
    embedder: str = "minilm",
    n_rejected: int = 0,
) -> list[Message]:
    """Return the warnings that follow from numbers and texts; an empty list if there are none.

    `texts` are the answers that were graded, `embedder` the SPEC of what made their vectors;
    `n_rejected` counts the answers left out because they were refused where they were collected.
    """
    found = []
    if aqer.reason_ == "fewer_than_3_workers":
        found.append(Message("too_few_workers", {"workers": len(aqer.workers_)}))
    elif not aqer.converged_:
        found.append(Message("not_converged", {"iterations": aqer.n_iter_}))
    if aqer.reason_ == "disconnected":
        found.append(Message("disconnected"))
    excluded = sum(reason is not None for reason in aqer.out_of_ranking_)
    found += _counted(
        Message("excluded_workers", {"count": excluded}),
        Message("single_answers", {"count": int((aqer.n_workers_of_question_ == 1).sum())}),
        Message("repeated_rows", {"count": n_repeated}),
        Message("rejected_answers", {"count": n_rejected}),
        Message("empty_answers", {"count": n_empty}),
        Message("unranked_workers", {"count": int((~aqer.supported_).sum())}),
    )
    if short := short_answers_warning(texts, embedder):
        found.append(short)
    if models is not None:
        alone = sum(reason == "no_exemplar" for reason in models.answer_reasons)
        missing = sum(why == "missing_answers" for why in models.reasons)
        found += _counted(
            Message("model_answers_to_nobody", {"count": alone}),
            Message("models_with_errors", {"count": missing}),
        )
    return found


def remedy_warnings(report: RemedyReport) -> list[Message]:
    """Return what remedies could not do."""
    found = []
    if report.choice is not None and report.choice.reason is not None:
        found.append(Message("anchors_changed_nothing", {"reason": report.choice.reason}))
    if report.suggested is not None and not len(report.suggested) and report.candidates:
        reason = report.candidates.reason or "no_camps"
        found.append(Message("no_anchors_suggested", {"reason": reason}))
    if report.candidates and report.candidates.reason is None and report.choice is None:
        found.append(Message("several_rankings", {"count": len(report.candidates.found)}))
    kept = sum(not group.is_collapsed for group in report.groups)
    found += _counted(Message("groups_not_collapsed", {"count": kept}))
    if "collapse_copies" in report.names and not report.groups:
        found.append(Message("no_copies"))
    if report.questions is not None and not report.questions:
        found.append(Message("no_question_camps"))
    return found


def _counted(*messages: Message) -> Iterator[Message]:
    """Yield the messages about something that is there at all."""
    return (message for message in messages if message.values["count"])
