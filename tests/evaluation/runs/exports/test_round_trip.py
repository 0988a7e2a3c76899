"""Export, import, export is the same file, whatever people wrote."""

import itertools
from datetime import UTC, datetime

import pytest
from django.db import transaction
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from annotations.exchange.ids import clean_id, is_blank
from annotations.exchange.importing import import_answers, import_passages, import_questions
from annotations.exchange.writing.formats import FORMATS
from annotations.models import (
    COUNTERS,
    Passage,
    Question,
    QuestionSet,
    Response,
    Submission,
    Worker,
)
from evaluation.models import LanguageModel, LLMResponse
from evaluation.runs import exports
from evaluation.runs.imports import import_model_answers
from tests.annotations import world
from tests.annotations.exchange.nasty import PIECES, texts

pytestmark = pytest.mark.django_db

# Ids and answers as imports keep them: without what cannot be seen.
ids = texts.map(lambda text: clean_id(clean_id(text)[:255])).filter(bool)
answers = texts.map(lambda text: "" if is_blank(text) else text)
times = st.none() | st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))
seconds = st.none() | st.floats(0, 1e6)
written_how = st.one_of(
    st.just({"signals": ""}),
    st.just({"signals": "off"}),
    st.fixed_dictionaries(
        {"signals": st.just("counted")} | dict.fromkeys(COUNTERS, st.integers(0, 2**31 - 1))
    ),
)
objects = st.dictionaries(texts, texts, max_size=3)

numbers = itertools.count()


def few(**fields):
    return settings(
        max_examples=8,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
        **fields,
    )


def empty_set(owner):
    return QuestionSet.objects.create(owner=owner, name=f"set {next(numbers)}")


def written(export, folder, kind):
    path = folder / f"{export.what}-{next(numbers)}.{kind}"
    size = export.write_file(path, kind)
    assert size == path.stat().st_size
    return path


@st.composite
def answered(draw):
    """Two workers, the same id in two panels, and two questions."""
    worker, one, other = draw(ids), draw(ids), draw(ids)
    assume(one != other)
    cells = [
        {
            "text": draw(answers),
            "rejected": draw(st.booleans()),
            "started_at": draw(times),
            "submitted_at": draw(times),
            "work_seconds": draw(seconds),
            "extra": draw(objects),
            "first_draft_at": draw(times),
            "language": draw(st.sampled_from(["", "ar", "pt-BR"])),
            **draw(written_how),
        }
        for _ in range(3)
    ]
    return worker, (one, other), cells, sorted([draw(times), draw(times)], key=str)


def store(owner, worker, questions, cells, times):
    rivers = empty_set(owner)
    draft = rivers.draft()
    made = [Question.objects.create(version=draft, external_id=name) for name in questions]
    began, ended = times if all(times) else (times[0], None)
    places = [("", 0, made[0]), ("", 0, made[1]), ("Prolific", 1, made[0])]
    submissions = {}
    for (panel, _, question), cell in zip(places, cells, strict=True):
        who, _ = Worker.objects.get_or_create(owner=owner, panel=panel, external_id=worker)
        if panel not in submissions:
            submissions[panel] = Submission.objects.create(
                version=draft,
                worker=who,
                source="imported",
                state="returned" if panel else "submitted",
                started_at=began,
                submitted_at=ended,
            )
        Response.objects.create(
            submission=submissions[panel],
            question=question,
            state="submitted",
            status="text" if cell["text"] else "empty",
            **cell,
        )
    return rivers


@pytest.mark.medium
@pytest.mark.parametrize("kind", FORMATS)
def test_answers_with_their_times_and_flags(kind, tmp_path):
    @few()
    @given(answered())
    def check(case):
        with transaction.atomic():
            owner = world.user(f"rana{next(numbers)}")
            rivers = store(owner, *case)
            first = written(exports.build_answers_export(rivers.latest_version()), tmp_path, kind)
            lakes = empty_set(owner)
            report = import_answers(lakes, first, create_questions=True)
            assert (report.n_rows, report.n_new, report.kept_aside) == (3, 3, ())
            again = written(exports.build_answers_export(lakes.latest_version()), tmp_path, kind)
            assert again.read_bytes() == first.read_bytes()
            # Into the set it came from it changes nothing.
            report = import_answers(rivers, first)
            assert (report.n_unchanged, report.changed) == (3, False)
            transaction.set_rollback(True)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
