"""What a run stores is what was computed: each column of each row, by hand or from another one."""

import hashlib
import re
from contextlib import nullcontext
from functools import partial
from operator import itemgetter
from statistics import median

import numpy as np
import pytest
from django.urls import reverse

from annotations.models import Question, Response, Worker
from evaluation.consensus.inputs import EmbeddedAnswers
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.backends import EmbedderInfo
from evaluation.core.stats.statistics.descriptive import spearman
from evaluation.grading.alarms.methods.questions import FEWEST_ANSWERS, SEPARATED
from evaluation.grading.run.grading import grade_answers
from evaluation.grading.run.maps import compute_answer_maps
from evaluation.grading.storage import save
from evaluation.grading.storage.inputs import load_inputs
from evaluation.grading.summary import read_summary
from evaluation.models import DrawPart, LanguageModel, LLMResponse, Run, RunData
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.steps import cache
from tests.annotations import world

WORDS = ("north", "south", "hill", "valley", "city", "bridge", "border", "coast")
INFO = EmbedderInfo("minilm", "of words", "r1", "float32", 24, max_length=256)
WORKERS = ("ada", "ben", "cy", "dee", "eli", "fay", "gus", "hal")


class OfWords:
    """Embeds a text as the sum of the vectors of its words, drawn by their hashes."""

    n_truncated_ = 0

    def describe(self):
        return INFO

    def embed(self, texts):
        return np.array([np.sum([self.of(w) for w in t.split()], axis=0) for t in texts], "<f4")

    def of(self, word):
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
        return np.random.default_rng(seed).normal(size=24)


