"""A further wave: made on a page, and compared with the one before."""

import csv
import io
import re

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.urls import reverse
from sklearn.feature_extraction.text import TfidfVectorizer

from annotations.models import QuestionSet, Response
from evaluation.core.stats.inference.correlations import compute_retest_agreement
from evaluation.models import AnswerScore, ExemplaryAnswer, LLMScore, Run, WorkerGrade
from evaluation.waves.report.comparison import NOT_TESTED, build_waves_report
from evaluation.waves.storage import compute_shifts
from tests.api.conftest import Api
from tests.evaluation.fact_world import graded
from tests.evaluation.grading.facts.test_views import html
from tests.evaluation.site.handles import element_text, numbers, states
from tests.evaluation.waves.wave_world import two_waves

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept():
    """No test was kept by other tests."""
    cache.clear()


@pytest.fixture
def spelled(rana, tmp_path):
    """Both graded by the spelling of answers, which each run learns from its own."""
    return two_waves(rana, tmp_path)


@pytest.fixture
def waves(spelled):
    """The same, as if by one model of meaning, and as if 3 answers were enough but for Gus."""
    before, after = spelled
    after.summary["embedding"] = before.summary["embedding"]
    after.save()
    WorkerGrade.objects.exclude(worker__external_id="gus").update(support=True)
    return before, after


def address(run, page="waves", /, **ids):
    return reverse(f"admin:results-{page}", kwargs={"run": run.public_id, **ids})


def table(site, run, name):
    text = site.get(address(run, "table", name=name)).getvalue().decode("utf-8-sig")
    return {row[next(iter(row))]: row for row in csv.DictReader(io.StringIO(text))}


def text_of(response):
    """The words of an answer, without its elements."""
    return words_of(response.content.decode())


def words_of(page):
    """The words of a page, without its elements."""
    text = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.S)
    return " ".join(re.sub(r"<[^>]+>", "", text).split())


def mean_of(run, name):
    """A worker's mean score without their own share, added up by hand."""
    scores = list(
        AnswerScore.objects.filter(
            run=run, response__submission__worker__external_id=name
        ).values_list("score_leave_one_out", flat=True)
    )
    return sum(scores) / len(scores)


@pytest.mark.medium
def test_people_of_both_are_compared_by_their_own_means(waves):
    before, after = waves
    people = build_waves_report(before, after).people
    assert {one.name for one in people.workers} == {"ada", "ben", "cy", "dee", "eli", "fay", "gus"}
    # Ten then, ten now, seven of both.
    assert (people.only_before, people.only_after) == (3, 3)
    for one in people.workers:
        assert one.before == pytest.approx(mean_of(before, one.name))
        assert one.after == pytest.approx(mean_of(after, one.name))
        assert (one.n_before, one.n_after) == (3, 3)
    told = sorted({one.name for one in people.workers} - {"gus"})
    both = ([mean_of(run, name) for name in told] for run in waves)
    found = compute_retest_agreement(*both)
    assert (people.retest.n, people.n_too_few) == (6, 1)
    assert people.retest.correlation == pytest.approx(found.correlation)
    assert people.retest.interval.low == pytest.approx(found.interval.low)


@pytest.mark.medium
def test_the_question_whose_year_changed_says_so(waves):
    report = build_waves_report(*waves)
    by_name = {one.name: one for one in report.questions}
    assert set(by_name) == {"cable", "ship", "why"}
    (fact,) = by_name["cable"].facts
    assert (fact.before, fact.after) == (("1858",), ("1866",))
    assert by_name["ship"].facts == by_name["why"].facts == ()
    assert report.n_facts == 1
    assert (by_name["cable"].before, by_name["cable"].after) == (
        "It was in 1858, I think", "It was in 1866, I think",
    )  # fmt: skip
    assert (by_name["cable"].n_before, by_name["cable"].n_after) == (10, 10)


@pytest.mark.medium
def test_distances_are_those_of_the_exemplary_answers(waves):
    """Vectors by hand: of the ship a right angle, of the cable the same, none of why."""
    before, after = waves
    vectors = {"ship": ([1, 0], [0, 1]), "cable": ([1, 0], [2, 0]), "why": ([1, 0], None)}
    for run, place in ((before, 0), (after, 1)):
        for name, both in vectors.items():
            rows = ExemplaryAnswer.objects.filter(run=run, question__external_id=name)
            if both[place] is None:
                rows.update(vector=None, dimension=None, dispersion=0.4)
                continue
            packed = np.array(both[place], dtype="<f4").tobytes()
            rows.update(vector=packed, dimension=2, dispersion=0.4)
    report = build_waves_report(before, after)
    by_name = {one.name: one for one in report.questions}
    ship, cable, why = (by_name[name] for name in ("ship", "cable", "why"))
    assert (ship.distance, cable.distance, why.distance) == (pytest.approx(1.0), 0.0, None)
    # Twice ten, means of length .6: (3.6 - 1) * 2 / 18 = .2889, .2889 / .36 = .8025.
    assert ship.by_chance == pytest.approx(1 - 5.2 / 18 / 0.36)
    assert ship.times == pytest.approx(1 / 0.19753, rel=1e-3)
    assert (ship.moved, cable.moved, why.moved) == (True, False, False)
    assert (report.n_moved, report.n_measured) == (1, 2)


