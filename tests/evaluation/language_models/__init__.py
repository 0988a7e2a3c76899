"""A set of questions, models at a fake server, and runs that ask them."""

from evaluation.models import LanguageModel, LLMResponse, Run
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.flow.asking.options import AskOptions
from evaluation.runs.flow.asking.summary import AskSummary


def model(owner, name, spec, **more):
    return LanguageModel.objects.create(owner=owner, name=name, spec=spec, **more)


def queued(version, *models, owner=None, **options):
    """A run that asks these models."""
    chosen = AskOptions(models=tuple(str(one.public_id) for one in models), **options)
    who = owner or version.question_set.owner
    return runs.queue_run(version, who.pk, chosen, "ask", trusted=False)


def worked(run, turns=20, **turn):
    """The run after so many turns at most."""
    for _ in range(turns):
        work_one_turn(**turn)
        run.refresh_from_db()
        if run.is_finished:
            break
    return run


def asked(version, *models, **options):
    """The summary of a run that is done."""
    run = worked(queued(version, *models, **options))
    assert run.state == Run.State.DONE, run.error
    return AskSummary.from_json(run.summary)


def texts(of):
    """What a model answered: text by question and sample."""
    rows = LLMResponse.objects.filter(model=of).order_by("pk")
    return {
        (one.question.external_id, one.sample): one.text for one in rows.select_related("question")
    }
