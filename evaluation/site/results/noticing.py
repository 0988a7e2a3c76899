"""The replies of a run that asks whether models notice that there is no answer, one by one."""

from __future__ import annotations

from django import forms
from django.http import HttpRequest

from evaluation.flow.umwp.summary import UmwpSummary
from evaluation.models import Run
from evaluation.reports.umwp_replies import OUTCOMES, replies_page
from evaluation.site.results.page import Context, results_page


class ChooseForm(forms.Form):
    """Which replies are shown; whatever is not among the choices shows all."""

    model = forms.ChoiceField(label="Model", required=False)
    form = forms.ChoiceField(label="Asked", required=False)
    outcome = forms.ChoiceField(label="What came of it", required=False)

    def __init__(self, summary: UmwpSummary, data: object) -> None:
        super().__init__(data, label_suffix="", auto_id="choose-%s")  # type: ignore[arg-type]
        listed = {"model": summary.systems, "form": summary.forms}
        for name, values in listed.items():
            choices = [("", "all"), *((one, one) for one in values)]
            self.fields[name].choices = choices  # type: ignore[attr-defined]
        named = [("", "all, wrong ones first"), *OUTCOMES.items()]
        self.fields["outcome"].choices = named  # type: ignore[attr-defined]


@results_page("evaluation/noticing_replies.html", UmwpSummary)
def replies(request: HttpRequest, run: Run) -> Context:
    """Show replies, wrong ones first; `model`, `form` and `outcome` choose, `page` goes on."""
    summary = UmwpSummary.of(run.summary)
    form = ChooseForm(summary, request.GET)
    form.full_clean()
    chosen = form.cleaned_data
    number = request.GET.get("page", "")
    page = replies_page(
        run,
        chosen.get("model", ""),
        chosen.get("form", ""),
        chosen.get("outcome", ""),
        int(number) if number.isascii() and number.isdigit() and len(number) < 9 else 1,
    )
    return {
        "title": "Replies, wrong ones first",
        "subtitle": f"{run.version.question_set.name}, version {run.version.number}",
        "form": form,
        "page": page,
        "counts": [(OUTCOMES[name], count) for name, count in page.counts.items()],
        "threshold": summary.threshold,
    }
