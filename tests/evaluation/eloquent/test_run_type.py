"""Replies to prompts of the same meaning over a question set: in turns, on its pages, by REST."""

import csv
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from rest_framework.test import APIClient

from annotations.exchange import InputError
from annotations.exchange.importing import import_prompts
from annotations.exchange.reading.source import make_bytes_source
from annotations.models import QuestionSet, Variant
from evaluation.core.messages.message import Message
from evaluation.core.messages.reasons import describe_reason
from evaluation.core.options import OptionError, build_problem
from evaluation.eloquent.options import EloquentRunOptions
from evaluation.eloquent.storage import estimate_requests, load_findings, load_prompt_items
from evaluation.models import LanguageModel, Run, RunData
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.steps.asking import study_asking as in_turns
from tests.evaluation.core.backends.chat.fake import FakeChat, error, said
from tests.evaluation.eloquent.test_evaluate import prompts_text
from tests.evaluation.eloquent.test_study import World, is_judge
from tests.evaluation.runs.run_types.texts import numbers_of

PROMPTS = make_bytes_source("prompts.json", prompts_text().encode())


@pytest.fixture
def world():
    made = World()
    yield made
    made.server.close()


@pytest.fixture
def rita(db, django_user_model, monkeypatch, settings):
    settings.MODEL_NETWORKS = ["127.0.0.0/8"]  # where the tests' models are
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    return django_user_model.objects.create_user("rita", password="rivers", is_staff=True)


@pytest.fixture
def question_set(rita):
    made = QuestionSet(owner=rita, name="prompts")
    import_prompts(made, PROMPTS)
    return made


def registered(owner, name, spec):
    return LanguageModel.objects.create(owner=owner, name=name, spec=spec, price_in=0, price_out=1)


@pytest.fixture
def small(rita, world):
    return registered(rita, "small", world.server.spec)


def options(models, judges=(), **more):
    return EloquentRunOptions(
        models=tuple(str(one.public_id) for one in models),
        judges=tuple(str(one.public_id) for one in judges),
        **{"embedder": "tfidf-word", "bootstrap": 20, **more},
    )


def done(question_set, parameters, state="done"):
    version = question_set.latest_version()
    run = runs.queue_run(version, question_set.owner_id, parameters, "eloquent")
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert run.state == state, run.error
    return run


def value(run, system, metric, group=""):
    return load_findings(run).find_metric(system, metric, group).value


def test_a_file_of_prompts_becomes_questions_with_variants(question_set):
    version = question_set.latest_version()
    first, second = load_prompt_items(version)
    assert (first.id, first.variation, first.languages) == ("001", "style", ("en", "sv"))
    assert [one.prompt for one in second.variants] == ["Write to mum.", "Write to mother."]
    kinds = Variant.objects.filter(question__external_id="001").values_list("kind", flat=True)
    assert list(kinds) == ["rewording", "translation"]
    again = import_prompts(question_set, PROMPTS)
    assert (again.n_new, again.n_unchanged) == (0, 2)
    assert Variant.objects.count() == 3


def test_an_item_with_other_wordings_is_refused(question_set):
    other = prompts_text().replace("Write to mother.", "Write to father.")
    with pytest.raises(InputError, match="with other wordings"):
        import_prompts(question_set, make_bytes_source("p.json", other.encode()))


def test_models_are_asked_and_judged_and_the_numbers_are_those_of_files(question_set, small, world):
    run = done(question_set, options([small], [small]))
    assert len(world.bodies(judge=False)) == 5
    assert len(world.bodies(judge=True)) == 2
    assert value(run, "small", "sum") == 8.0
    assert value(run, "small", "n") == 2
    assert value(run, "", "average", "item:001") == 4.0
    assert run.summary["replies"] == 5
    assert run.summary["cost"] == pytest.approx(7 * 5 / 1_000_000)
    assert "|inputs:" in run.signature
    reasons = [one["reason"] for one in run.summary["exclusions"]]
    assert reasons == ["fewer_than_2_variants"]