def test_every_nasty_beginning_and_end_and_a_very_long_text(kind, tmp_path):
    draft = world.version(world.user("rana"), n_questions=1)
    longest = 32_766 if kind == "xlsx" else 100_000
    wanted = [f"{piece}x" for piece in PIECES] + [f"x{piece}" for piece in PIECES]
    wanted += [f"{one}{other}." for one in PIECES[:12] for other in PIECES] + [
        "=" + "a" * (longest - 1)
    ]
    for number, text in enumerate(wanted):
        world.response(world.submission(draft, f"w{number}"), text=text)
    Response.objects.update(state="submitted")
    first = written(exports.build_answers_export(draft), tmp_path, kind)
    lakes = empty_set(draft.question_set.owner)
    import_answers(lakes, first, create_questions=True)
    stored = Response.objects.filter(submission__version__question_set=lakes).order_by("pk")
    assert list(stored.values_list("text", flat=True)) == wanted
    again = written(exports.build_answers_export(lakes.latest_version()), tmp_path, kind)
    assert again.read_bytes() == first.read_bytes()


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_questions_and_passages(kind, tmp_path):
    bodies = texts.map(str.strip)
    entries = st.lists(texts.filter(lambda text: text.strip()), max_size=3)

    @few()
    @given(
        *(ids, ids, bodies.filter(bool), bodies, entries, objects, st.none() | st.booleans()),
        *(st.sampled_from(Question.Role.values), st.none() | st.integers(1, 100_000), bodies),
    )
    def check(passage, question, body, wording, listed, about, answerable, role, most, beside):
        with transaction.atomic():
            owner = world.user(f"rana{next(numbers)}")
            draft = empty_set(owner).draft()
            home = Passage.objects.create(
                version=draft,
                external_id=passage,
                title="=t",
                text=body,
                metadata=about,
                format="simple" if most else "plain",
                image_alt=beside,
            )
            Question.objects.create(
                version=draft,
                external_id=question,
                text=wording,
                passage=home,
                kind="choice" if listed else "free",
                choices=listed,
                accepted_answers=[listed, "x"] if listed else [],
                answerable=answerable,
                metadata=about,
                role=role,
                max_characters=most,
                feedback=beside,
            )
            made = (exports.build_passages_export, exports.build_questions_export)
            files = [written(export(draft), tmp_path, kind) for export in made]
            lakes = empty_set(owner)
            import_passages(lakes, files[0])
            import_questions(lakes, files[1])
            copy = lakes.latest_version()
            again = [written(export(copy), tmp_path, kind) for export in made]
            assert [path.read_bytes() for path in again] == [path.read_bytes() for path in files]
            transaction.set_rollback(True)

    check()


@pytest.mark.parametrize("kind", ["tsv", "xlsx"])
def test_answers_of_models_with_their_askings(kind, tmp_path):
    @few()
    @given(ids, answers, texts, objects, st.sampled_from(["", "stop"]))
    def check(name, text, prompt, parameters, finish_reason):
        with transaction.atomic():
            draft = world.version(world.user(f"rana{next(numbers)}"))
            rivers = draft.question_set
            model = LanguageModel.objects.create(owner=rivers.owner, name=name)
            question = draft.questions.first()
            for sample, asked in enumerate((prompt, prompt, prompt + "?")):
                LLMResponse.objects.create(
                    model=model,
                    question=question,
                    prompt=asked,
                    parameters=parameters,
                    sample=sample,
                    text=text,
                    status="text" if text else "empty",
                    finish_reason=finish_reason,
                    extra=parameters,
                )
            first = written(exports.build_model_answers_export(draft), tmp_path, kind)
            lakes = world.version(rivers.owner, "lakes").question_set
            report = import_model_answers(lakes, first)
            assert (report.n_rows, report.n_new) == (3, 3)
            again = written(
                exports.build_model_answers_export(lakes.latest_version()), tmp_path, kind
            )
            assert again.read_bytes() == first.read_bytes()
            assert import_model_answers(rivers, first).n_unchanged == 3
            transaction.set_rollback(True)

    check()
