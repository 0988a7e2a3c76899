"""The dataset card: its front matter fits the files, and it states only what the run recorded."""

import csv
import io
import json
import re

import numpy as np
import pytest
import yaml
from django.utils import timezone
from pyarrow import parquet

from annotations.models import Consent, Response, Submission
from annotations.models.question_sets import hash_consent_text
from evaluation.scorer import storage
from evaluation.scorer.files import ScorerFiles, load_folder_content
from evaluation.scorer.run import Origin, ScorerOptions
from evaluation.scorer.table import build_parquet
from evaluation.scorer.writing import build_export_files
from tests.evaluation.commands.running import manage
from tests.evaluation.grading.results.world import finished
from tests.evaluation.scorer.world import SCORES, content, question

EVERY = ("inspect", "lm-eval", "hf", "promptfoo")


def build_card(*formats, **values):
    """The front matter and the text of a card, and the files beside it."""
    files = build_export_files(content(**values), formats or EVERY)
    _, head, body = files["README.md"].decode().split("---\n", 2)
    return yaml.safe_load(head), body, files


def read_section(body, title):
    return re.search(rf"^## {title}\n\n(.*?)(?=^## |\Z)", body, re.MULTILINE | re.DOTALL)[1]


def test_the_card_states_licence_language_and_size():
    origin = Origin(title="Rivers: two", licence="CC BY 4.0", languages=("en-GB", "no"))
    head, body, _ = build_card(origin=origin)
    assert (head["license"], head["language"], head["size_categories"]) == (
        "cc-by-4.0",
        ["en", "no"],
        ["n<1K"],
    )
    assert head["pretty_name"] == "Rivers: two"
    assert re.findall(r"^## (.+)$", body, re.MULTILINE) == [
        *("Use", "Structure", "Motivation", "Composition", "Collection process", "Personal data"),
        *("Preprocessing", "Uses", "Known limits", "Distribution", "Maintenance"),
    ]


@pytest.mark.parametrize(
    ("licence", "expected", "name"),
    [
        ("", "unknown", None),
        ("Ask us first!", "other", "ask-us-first"),
        ("apache-2.0", "apache-2.0", None),
        ("许可", "other", "other"),
    ],
)
def test_a_licence_that_hugging_face_does_not_know_is_other(licence, expected, name):
    head, _, _ = build_card("hf", origin=Origin("Rivers", licence=licence))
    assert (head["license"], head.get("license_name")) == (expected, name)


def test_languages_that_are_no_codes_are_not_in_the_front_matter():
    head, body, _ = build_card("hf", origin=Origin("Rivers", languages=("English", "de")))
    assert head["language"] == ["de"]
    assert "Languages: English, de" in body


def test_the_front_matter_describes_the_parquet_file():
    head, body, files = build_card("hf")
    (config,) = head["configs"]
    (data,) = config["data_files"]
    table = parquet.read_table(io.BytesIO(files[data["path"]]))
    info = head["dataset_info"]
    assert (config["config_name"], data["split"]) == (info["config_name"], "test")
    size = build_parquet(content()).n_bytes
    assert info["splits"] == [{"name": "test", "num_bytes": size, "num_examples": 2}]
    assert (info["download_size"], info["dataset_size"]) == (len(files[data["path"]]), size)

    def describe(field):
        """The type of an Arrow field as the front matter has it."""
        if str(field.type).startswith("list"):
            inner = field.type.value_type
            if str(inner).startswith("struct"):
                return {"name": field.name, "list": [describe(one) for one in inner]}
            return {"name": field.name, "sequence": DTYPES[str(inner)]}
        return {"name": field.name, "dtype": DTYPES[str(field.type)]}

    assert info["features"] == [describe(field) for field in table.schema]
    described = re.findall(r"^\| `(\w+)` \|", read_section(body, "Structure"), re.MULTILINE)
    assert described == table.schema.names


# Names of types: Arrow's and those of Hugging Face.
DTYPES = {"string": "string", "int64": "int64", "double": "float64", "float": "float32"}


def test_without_the_parquet_file_the_card_names_none():
    head, body, files = build_card("inspect")
    assert {"configs", "dataset_info"} & set(head) == set()
    assert "parquet" not in body
    assert "load_dataset" not in body
    assert not [name for name in files if name.startswith("data/")]


@pytest.mark.parametrize(
    ("n_consents", "shown"),
    [(None, "none is recorded"), (7, "7 of 10 people"), (10, "10 of 10 people")],
)
def test_consent_is_counted_among_the_people_of_the_run(n_consents, shown):
    origin = Origin("Rivers", n_workers=10, n_answers=20, n_consents=n_consents)
    _, body, _ = build_card(origin=origin)
    collection = read_section(body, "Collection process")
    assert shown in collection
    assert ("of the others" in collection) is (n_consents == 7)
    # Where answers come from is not recorded with a file.
    assert "import" not in collection