@pytest.mark.medium
@pytest.mark.parametrize(
    ("more", "counts"),
    [
        ({}, {"Asking models": 5, "Judging": 2}),
        (
            {"follow_ups": "Are you sure?\nWhy?", "repeats": 3, "judge_temperature": 1.0},
            {"Asking models": 5, "Follow-up 1": 5, "Follow-up 2": 5, "Judging": 6},
        ),
    ],
)
def test_as_many_requests_are_foreseen_as_models_and_judges_get(
    question_set, small, world, rita, client, more, counts
):
    # A model says something else in every turn: equal requests would be sent once.
    world.server.reply = lambda body: (
        said("Similarity score: 4") if is_judge(body) else said(f"reply to {body['messages']}")
    )
    chosen = options([small], [small], **more)
    found = estimate_requests(question_set.latest_version(), rita, chosen)
    assert {one.step: one.requests for one in found.takes} == counts
    assert world.server.bodies == []
    client.force_login(rita)
    address = reverse("admin:start", args=[question_set.public_id, "eloquent"])
    form = {name: value for name, value in chosen.as_dict().items() if value is not None}
    page = client.post(address, form | {"do": "foresee"})
    assert page.status_code == 200
    assert page.context["foreseen"].requests == found.requests
    done(question_set, chosen)
    assert len(world.server.bodies) == found.requests == sum(counts.values())


def test_replies_of_an_earlier_run_are_not_counted_as_requests(question_set, small, rita):
    done(question_set, options([small]))
    found = estimate_requests(question_set.latest_version(), rita, options([small]))
    assert (found.requests, found.stored, found.cost) == (0, 5, 0)


@pytest.mark.medium
def test_a_turn_that_ends_early_leaves_its_replies_to_the_next_one(
    question_set, small, world, monkeypatch
):
    # One at a time, and a turn is over as soon as one more is there.
    monkeypatch.setattr(in_turns, "AT_ONCE", 1)
    answer, came = world.server.reply, []

    def one_more(body):
        came.append(body)
        found = answer(body)
        found.delay = 0.3
        return found

    def over(self):
        return bool(came) and came.clear() is None

    world.server.reply = one_more
    monkeypatch.setattr(in_turns._StepModelsAsker, "is_turn_over", over)
    run = done(question_set, options([small], [small]))
    assert len(world.server.bodies) == 7  # nothing was asked twice
    assert run.attempt > 3
    assert value(run, "small", "sum") == 8.0


@pytest.mark.medium
def test_another_run_takes_over_what_was_replied_to_the_same_request(question_set, small, world):
    done(question_set, options([small]))
    before = len(world.server.bodies)
    run = done(question_set, options([small], bootstrap=0))
    assert len(world.server.bodies) == before
    assert (run.summary["requests"], run.summary["reused"], run.summary["cost"]) == (0, 5, 0.0)
    done(question_set, options([small], temperature=1.0))
    assert len(world.server.bodies) == before + 5


@pytest.mark.medium
def test_a_judge_is_asked_once_more_without_a_score(question_set, small, world):
    world.scores = ["They agree.", "Fine."]
    run = done(question_set, options([small], [small]))
    assert world.asked == 4
    assert run.summary["without_score"] == 2
    judged = load_findings(run).judgements
    assert {(one.score, one.reason, one.n_asked) for one in judged} == {(None, "no_score_line", 2)}


def test_replies_and_judgements_that_were_cut_off_are_no_errors(question_set, small, world):
    whole, cut = world.server.reply, []

    def reply(body):
        if is_judge(body) or cut:
            return said("", "length") if is_judge(body) else whole(body)
        cut.append(body)
        return said("", "length")

    world.server.reply = reply
    run = done(question_set, options([small], [small]))
    assert (run.summary["errors"], run.summary["cut_off"]) == (0, 1)
    told = {one["values"]["raise"]: one["values"]["count"] for one in run.warnings
            if one["code"] == "study_replies_cut_off"}  # fmt: skip
    judged = load_findings(run).judgements
    assert told == {"max_tokens": 1, "judge_max_tokens": len(judged)}
    # A judge that was cut off is not asked once more: it would be again.
    assert {(one.score, one.reason, one.n_asked) for one in judged} == {(None, "cut_off", 1)}


