"""All views of models together: what a run that is done found."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.flow.views.conclusions import Portrait, answered, mean_values, portrait
from evaluation.flow.views.finding import CorrelationRow, StandingRow
from evaluation.flow.views.summary import ViewAbout, ViewsSummary
from evaluation.models import Run
from evaluation.options import SITE
from evaluation.reports.values import Estimate
from evaluation.words.views import CLAIMS, QUESTIONS


@dataclass(frozen=True)
class ViewShown:
    """A view: its name in tables, what people call it, what it says, and where it comes from.

    `leads` whether it stands for its side; `better` is "higher", "lower" or "" for neither.
    """

    name: str
    side: str
    title: str
    words: str
    better: str
    of: str
    leads: bool
    n_answers: int
    run: str


@dataclass(frozen=True)
class SourceShown:
    """A run that told views."""

    kind: str
    title: str
    run: str
    signature: str


@dataclass(frozen=True)
class Answered:
    """A question about views, and its answer in a sentence."""

    name: str
    question: str
    said: str


@dataclass(frozen=True)
class EvidenceShown:
    """A sentence about a model, the view that it rests on, and the run that told it."""

    said: str
    view: str
    title: str
    source: str
    run: str


@dataclass(frozen=True)
class ClaimShown:
    """What people want to know of a model; `missing` are sides that nobody looked at yet."""

    name: str
    question: str
    evidence: list[EvidenceShown]
    missing: list[str]


@dataclass(frozen=True)
class PortraitShown:
    """A model as all views show it; `place` is part of the address of its page."""

    model: str
    place: int
    claims: list[ClaimShown]


@dataclass(frozen=True)
class ViewsReport:
    """All views of the models of a question set.

    Attributes
    ----------
    missing : sides from which nothing was seen. answered : questions about views.
    """

    questions: int
    answers: int
    repeated: int
    sources: list[SourceShown]
    views: list[ViewShown]
    missing: list[str]
    answered: list[Answered]
    models: list[PortraitShown]
    correlations: list[CorrelationRow]
    standings: list[StandingRow]


@dataclass(frozen=True)
class ModelInView:
    """A model in a view; `gain` is against the mean of the others, positive for better.

    `against` is better, worse, alike, few, alone or neither.
    """

    model: str
    place: int
    view: ViewShown
    mean: Estimate
    n: int
    gain: Estimate
    against: str

    @property
    def size(self) -> float | None:
        """How large the difference is, without its sign."""
        return None if self.gain.value is None else abs(self.gain.value)


def standings_shown(summary: ViewsSummary, model: str = "") -> list[ModelInView]:
    """Return where models stand in the leading views; of one model in all of them."""
    shown = [one for one in summary.views if one.view.of == "answer" and (one.leads or model)]
    found = []
    for place, name in enumerate(summary.models):
        for one in shown:
            row = summary.standing(name, one.view.name)
            if row is None or (model and name != model):
                continue
            values = mean_values(row, one.view)
            found.append(
                ModelInView(
                    name,
                    place,
                    view_shown(summary, one),
                    Estimate(row.mean, row.low, row.high),
                    row.n,
                    Estimate(values["gain"], values["gain_low"], values["gain_high"]),
                    values["against"],
                )
            )
    return found


def views_report(run: Run) -> ViewsReport:
    """Return what a run that is done found, without a query."""
    summary = ViewsSummary.of(run.summary)
    return ViewsReport(
        questions=summary.questions,
        answers=summary.answers,
        repeated=summary.repeated,
        sources=[
            SourceShown(one.kind, one.title, one.run, one.signature) for one in summary.sources
        ],
        views=[view_shown(summary, one) for one in (*summary.views, *summary.model_views)],
        missing=[str(side) for side in summary.missing],
        answered=[
            Answered(one.name, QUESTIONS[one.name], SITE.said(one.said))
            for one in answered(summary)
        ],
        models=[
            portrait_shown(summary, portrait(summary, place))
            for place in range(len(summary.models))
        ],
        correlations=list(summary.correlations),
        standings=list(summary.standings),
    )


def view_shown(summary: ViewsSummary, one: ViewAbout) -> ViewShown:
    """Return a view for people."""
    view = one.view
    return ViewShown(
        view.name,
        str(view.side),
        view.title,
        view.words,
        view.better,
        view.of,
        one.leads,
        one.n_answers,
        summary.sources[one.source].run,
    )


def portrait_shown(summary: ViewsSummary, found: Portrait) -> PortraitShown:
    """Return a model's portrait in the words of the site."""
    claims = []
    for claim in found.claims:
        evidence = [
            EvidenceShown(
                SITE.said(one.said),
                one.about.view.name,
                one.about.view.title,
                summary.sources[one.about.source].title,
                summary.sources[one.about.source].run,
            )
            for one in claim.evidence
        ]
        missing = [str(side) for side in claim.missing]
        claims.append(ClaimShown(claim.name, CLAIMS[claim.name], evidence, missing))
    return PortraitShown(found.model, found.place, claims)