@pytest.mark.medium
def test_models_whose_answers_came_along_are_scored_by_the_new_crowd(waves):
    before, after = waves
    models = build_waves_report(before, after).models
    assert {one.name for one in models.rows} == {"Big", "Small"}
    assert [one.n_same for one in models.rows] == [one.n_answers for one in models.rows]
    for one in models.rows:
        for run, found in ((before, one.before), (after, one.after)):
            row = LLMScore.objects.get(run=run, model__name=one.name)
            assert (found.value, found.low, found.high) == (
                row.score, row.score_low, row.score_high,
            )  # fmt: skip
    # Then Big said what the crowd said and Small did not; now neither does.
    then = {one.name: one.before.value for one in models.rows}
    assert then["Big"] > then["Small"]
    assert models.rank_correlation is None  # of two models it would be 1 or -1


@pytest.mark.medium
def test_by_spelling_answers_of_both_are_counted_together_to_test_what_moved(spelled, site):
    report = build_waves_report(*spelled)
    assert (report.comparable, report.by_spelling) == (False, True)
    assert {one.distance for one in report.questions} == {None}
    by_name = {one.name: one for one in report.questions}
    # All of the cable say another year; of the ship they say what was said before.
    assert {name: one.moved_beyond_chance for name, one in by_name.items()} == {
        "cable": True, "ship": False, "why": False,
    }  # fmt: skip
    assert report.questions[0].name == "cable"
    # Seven of ten came again, and keep an answer in each wave.
    assert by_name["cable"].shift.n_both == 7
    vectors = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(2, 4), max_features=20_000, sublinear_tf=True
    )
    texts = [
        list(
            Response.objects.filter(question__version=run.version, question__external_id="cable")
            .order_by("pk").values_list("text", flat=True)
        )
        for run in spelled
    ]  # fmt: skip
    every = Response.objects.filter(question__version__in=[run.version for run in spelled])
    vectors.fit(every.values_list("text", flat=True))
    one, other = (np.asarray(vectors.transform(part).mean(axis=0))[0] for part in texts)
    cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    assert by_name["cable"].shift.distance == pytest.approx(1 - cosine)
    page = html(site, address(spelled[1]))
    assert {"by_spelling", "tested"} <= set(states(page))
    assert "1 of 3 answers moved" in words_of(page)
    assert states(page).count("moved_beyond_chance") == 1
    assert states(page).count("moved_by_chance") == 2
    assert numbers(element_text(page, "other_facts")) == [1858, 1866]
    rows = table(site, spelled[1], "waves-questions")
    assert (rows["cable"]["moved"], rows["cable"]["moved_beyond_chance"]) == ("", "true")
    assert rows["ship"]["moved_beyond_chance"] == "false"
    assert float(rows["ship"]["adjusted_p_value"]) > 0.05


@pytest.mark.medium
def test_a_test_is_kept_until_an_answer_is_taken_back(spelled, monkeypatch):
    before, after = spelled
    first = compute_shifts(before, after)
    monkeypatch.setattr("evaluation.waves.storage.compute_mean_shifts", None)
    assert compute_shifts(before, after) == first
    Response.objects.filter(question__version=after.version).latest("pk").delete()
    Run.objects.filter(pk=after.pk).update(n_withdrawn=1)
    after.refresh_from_db()
    report = build_waves_report(before, after)
    assert (report.untested, report.n_tested) == ("changed", 0)
    assert {one.moved_beyond_chance for one in report.questions} == {None}


@pytest.mark.medium
def test_who_does_not_vote_is_not_tested(spelled):
    before, after = spelled
    out = ("kim", "lou", "max")
    again = graded(after.version.question_set, exclude_workers=out)
    cable = compute_shifts(before, again)["cable"]
    assert cable.n_both == compute_shifts(before, after)["cable"].n_both == 7
    Response.objects.filter(submission__worker__external_id__in=out).delete()
    gone = graded(after.version.question_set)
    assert cable == compute_shifts(before, gone)["cable"]
    assert cable != compute_shifts(before, after)["cable"]


@pytest.mark.medium
@pytest.mark.parametrize(("limit", "most"), [("MOST_BY_WORDS", 59), ("MOST_OF_ONE_BY_WORDS", 19)])
def test_what_would_take_long_is_not_tested(spelled, site, monkeypatch, limit, most):
    monkeypatch.setattr(f"evaluation.waves.storage.{limit}", most)
    assert build_waves_report(*spelled).untested == "large"
    page = html(site, address(spelled[1]))
    assert NOT_TESTED["large"] in element_text(page, "not_tested")
    assert states(page).count("distance_unknown") == 3
    assert "tested" not in states(page)