def refused(question_set, parameters):
    with pytest.raises(OptionError) as caught:
        runs.queue_run(question_set.latest_version(), question_set.owner_id, parameters, "eloquent")
    return list(caught.value.problems)


def test_a_run_without_a_model_of_ones_own_is_not_started(question_set, world, django_user_model):
    assert refused(question_set, options([])) == [build_problem("no_models", "models")]
    other = registered(django_user_model.objects.create_user("olga"), "hers", world.server.spec)
    assert refused(question_set, options([other])) == [
        build_problem("unknown_models", "models", missing=1)
    ]
    mine = registered(question_set.owner, "imported", "")
    assert refused(question_set, options([mine])) == [
        build_problem("no_spec", "models", name="imported")
    ]


def test_a_set_without_other_wordings_has_nothing_to_compare(rita, small):
    made = QuestionSet.objects.create(owner=rita, name="alone")
    made.draft().questions.create(external_id="1", text="Where?", position=1)
    assert refused(made, options([small])) == [build_problem("no_wordings")]


def test_a_model_that_was_taken_away_meanwhile_fails_the_run(question_set, small, world):
    version = question_set.latest_version()
    run = runs.queue_run(version, question_set.owner_id, options([small]), "eloquent")
    small.delete()
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert run.state == "failed"
    missing = {"missing": 1, "what": "model"}
    assert Message.from_stored(run.error) == Message("run.models_missing", missing)


def test_a_model_that_never_replies_fails_the_run_with_its_reason(question_set, small, world):
    world.replies = {}
    world.answer = lambda body: error(401)
    world.server.reply = world.answer
    run = done(question_set, options([small]), "failed")
    told = Message.from_stored(run.error)
    assert (told.code, "401" in told.values["reason"]) == ("run.no_model_replied", True)


@pytest.mark.medium
def test_the_pages_show_scores_with_a_picture_and_the_texts_worst_first(
    client, question_set, small, world, rita, monkeypatch
):
    monkeypatch.setattr(in_turns, "AT_ONCE", 1)  # the judge's scores come in turn
    other = FakeChat(lambda body: said("Similarity score: 2"))
    try:
        judge = registered(rita, "strict", other.spec.replace("small", "large"))
        world.scores = ["Apart.\nSimilarity score: 1", "Alike.\nSimilarity score: 5"]
        run = done(question_set, options([small], [small, judge]))
    finally:
        other.close()
    client.force_login(rita)
    page = client.get(reverse("admin:results-run", args=[run.public_id])).content.decode()
    # 2 items in 5 wordings and 2 languages, put to 1 model.
    assert numbers_of(page.split('id="counts">')[1].split("</p>")[0])[:4] == [1, 2, 5, 2]
    assert "chart-mark" in page
    assert 'id="judges"' in page
    assert 'id="no-chart"' not in page
    assert describe_reason("fewer_than_2_variants") in page
    texts = client.get(reverse("admin:results-reply-texts", args=[run.public_id]))
    shown = texts.content.decode()
    # 001: (1 + 2)/2, 002: (5 + 2)/2.
    assert shown.index("Score 1.50 of 5") < shown.index("Score 3.50 of 5")
    assert "reply to <mark>What</mark> rules?" in shown
    assert "Apart." in shown
    picture = client.get(reverse("admin:results-chart", args=[run.public_id, "reply-scores"]))
    assert picture.status_code == 200
    for name in ("metrics", "items", "reply-sets", "replies", "judgements", "agreement"):
        table = client.get(reverse("admin:results-table", args=[run.public_id, name]))
        rows = list(csv.DictReader(io.StringIO(b"".join(table).decode("utf-8-sig"))))
        assert rows, name