def test_what_nobody_recorded_is_not_stated():
    _, body, _ = build_card(origin=Origin("Rivers", n_workers=10, n_answers=20))
    missing = re.findall(r"^- (.*): not stated$", body, re.MULTILINE)
    # Makers and funders, languages, times, recruitment and review, licence, contact.
    assert len(missing) == 6
    assert {"Languages", "Collected", "Contact and updates"} < set(missing)
    assert "HTML" not in body


def test_counts_say_what_they_count():
    few = question("r2", (0, 2), n_answers=4, worker_scores=SCORES[:4])
    origin = Origin("Rivers", n_workers=12, n_answers=17, collected=("2026-01-02", "2026-02-03"))
    _, body, _ = build_card(questions=[question("r1", (1, 0)), few], origin=origin)
    composition = read_section(body, "Composition")
    # Workers, answers of the graded run, ranked workers; fewest and most answers to a question.
    assert re.search(r"^- People: 12, .* 17 .* 10 ", composition, re.MULTILINE)
    assert re.search(r"^- Answers .*: 4 to 10$", composition, re.MULTILINE)
    assert "Percentiles: on 1 questions" in composition  # r2 has fewer than 10 ranked people
    collection = read_section(body, "Collection process")
    assert re.search(r"2026-01-02 to 2026-02-03; 0 of 17 ", collection)


def test_html_is_described_as_the_run_recorded_it():
    for html, shown in (("kept", "read as typed"), ("removed", "removed from 3 answers")):
        _, body, _ = build_card(origin=Origin("Rivers", html=html, n_html=3))
        assert f"HTML in answers: {shown}" in read_section(body, "Preprocessing")


@pytest.fixture
def graded_html(tmp_path):
    """A grading of answers of which one has HTML, and its file."""
    answers = tmp_path / "answers.csv"
    with answers.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["worker", "question", "answer"])
        for number, worker in enumerate(["ann", "ben", "cy", "dee"]):
            year = f"<p>in 18{58 + number // 3}</p>" if worker == "ann" else "in 1858"
            writer.writerows([worker, f"When was bridge {q} built?", year] for q in range(1, 7))
    return answers


def export(answers, folder, *options, forget=False):
    """The content of a scorer of graded answers; `forget` the counts that earlier ones lack."""
    ran = manage(
        *("evaluate", "aqer", answers, "--output", folder, "--embedder", "tfidf-word"),
        *("--bootstrap", "0", *options),
    )
    assert ran.code == 0, ran.err
    path = folder / "summary.json"
    summary = json.loads(path.read_text())
    # Only neural embedders can be exported; which one made the vectors changes no fact.
    summary["parameters"]["embedder"] = "minilm"
    if forget:
        del summary["counts"]["html_removed"]
    path.write_text(json.dumps(summary))
    return load_folder_content(ScorerFiles(folder, answers), ScorerOptions("bridges"))


def test_facts_are_those_of_the_answers_as_they_were_graded(graded_html, tmp_path):
    removed = export(graded_html, tmp_path / "removed")
    # Ann's answer to each of six questions.
    assert (removed.origin.html, removed.origin.n_html, removed.facts_reason) == ("removed", 6, "")
    kept = export(graded_html, tmp_path / "kept", "--keep-html")
    assert (kept.origin.html, kept.facts_reason) == ("kept", "")
    # Gradings from before HTML was removed read it as words, and recorded nothing.
    earlier = export(graded_html, tmp_path / "earlier", forget=True)
    assert (earlier.origin.html, earlier.facts_reason) == ("", "html_unknown")
    assert all(one.facts is None for one in earlier.questions)


@pytest.mark.django_db
def test_consents_and_times_are_those_of_graded_answers(rana):
    run = finished(n_workers=12, n_questions=6, owner=rana)
    run.exemplary_answers.update(vector=np.array([1, 0], dtype="<f4").tobytes(), dimension=2)
    version = run.version
    submissions = list(Submission.objects.filter(version=version))
    now = timezone.now()
    text_hash = hash_consent_text(version.consent_text)
    for submission in submissions[:3]:
        Consent.objects.create(submission=submission, text_hash=text_hash, given_at=now)
    origin = storage.load_run_content(run, ScorerOptions("rivers")).origin
    assert origin.n_consents == 3
    # Of a person without a grade in the run, neither the consent nor the time counts.
    run.worker_grades.filter(worker=submissions[0].worker).delete()
    run.answer_scores.filter(response__submission=submissions[0]).delete()
    late = timezone.now() + timezone.timedelta(days=900)
    Response.objects.filter(submission=submissions[0]).update(submitted_at=late)
    origin = storage.load_run_content(run, ScorerOptions("rivers")).origin
    assert origin.n_consents == 2
    assert f"{late:%Y-%m-%d}" not in origin.collected
    assert origin.n_timed == run.answer_scores.filter(response__submitted_at__isnull=False).count()