@pytest.mark.medium
def test_runs_that_were_graded_otherwise_have_no_distances(waves, site):
    before, after = waves
    Run.objects.filter(pk=after.pk).update(parameters=after.parameters | {"similarity": "jaccard"})
    after.refresh_from_db()
    report = build_waves_report(before, after)
    assert not report.comparable
    assert {one.distance for one in report.questions} == {None}
    assert "not_comparable" in states(html(site, address(after)))
    cache.clear()
    after.parameters["embedder"] = "bow"
    assert build_waves_report(before, after).untested == "otherwise"


@pytest.mark.medium
def test_the_page_says_it_in_words_and_the_files_have_all(site, waves):
    _, after = waves
    page = html(site, address(after))
    assert "Earlier: cables, graded" in words_of(page)
    # 7 of both, 3 only in the earlier one, 3 only in this one.
    assert numbers(element_text(page, "common-people")) == [7, 3, 3]
    assert numbers(element_text(page, "other_facts")) == [1858, 1866]
    assert states(page).count("answers_same") == 2
    assert set(table(site, after, "waves-people")) == {
        "ada", "ben", "cy", "dee", "eli", "fay", "gus",
    }  # fmt: skip
    questions = table(site, after, "waves-questions")
    assert questions["cable"]["facts_before"].endswith("1858")
    assert questions["cable"]["facts_after"].endswith("1866")
    models = table(site, after, "waves-models")
    assert models["Big"]["n_same_answers"] == models["Big"]["n_answers"] == "2"


@pytest.mark.medium
def test_only_a_wave_has_the_page_among_its_tabs(site, waves):
    before, after = waves
    assert f'href="{address(after)}"' in html(site, address(after, "people"))
    assert f'href="{address(before)}"' not in html(site, address(before, "people"))
    page = html(site, address(before))
    assert f'href="{address(before)}"' not in page
    assert "no_earlier_wave" in states(page)
    assert site.get(address(before, "table", name="waves-people")).status_code == 404


@pytest.mark.medium
def test_who_may_not_see_the_earlier_wave_sees_nothing_of_it(client, waves):
    before, after = waves
    otto = User.objects.create(username="otto", is_staff=True)
    after.version.question_set.shares.create(user=otto, role="viewer")
    client.force_login(otto)
    page = html(client, address(after))
    assert "no_earlier_wave" in states(page)
    assert "cables," not in words_of(page)
    place = f"{address(after)}?with={before.public_id}"
    assert client.get(place).status_code == 404


@pytest.mark.medium
def test_the_page_takes_a_constant_number_of_queries(site, waves, django_assert_max_num_queries):
    with django_assert_max_num_queries(46):
        site.get(address(waves[1]))
    with django_assert_max_num_queries(38):  # the test is kept
        site.get(address(waves[1]))


@pytest.mark.medium
def test_a_wave_is_made_on_a_page(site, waves):
    before, _ = waves
    place = reverse("admin:new-wave", args=[before.version.question_set.public_id])
    page = site.get(place).content.decode()
    assert 'value="cables, wave 2"' in page
    assert 'name="with_models"' in page
    sent = {"name": "cables in June", "people": "same", "with_models": "on"}
    done = site.post(place, sent, follow=True)
    made = QuestionSet.objects.get(name="cables in June")
    assert done.redirect_chain[-1][0] == reverse("admin:question-set", args=[made.public_id])
    before_it = reverse("admin:question-set", args=[before.version.question_set.public_id])
    page = done.content.decode()
    assert re.search(r'id="earlier-wave">.*?href="([^"]+)"', page)[1] == before_it
    assert made.earlier_wave == before.version.question_set
    again = site.post(place, sent)
    assert again.status_code == 400
    assert list(again.context["form"].errors) == ["name"]
    assert QuestionSet.objects.filter(name="cables in June").count() == 1
    assert not Response.objects.filter(submission__version__question_set=made).exists()


@pytest.mark.medium
def test_rest_tells_the_same(rana, waves):
    rest = Api(rana).get
    before, after = waves
    report = build_waves_report(before, after)
    base = f"/api/v1/runs/{after.public_id}/results/waves/"
    told = rest(base).json()
    assert told["n_facts"] == 1
    assert told["people"]["retest"]["n"] == report.people.retest.n
    assert len(told["models"]["rows"]) == 2
    page = rest(f"{base}questions/?limit=2").json()
    assert len(page["results"]) == 2
    assert page["next"]
    workers = rest(f"{base}workers/?with={before.public_id}").json()["results"]
    assert [one["name"] for one in workers] == [one.name for one in report.people.workers]
    assert rest(f"{base}?with={after.public_id}").status_code == 400
    none = rest(f"/api/v1/runs/{before.public_id}/results/waves/")
    assert none.status_code == 409
    assert WorkerGrade.objects.filter(run=before).count() == 10