def test_without_a_judge_the_page_says_so_and_compares_vectors(
    client, question_set, small, world, rita
):
    run = done(question_set, options([small]))
    client.force_login(rita)
    response = client.get(reverse("admin:results-run", args=[run.public_id]))
    assert response.context["report"].judges == []
    page = response.content.decode()
    assert 'id="judges"' not in page
    assert 'id="no-chart"' in page
    report = APIClient()
    report.force_authenticate(rita)
    found = report.get(f"/api/v1/runs/{run.public_id}/results/").json()
    (system,) = found["systems"]
    assert (system["sum"], system["rank"]) == (None, None)
    assert 0 < system["similarity"] < 1


def start_page(question_set):
    return reverse("admin:start", args=[question_set.public_id, "eloquent"])


@pytest.mark.medium
def test_the_page_that_starts_it_takes_ticked_models(client, question_set, small, world, rita):
    client.force_login(rita)
    response = client.get(start_page(question_set))
    before, shown = response.context["before"], response.content.decode()
    assert (before.ready, numbers_of(before.words)) == (True, [2, 5])
    assert "en, sv" in before.words
    assert before.words in shown
    assert str(small.public_id) in shown
    refused = client.post(start_page(question_set), {"start": "1"})
    assert refused.status_code == 400
    errors = refused.context["form"].errors.as_data()
    assert [one.code for one in errors["models"]] == ["required"]
    form = {
        "start": "1",
        "models": [str(small.public_id)],
        "judges": [str(small.public_id)],
        "embedder": "tfidf-word",
        "precision": "float32",
        "bootstrap": "20",
        "seed": "0",
        "repeats": "1",
        "judge_temperature": "0",
        "judge_max_tokens": "64",
        "temperature": "0",
        "max_tokens": "16",
    }
    # One reply to each of 5 prompts, and one judgement of each of 2 sets in two languages.
    unseen = client.post(start_page(question_set), form)
    assert (unseen.status_code, unseen.context["is_unseen"]) == (200, True)
    assert unseen.context["foreseen"].requests == 5 + 2
    assert not Run.objects.exists()
    assert world.server.bodies == []
    seen = {"seen": unseen.context["seen"]}
    # What was shown is the cost of these options, not of others.
    other = client.post(start_page(question_set), form | seen | {"repeats": "2"})
    assert (other.status_code, other.context["is_unseen"]) == (200, True)
    answer = client.post(start_page(question_set), form | seen)
    assert answer.status_code == 302
    while work_one_turn():
        pass
    run = question_set.latest_version().runs.get()
    assert (run.state, run.kind) == ("done", "eloquent")
    assert RunData.objects.filter(run=run, name="findings").exists()


def test_prompts_are_uploaded_on_that_page_and_mended_if_asked(client, rita):
    made = QuestionSet.objects.create(owner=rita, name="empty")
    client.force_login(rita)
    assert client.get(start_page(made)).context["before"].ready is False
    broken = prompts_text().replace("},\n", "}\n", 1).encode()

    def upload(**more):
        file = SimpleUploadedFile("prompts.json", broken)
        return client.post(start_page(made), {"prompts": file, **more}, follow=True)

    refused = upload()
    problems = refused.context["staged"].problems
    assert [(one["line"], one["column"]) for one in problems] == [(14, 6)]
    assert "--repair" not in refused.content.decode()
    tried = upload(repair="1")
    report = tried.context["staged"].report
    assert (report["n_rows"], report["n_new"]) == (2, 2)
    # A comma was added behind that line.
    assert [13] in [numbers_of(note) for note in report["notes"]]
    assert made.latest_version() is None
    token = tried.context["staged"].public_id
    client.post(reverse("admin:upload-confirm", args=[made.public_id, token]))
    assert len(load_prompt_items(made.latest_version())) == 2


def test_viewers_may_not_start_it(client, question_set, django_user_model):
    client.force_login(django_user_model.objects.create_user("vera", is_staff=True))
    assert client.get(start_page(question_set)).status_code == 404