def text_of(worker, question):
    """Words of the question's answer, and the more of one's own the later in the alphabet."""
    own = WORKERS.index(worker)
    rng = np.random.default_rng([own, question])
    said = rng.choice(WORDS, 3, replace=False)
    if question == 1:  # on which there are two opinions
        return f"{'upstream spring source' if own < 5 else 'downstream mouth delta'} own{own}"
    return " ".join(["river", f"q{question}", *said[: own // 2], *[f"own{own}"] * (own // 3)])


@pytest.fixture
def version(db, monkeypatch):
    """Eight workers on six questions, one on one, one on none; and two models."""
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr(cache, "load_embedder", lambda spec, precision: OfWords())
    draft = world.version(world.user("rana"), n_questions=8)
    for worker in WORKERS:
        submission = world.submission(draft, worker)
        for number in range(1, 7):
            world.response(submission, f"r{number}", text_of(worker, number))
    # Nobody but zoe answers the seventh question, and silas nothing at all.
    world.response(world.submission(draft, "zoe"), "r7", "river alone")
    silent = world.submission(draft, "silas")
    for number in (1, 8):
        world.response(silent, f"r{number}", "")
    owner = draft.question_set.owner
    for name, said in (("small", "river q{}"), ("large", "river q{} north"), ("mute", "")):
        model = LanguageModel.objects.create(owner=owner, name=name)
        for number, question in enumerate(draft.questions.order_by("position"), start=1):
            LLMResponse.objects.create(
                model=model,
                question=question,
                prompt=question.text,
                text=said.format(number),
                status="text" if said else "refused",
            )
    Response.objects.update(state="submitted")
    return draft


def graded(version, **parameters):
    asked = AqerParameters(embedder="minilm", leave_one_out=True, **parameters)
    run = runs.queue_run(version, version.question_set.owner_id, asked)
    assert work_one_turn()
    run.refresh_from_db()
    assert run.state == Run.State.DONE, run.error
    return run


def computed(run):
    """The grading of a run without the database, and its maps."""

    def embedded(answers, of_models):
        made = None if of_models is None else OfWords().embed(of_models)
        return EmbeddedAnswers(OfWords().embed(answers), made, INFO)

    grading = grade_answers(load_inputs(run.pk), embedded)
    return grading, compute_answer_maps(grading, lambda *_: None)


def floats(stored):
    return None if stored is None else np.frombuffer(bytes(stored), dtype="<f4")


@pytest.fixture
def both(version):
    run = graded(version, bootstrap=20)
    return run, *computed(run)


@pytest.mark.medium
def test_a_worker_has_its_numbers_the_way_there_and_the_interval_of_its_rank(both):
    run, grading, maps = both
    aqer = grading.graded.aqer
    rows = {row.worker_id: row for row in run.worker_grades.all()}
    answers = grading.inputs.answered
    assert [rows[pk].worker.external_id for pk in aqer.workers_] == [*WORKERS, "zoe"]
    for at, pk in enumerate(aqer.workers_.tolist()):
        row = rows[pk]
        for name in ("grade", "raw", "raw_low", "raw_high", "grade_low", "grade_high", "weight"):
            plural = {"grade": "grades_", "weight": "weights_"}.get(name, f"{name}_")
            value = getattr(aqer, plural)[at]
            assert getattr(row, name) == (None if np.isnan(value) else value), (name, at)
        assert row.n_answers == answers.workers.count(pk)
        assert row.support == (row.worker.external_id != "zoe")
        alone = run.answer_scores.filter(response__submission__worker=pk)
        scores = [s for s in alone.values_list("score_leave_one_out", flat=True) if s is not None]
        assert row.leave_one_out == (pytest.approx(np.mean(scores)) if scores else None)
        low = aqer.rank_low_[at]
        bounds = (None, None) if np.isnan(low) else (int(low), int(aqer.rank_high_[at]))
        assert (row.rank_low, row.rank_high) == bounds
        np.testing.assert_array_equal(floats(row.weights), maps.weights[:, at])
        np.testing.assert_array_equal(floats(row.grades), maps.grades[:, at])
        assert floats(row.weights)[-1] == pytest.approx(row.weight, abs=1e-6)
    ranked = [row for row in rows.values() if row.rank is not None]
    assert len(ranked) == 8
    assert all(1 <= row.rank_low <= row.rank <= row.rank_high <= 8 for row in ranked)
    assert len({row.rank_low for row in ranked}) > 2


@pytest.mark.medium
def test_a_worker_without_a_text_has_a_row_without_numbers(both):
    run, grading, _ = both
    row = run.worker_grades.get(worker__external_id="silas")
    # Of facts there is a number, 0, as of answers.
    counts = {"facts", "fact_questions", "fact_contradicted"}
    names = {f.name for f in row._meta.get_fields() if f.null and f.name != "id"}
    assert {getattr(row, name) for name in counts} == {0}
    # Who answered nothing has no vote in a ranked crowd: a weight of 0.
    assert row.weight == 0
    numbers = names - counts - {"weight"}
    assert {name: getattr(row, name) for name in numbers} == dict.fromkeys(numbers)
    assert (row.n_answers, row.support) == (0, False)
    assert row.worker_id not in grading.graded.aqer.workers_
    reasons = {
        (entry["column"], entry["count"])
        for entry in run.reasons
        if (entry["file"], entry["reason"]) == ("workers.csv", "no_answers")
    }
    columns = ("grade", "raw", "raw_low", "raw_high", "grade_low", "grade_high", "rank")
    columns += ("contrast", "contrast_low", "contrast_high", "rank_low", "rank_high")
    assert reasons == {(column, 1) for column in columns}


@pytest.mark.medium
def test_a_question_has_its_exemplary_answer_its_place_and_its_camps(both):
    run, grading, maps = both
    aqer, camps = grading.graded.aqer, grading.alarms.camps
    rows = {row.question.external_id: row for row in run.exemplary_answers.all()}
    assert set(rows) == {f"r{number}" for number in range(1, 9)}
    for at, pk in enumerate(aqer.questions_.tolist()):
        row = run.exemplary_answers.get(question=pk)
        texts = Response.objects.filter(question=pk).exclude(text="")
        assert row.n_answers == len(texts)
        assert row.nearest_response in texts
        assert row.nearest_response_id == grading.inputs.answered.keys[aqer.nearest_[at]]
        assert row.dispersion == aqer.dispersion_[at]
        assert row.dimension == 24
        np.testing.assert_array_equal(
            floats(row.vector), aqer.compute_exemplars()[at].astype("<f4")
        )
        np.testing.assert_array_equal(floats(row.path).reshape(-1, 4), maps.paths[at])
        shares = (maps.own_share[at], maps.run_share[at])
        for stored, share in zip((row.own_share, row.run_share), shares, strict=True):
            assert stored == (None if np.isnan(share) else share)
        of_answers = run.answer_scores.filter(response__question=pk)
        scores = list(of_answers.values_list("score_leave_one_out", flat=True))
        known = [score for score in scores if score is not None]
        assert row.mean_score == (pytest.approx(np.mean(known)) if known else None)
        found = camps.get(pk)
        assert row.separation == (found and found.separation)
        assert (row.larger_camp, row.smaller_camp) == ((found and found.sizes) or (None, None))
    assert rows["r7"].separation is None
    assert (rows["r1"].larger_camp, rows["r1"].smaller_camp) == (5, 3)
    assert rows["r1"].larger_nearest.text.startswith("upstream")
    assert rows["r1"].smaller_nearest.text.startswith("downstream")
    assert rows["r2"].own_share > rows["r2"].run_share > 0


@pytest.mark.medium
def test_a_question_that_nobody_answered_has_a_row_without_an_exemplary_answer(both):
    run, _, _ = both
    row = run.exemplary_answers.get(question__external_id="r8")
    numbers = [f.name for f in row._meta.get_fields() if f.null]
    assert {name: getattr(row, name) for name in numbers} == dict.fromkeys(numbers)
    assert row.n_answers == 0


@pytest.mark.medium
def test_an_answer_has_its_scores_and_its_place(both):
    run, grading, maps = both
    aqer = grading.graded.aqer
    rows = {row.response_id: row for row in run.answer_scores.all()}
    assert list(rows) == list(grading.inputs.answered.keys)
    assert len(rows) == 8 * 6 + 1
    for at, row in enumerate(rows.values()):
        for stored, made in (
            (row.score, aqer.scores_[at]),
            (row.score_leave_one_out, aqer.leave_one_out_scores_[at]),
        ):
            assert stored == (None if np.isnan(made) else made)
        np.testing.assert_array_equal(floats(row.place), maps.places[at])


@pytest.mark.medium
def test_a_model_has_its_scores_its_answers_and_its_pairs(both):
    run, grading, maps = both
    found = grading.graded.models
    rows = {row.model.name: row for row in run.llm_scores.all()}
    assert list(rows) == ["small", "large", "mute"]
    for at, row in enumerate(rows.values()):
        for name, values in (
            ("score", found.scores),
            ("score_answered", found.scores_answered),
            ("score_low", found.low),
            ("score_high", found.high),
            ("percentile", found.percentiles),
        ):
            assert getattr(row, name) == (None if np.isnan(values[at]) else values[at]), name
        assert (row.n, row.n_answered) == (found.n[at], found.n_answered[at])
        assert row.rank == (int(found.ranks[at]) or None)
        assert row.reason == (found.reasons[at] or "")
    assert rows["small"].score != rows["large"].score
    assert (rows["mute"].score, rows["mute"].n_answered) == (0.0, 0)
    answers = list(run.llm_answer_scores.order_by("pk").select_related("llm_response__model"))
    assert len(answers) == 3 * 8
    for at, row in enumerate(answers):
        score = found.answer_scores[at]
        assert row.llm_response_id == grading.inputs.models.keys[at]
        assert row.score == (None if np.isnan(score) else score)
        place = maps.of_models[at]
        if np.isfinite(place).all():
            np.testing.assert_array_equal(floats(row.place), place)
        else:
            assert row.place is None
    mute = [row for row in answers if row.llm_response.model.name == "mute"]
    assert [row.reason for row in mute] == ["refused"] * 7 + ["no_exemplar"]
    assert {row.place for row in mute} == {None}
    assert [row.reason for row in answers[:8]] == [""] * 7 + ["no_exemplar"]
    pairs = list(run.llm_comparisons.order_by("pk"))
    assert [(row.model_a.name, row.model_b.name) for row in pairs] == [
        ("small", "large"), ("small", "mute"), ("large", "mute"),
    ]  # fmt: skip
    for row, pair in zip(pairs, found.comparisons, strict=True):
        for name in ("difference", "low", "high", "p_value", "adjusted_p_value"):
            assert getattr(row, name) == getattr(pair, name), name
        assert (row.n, row.test, row.reason) == (pair.n, pair.test, pair.reason or "")
        assert row.smallest_detectable == pair.smallest_detectable


@pytest.mark.medium
def test_the_summary_counts_what_went_in_and_says_how_far_the_draws_agree(both):
    run, grading, maps = both
    summary = read_summary(run)
    assert vars(summary.counts) == {
        "answers": 49,
        "empty_answers": 2,
        "workers": 9,
        "questions": 7,
        "models": 3,
        "model_answers": 24,
    }
    aqer = grading.graded.aqer
    assert summary.version == 1
    assert summary.iterations == aqer.n_iter_
    agreement = [x for x in aqer.draw_agreement_.tolist() if not np.isnan(x)]
    assert len(agreement) == 20
    assert summary.draw_agreement == pytest.approx(median(agreement))
    assert 0 < summary.draw_agreement <= 1
    # Tested are the six questions with eight answers; the seventh has one, and the eighth none.
    assert vars(summary.question_camps) == {
        "threshold": SEPARATED,
        "fewest_answers": FEWEST_ANSWERS,
        "tested": 6,
        "listed": run.exemplary_answers.exclude(larger_camp=None).count(),
        "too_few": 2,
    }
    assert list(summary.map.iterations) == list(maps.about["iterations"])
    assert summary.map.n_learned == maps.about["n_learned"]
    assert list(summary.map.shares) == maps.about["shares"]
    assert summary.remedies is None


@pytest.mark.medium
def test_reasons_say_how_many_cells_are_empty_and_name_none(both):
    run, grading, _ = both
    results = grading.build_results()
    for rows in (
        results.iterate_workers(), results.iterate_exemplars(), results.iterate_answered(),
        results.iterate_models(), results.iterate_model_answers(),
        results.build_worker_contrasts(), results.build_model_contrasts(),
        results.build_rank_cells(),
    ):  # fmt: skip
        list(rows)
    whole = results.undefined.list_reasons()
    assert all("rows" in entry for entry in whole)
    wanted = [{key: entry[key] for key in ("file", "column", "reason", "count")} for entry in whole]
    # PostgreSQL stores the keys of an object in an order of its own.
    place = itemgetter("file", "column", "reason")
    assert sorted(run.reasons, key=place) == sorted(wanted, key=place)
    assert len(run.reasons) > 10


@pytest.mark.medium
def test_a_run_without_draws_and_models_has_no_ranks_intervals_and_no_rows_of_models(version):
    LLMResponse.objects.all().delete()
    run = graded(version, bootstrap=0)
    assert set(run.worker_grades.values_list("rank_low", "rank_high")) == {(None, None)}
    assert read_summary(run).draw_agreement is None
    counts = read_summary(run).counts
    assert (counts.models, counts.model_answers) == (0, 0)
    assert not run.llm_scores.exists()
    assert not run.llm_answer_scores.exists()
    assert not run.llm_comparisons.exists()


@pytest.mark.medium
def test_the_vectors_of_an_exemplary_answer_are_kept_up_to_their_greatest_width(
    version, monkeypatch
):
    monkeypatch.setattr(save, "WIDEST_KEPT", 24)
    assert graded(version, bootstrap=0).exemplary_answers.filter(dimension=24).count() == 7
    monkeypatch.setattr(save, "WIDEST_KEPT", 23)
    wide = graded(version, bootstrap=0)
    assert not wide.exemplary_answers.exclude(vector=None, dimension=None).exists()


@pytest.mark.medium
def test_a_run_that_is_computed_again_has_the_same_rows_once(version, monkeypatch):
    monkeypatch.setattr(save, "BATCH", 5)
    run = graded(version, bootstrap=4)
    others = graded(version, bootstrap=4)

    def rows(of):
        found = {}
        for model in save.RESULTS:
            names = [f.name for f in model._meta.concrete_fields if f.name not in ("id", "run")]
            kept = model._default_manager.filter(run=of).order_by("pk")
            found[model.__name__] = [
                tuple(bytes(x) if isinstance(x, memoryview) else x for x in row)
                for row in kept.values_list(*names)
            ]
        return found

    before, beside = rows(run), rows(others)
    assert {name: len(kept) for name, kept in before.items()} == {
        "WorkerGrade": 10, "ExemplaryAnswer": 8, "AnswerScore": 49, "LLMScore": 3,
        "LLMAnswerScore": 24, "LLMComparison": 3, "CrowdFact": 0, "AnswerFact": 0, "RunData": 1,
    }  # fmt: skip
    DrawPart.objects.create(
        run=others, first=0, n_draws=1, n_workers=1, raw=b"0" * 8, votes=b"0" * 8
    )
    Run.objects.filter(pk=run.pk).update(state=Run.State.QUEUED, finished_at=None)
    assert work_one_turn()
    assert rows(run) == before
    # What another run has stays as it is.
    assert rows(others) == beside
    assert DrawPart.objects.filter(run=others).count() == 1
    assert RunData.objects.get(run=run).name == "heat-map"


@pytest.mark.medium
def test_what_remedies_did_is_told_by_public_ids(version):
    out = Worker.objects.get(external_id="ada")
    run = graded(version, bootstrap=0, exclude_workers=(str(out.public_id),), camps=True)
    done = read_summary(run).remedies
    assert done.asked_for == ("exclude_workers", "camps")
    assert done.excluded_workers == 1
    camped = {camped.question: camped.answers for camped in done.questions_with_camps}
    asked = Question.objects.get(version=version, external_id="r1")
    assert sorted(camped[str(asked.public_id)], reverse=True) == [4, 3]
    plain = graded(version, bootstrap=0)
    before = dict(plain.worker_grades.values_list("worker__public_id", "raw"))
    after = dict(run.worker_grades.values_list("worker__public_id", "raw"))
    compared = done.compared_with_plain
    both = [worker for worker in before if worker != out.public_id and before[worker] is not None]
    assert compared.n == len(both) == 7
    wanted = spearman(*(np.array([of[worker] for worker in both]) for of in (before, after)))
    assert compared.spearman == pytest.approx(wanted)
    ranks = dict(plain.worker_grades.values_list("worker__public_id", "rank"))
    for mover in compared.movers:
        worker = Worker.objects.get(public_id=mover.worker)
        assert mover.rank == run.worker_grades.get(worker=worker).rank
        assert mover.plain_rank == ranks[worker.public_id]
        assert mover.change == mover.plain_rank - mover.rank != 0
    assert len(compared.movers) > 0


@pytest.mark.medium
@pytest.mark.parametrize("suggest", [3])
def test_suggested_answers_are_kept_by_their_keys(version, suggest, monkeypatch):
    found = partial(np.array, dtype=np.int64)
    monkeypatch.setattr(
        "evaluation.grading.remedies.run._RemedySteps.suggest_answers",
        lambda self, candidates: found([4, 0, 9]),
    )
    run = graded(version, bootstrap=0, suggest_anchors=suggest)
    kept = read_summary(run).remedies.suggested_anchors
    keys = list(run.answer_scores.order_by("pk").values_list("response_id", flat=True))
    assert kept.responses == (keys[4], keys[0], keys[9])
    assert kept.count == 3


@pytest.mark.medium
def test_nothing_is_written_if_the_claim_is_lost(version):
    from evaluation.runs.background.leases import LeaseLostError
    from evaluation.runs.steps.checkpoints import Turn

    run = graded(version, bootstrap=0)
    grading, maps = computed(run)
    before = sorted(run.worker_grades.values_list("pk"))

    def lost():
        raise LeaseLostError(run.pk)

    with pytest.raises(LeaseLostError):
        save.save_results(Turn(run.pk, lost, lambda: None, float("inf")), grading, maps)
    assert sorted(run.worker_grades.values_list("pk")) == before
    save.save_results(Turn(run.pk, nullcontext, lambda: None, float("inf")), grading, maps)
    assert sorted(run.worker_grades.values_list("pk")) != before


@pytest.mark.medium
@pytest.mark.parametrize("bootstrap", [0, 20])
def test_a_grading_of_two_people_is_stored_without_ranks_and_its_pages_open(
    version, client, bootstrap
):
    others = Response.objects.exclude(submission__worker__external_id__in=("ada", "ben"))
    others.delete()
    run = graded(version, bootstrap=bootstrap)
    assert read_summary(run).converged is None
    assert not run.worker_grades.filter(rank__isnull=False).exists()
    assert "not_converged" not in [warning["code"] for warning in run.warnings]
    client.force_login(version.question_set.owner)
    there = reverse("admin:run", args=[run.public_id])
    first = client.get(f"{there}results/", follow=True).content.decode()
    pages = set(re.findall(rf'href="({there}[a-z/]+)"', first))
    assert len(pages) > 5
    assert {page: client.get(page).status_code for page in pages} == dict.fromkeys(pages, 200)


@pytest.mark.medium
def test_question_contrast_is_stored_for_workers_answers_and_models(both):
    run, grading, _ = both
    found = grading.graded.aqer.contrasts_
    means = dict(zip(grading.graded.aqer.workers_.tolist(), found.means.tolist(), strict=True))
    stored = dict(run.worker_grades.values_list("worker_id", "contrast"))
    known = {key: value for key, value in means.items() if not np.isnan(value)}
    assert {key: value for key, value in stored.items() if value is not None} == known
    of_answers = run.answer_scores.order_by("pk").values_list("response_id", "contrast")
    expected = dict(zip(grading.inputs.answered.keys, found.answers.tolist(), strict=True))
    assert all((value is None) == np.isnan(expected[key]) for key, value in of_answers)
    assert all(value in (None, expected[key]) for key, value in of_answers)
    models = grading.graded.models
    assert set(run.llm_scores.values_list("model_id", "contrast_low")) == {
        (model, None if np.isnan(low) else low)
        for model, low in zip(models.models.tolist(), models.contrasts.low.tolist(), strict=True)
    }
