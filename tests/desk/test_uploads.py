"""Uploading: the dry run changes nothing, the yes imports all of it, a bad row stops all of it."""

import errno
import json
import os
import stat
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F
from django.urls import reverse

from annotations.exchange.importing import answers as importing
from annotations.exchange.importing.report import NOTHING_CHANGED
from annotations.exchange.problem_messages import PROBLEM_MESSAGES
from annotations.models import QuestionSet, Response, Upload, Worker
from annotations.models.uploads import LIFETIME, delete_old_uploads
from annotations.web import size_limit, uploads
from evaluation.models import LLMResponse
from tests.disks import small_disk

QUESTIONS = b"question,text\nq1,Where is it?\nq2,Why is it?\n"
ANSWERS = b"worker,question,answer\nada,q1,north\nada,q2,because\nben,q1,\n"


@pytest.fixture
def question_set(rana, client):
    client.force_login(rana)
    return QuestionSet.objects.create(owner=rana, name="rivers")


def send(client, question_set, kind, content, name="file.csv", follow=True, **more):
    address = reverse("admin:upload", args=[question_set.public_id, kind])
    data = {"file": SimpleUploadedFile(name, content), **more}
    return client.post(address, data, follow=follow)


def confirm(client, question_set, response):
    token = response.context["staged"].public_id
    address = reverse("admin:upload-confirm", args=[question_set.public_id, token])
    return client.post(address, follow=True)


def upload(client, question_set, kind, content, **more):
    return confirm(client, question_set, send(client, question_set, kind, content, **more))


def form_errors(response):
    """The codes of the form's errors, by field."""
    found = response.context["form"].errors.as_data()
    return {field: [error.code for error in errors] for field, errors in found.items()}


def folder():
    return Path(settings.UPLOADS)


def files():
    return sorted(folder().iterdir()) if folder().exists() else []


def test_the_preview_counts_and_changes_nothing_until_it_is_confirmed(client, question_set):
    upload(client, question_set, "questions", QUESTIONS)
    preview = send(client, question_set, "answers", ANSWERS)
    report = preview.context["staged"].report
    assert (report["n_rows"], report["n_new"], report["n_empty"]) == (3, 3, 1)
    assert (Response.objects.count(), Worker.objects.count()) == (0, 0)
    result = confirm(client, question_set, preview)
    assert result.context["staged"].state == "done"
    assert (Response.objects.count(), Worker.objects.count()) == (3, 2)
    assert files() == []


def test_confirming_twice_imports_once(client, question_set):
    preview = send(client, question_set, "questions", QUESTIONS)
    for _ in range(2):
        assert confirm(client, question_set, preview).context["staged"].state == "done"
    assert question_set.latest_version().questions.count() == 2


def test_the_same_file_again_says_that_nothing_changed(client, question_set):
    upload(client, question_set, "questions", QUESTIONS)
    again = send(client, question_set, "questions", QUESTIONS)
    page = again.content.decode()
    assert again.context["staged"].report["changed"] is False
    assert NOTHING_CHANGED in page
    assert "upload-confirm" not in page
    assert "Import 0" not in page


def test_every_bad_row_is_named_and_nothing_is_stored(client, question_set):
    upload(client, question_set, "questions", QUESTIONS)
    bad = b"worker,question,answer\nada,q1,north\n,q1,south\nben,q9,east\n"
    response = send(client, question_set, "answers", bad)
    staged = response.context["staged"]
    assert staged.state == "bad"
    assert [(p["line"], p["column"], p["code"]) for p in staged.problems] == [
        (3, "worker", "id_missing")
    ]
    assert staged.problems[0]["reason"] in response.content.decode()
    assert Response.objects.count() == 0
    assert files() == []
    unknown = send(client, question_set, "answers", b"worker,question,answer\nben,q9,east\n")
    assert [p["code"] for p in unknown.context["staged"].problems] == ["question_unknown"]
    assert "q9" in unknown.content.decode()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", ANSWERS.replace(b",", b"\t")),
        (
            "a.jsonl",
            b"\n".join(
                json.dumps({"worker": w, "question": q, "answer": a}).encode()
                for w, q, a in (("ada", "q1", "north"), ("ada", "q2", "so"), ("ben", "q1", ""))
            ),
        ),
    ],
)
def test_other_formats_are_read_by_their_ending(client, question_set, name, content):
    upload(client, question_set, "questions", QUESTIONS)
    result = upload(client, question_set, "answers", content, name=name)
    assert result.context["staged"].report["n_new"] == 3


def test_a_workbook_is_read(client, question_set, tmp_path):
    import openpyxl

    book = openpyxl.Workbook()
    for row in (("question", "text"), ("q1", "Where?")):
        book.active.append(row)
    book.save(tmp_path / "q.xlsx")
    content = (tmp_path / "q.xlsx").read_bytes()
    result = upload(client, question_set, "questions", content, name="q.xlsx")
    assert result.context["staged"].report["n_new"] == 1


def test_columns_of_other_names_are_mapped_and_nonsense_is_refused(client, question_set):
    content = b"Item,Wording\nq1,Where?\n"
    wrong = send(client, question_set, "questions", content, columns="nonsense")
    assert wrong.status_code == 400
    assert "has no &#x27;=&#x27;" in wrong.content.decode()
    result = upload(
        client, question_set, "questions", content, columns="question=Item,text=Wording"
    )
    assert result.context["staged"].report["n_new"] == 1


def test_what_to_do_about_a_column_that_is_missing_holds_no_switch_of_the_terminal(
    client, question_set
):
    response = send(client, question_set, "answers", b"worker,question,Answer_\nada,q1,north\n")
    page = response.content.decode()
    (problem,) = response.context["staged"].problems
    assert problem["code"] == "column_missing"
    assert "Answer_" in problem["remedy"]
    assert problem["remedy"] in page
    assert "--columns" not in page


def test_answers_may_bring_their_questions_along(client, question_set):
    result = upload(client, question_set, "answers", ANSWERS, create_questions="on")
    assert result.context["staged"].report["created"]["questions"] == 2


def test_model_answers_come_in(client, question_set):
    upload(client, question_set, "questions", QUESTIONS)
    content = b"model,question,answer\nsmall,q1,north\nsmall,q2,\n"
    assert upload(client, question_set, "model-answers", content).status_code == 200
    assert LLMResponse.objects.count() == 2


@pytest.mark.parametrize(
    ("chosen", "shown", "text"),
    [
        ({}, "n_thinking", "north"),
        ({"keep_thinking": "on"}, "n_thinking_kept", "<think>hm</think>north"),
    ],
)
def test_the_preview_counts_thinking_before_anything_is_stored(
    client, question_set, chosen, shown, text
):
    upload(client, question_set, "questions", QUESTIONS)
    content = b"model,question,answer\nsmall,q1,<think>hm</think>north\nsmall,q2,because\n"
    preview = send(client, question_set, "model-answers", content, **chosen)
    report = preview.context["staged"].report
    counts = {name: report[name] for name in ("n_thinking", "n_thinking_kept")}
    assert counts == {"n_thinking": 0, "n_thinking_kept": 0} | {shown: 1}
    page = preview.content.decode()
    assert f'data-count="{shown}"><strong>1<' in page
    assert page.count('data-count="n_thinking') == 1
    assert not LLMResponse.objects.exists()
    confirm(client, question_set, preview)
    assert LLMResponse.objects.get(question__external_id="q1").text == text


@pytest.mark.parametrize("name", ["a.exe", "a", "../../etc/passwd", "a.xls", "a.csv/../x.zip"])
def test_other_endings_are_refused_whatever_the_name_says(client, question_set, name, own_home):
    response = send(client, question_set, "questions", QUESTIONS, name=name)
    assert response.context["staged"].state == "bad"
    assert [p["code"] for p in response.context["staged"].problems] == ["ending_unknown"]
    assert {path.parent for path in own_home.rglob("*") if path.is_file()} <= {folder()}


def test_what_is_no_table_is_refused(client, question_set):
    response = send(client, question_set, "questions", b"\x89PNG\r\n\x1a\n\0\0\0", name="a.csv")
    assert response.context["staged"].state == "bad"


def test_too_large_a_file_is_dropped_on_the_way(client, question_set, monkeypatch):
    monkeypatch.setattr(size_limit, "LARGEST", 1000)
    response = send(client, question_set, "questions", b"question,text\n" + b"x" * 70_000)
    assert response.status_code == 400
    # Nothing of it arrived; that it is too large is said with the limit.
    assert form_errors(response) == {"file": ["required"]}
    assert " MB" in response.context["form"].errors["file"][0]
    assert files() == []


def test_no_file_is_said_so(client, question_set):
    address = reverse("admin:upload", args=[question_set.public_id, "questions"])
    missing = client.post(address)
    assert form_errors(missing) == {"file": ["required"]}
    assert " MB" not in missing.context["form"].errors["file"][0]
    empty = send(client, question_set, "questions", b"")
    assert form_errors(empty) == {"file": ["empty"]}
    for response in (missing, empty):
        assert response.context["form"].errors["file"][0] in response.content.decode()


def test_uploaded_files_are_private_and_go_after_a_day(client, question_set):
    send(client, question_set, "answers", ANSWERS, create_questions="on")
    assert stat.S_IMODE(folder().stat().st_mode) == 0o700
    file, checked = files()  # as it came, and the rows that were read
    for path in (file, checked):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert len(path.name) >= 32
        assert "file" not in path.name
    assert delete_old_uploads() == 0
    Upload.objects.update(created_at=F("created_at") - LIFETIME)
    assert delete_old_uploads() == 1
    assert files() == []


def test_the_files_of_a_set_go_with_it(client, question_set):
    send(client, question_set, "questions", QUESTIONS)
    assert len(files()) == 1
    question_set.delete()
    assert files() == []


def test_what_was_checked_is_not_read_again(client, question_set, monkeypatch):
    preview = send(client, question_set, "answers", ANSWERS, create_questions="on", panel="north")
    monkeypatch.setattr(importing, "AnswerRows", None)  # whoever reads, fails
    (upload,) = Upload.objects.all()
    upload.file.storage.delete(upload.file.name)
    result = confirm(client, question_set, preview)
    assert result.context["staged"].state == "done"
    assert Response.objects.filter(text="because").get().submission.worker.panel == "north"
    assert {*Worker.objects.values_list("external_id", flat=True)} == {"ada", "ben"}
    assert result.context["staged"].report["n_new"] == 3


def test_a_batch_of_mechanical_turk_is_kept_with_its_questions(client, question_set):
    batch = (
        b"HITId,AssignmentId,WorkerId,AssignmentStatus,AcceptTime,Input.sentence,Answer.t\n"
        b"h1,a1,ada,Approved,Wed Nov 15 09:11:32 PST 2023,Guten Tag,Good day\n"
        b"h1,a2,ben,Rejected,Wed Nov 15 09:12:00 PST 2023,Guten Tag,Hello\n"
    )
    preview = send(client, question_set, "mturk", batch, question_template="Translate: ${sentence}")
    (upload,) = Upload.objects.all()
    upload.file.storage.delete(upload.file.name)
    report = confirm(client, question_set, preview).context["staged"].report
    assert (report["n_new"], report["n_rejected"], report["created"]["questions"]) == (2, 1, 1)
    answer = Response.objects.get(submission__worker__external_id="ada")
    assert answer.question.text == "Translate: Guten Tag"
    assert answer.question.metadata == {"Input.sentence": "Guten Tag"}
    assert answer.started_at.isoformat() == "2023-11-15T17:11:32+00:00"  # eight hours before UTC


def test_what_was_stored_between_the_preview_and_the_yes_is_compared_anew(client, question_set):
    upload(client, question_set, "questions", QUESTIONS)
    preview = send(client, question_set, "answers", ANSWERS)
    assert preview.context["staged"].report["n_new"] == 3
    upload(client, question_set, "answers", b"worker,question,answer\nada,q1,north\n")
    report = confirm(client, question_set, preview).context["staged"].report
    assert (report["n_new"], report["n_unchanged"]) == (2, 1)
    assert Response.objects.count() == 3


def test_a_discarded_file_is_gone(client, question_set):
    preview = send(client, question_set, "questions", QUESTIONS)
    token = preview.context["staged"].public_id
    client.post(reverse("admin:upload-discard", args=[question_set.public_id, token]))
    assert files() == []
    gone = client.get(reverse("admin:uploaded", args=[question_set.public_id, token]))
    assert gone.status_code == 404


KINDS_OF_FILES = [("questions", QUESTIONS, {}), ("answers", ANSWERS, {"create_questions": "on"})]


@pytest.mark.parametrize(("kind", "content", "more"), KINDS_OF_FILES)
def test_what_is_discarded_while_it_is_confirmed_is_told_and_not_imported(
    client, question_set, monkeypatch, kind, content, more
):
    preview = send(client, question_set, kind, content, **more)
    at_its_beginning(monkeypatch, lambda: Upload.objects.get().delete())
    result = confirm(client, question_set, preview)
    page = result.content.decode()
    assert result.redirect_chain[-1][0] == f"/admin/question-sets/{question_set.public_id}/"
    (message,) = result.context["messages"]
    assert message.level_tag == "warning"
    assert message.message.startswith("file.csv ")
    assert message.message in page
    assert str(settings.UPLOADS) not in page
    assert (Upload.objects.count(), Response.objects.count(), files()) == (0, 0, [])


@pytest.mark.parametrize(("kind", "content", "more"), KINDS_OF_FILES)
def test_of_two_who_confirm_at_once_both_see_it_imported(
    client, question_set, monkeypatch, kind, content, more
):
    preview = send(client, question_set, kind, content, **more)
    at_its_beginning(monkeypatch, lambda: confirm(client, question_set, preview))
    result = confirm(client, question_set, preview)
    assert result.context["staged"].state == "done"
    assert Upload.objects.get().state == "done"


@pytest.mark.parametrize(("kind", "content", "more"), KINDS_OF_FILES)
def test_a_file_that_is_gone_from_the_disk_is_asked_for_again(
    client, question_set, kind, content, more
):
    preview = send(client, question_set, kind, content, **more)
    for path in files():
        path.unlink()
    page = confirm(client, question_set, preview).content.decode()
    assert str(settings.UPLOADS) not in page
    assert PROBLEM_MESSAGES["unreadable"].remedy not in page
    assert [problem["code"] for problem in Upload.objects.get().problems] == ["file_gone"]


def at_its_beginning(monkeypatch, act):
    """Have somebody else do something as soon as the next file is read."""
    read = uploads._import_file

    def meanwhile(*args, **options):
        monkeypatch.setattr(uploads, "_import_file", read)
        act()
        return read(*args, **options)

    monkeypatch.setattr(uploads, "_import_file", meanwhile)


def test_a_full_disk_keeps_no_part_of_a_file(client, question_set, tmp_path, settings):
    client.raise_request_exception = False
    with small_disk(tmp_path / "disk") as disk:
        settings.UPLOADS = disk.folder / "uploads"
        send(client, question_set, "questions", QUESTIONS)
        kept = files()
        with (disk.folder / "filler").open("wb") as file:
            file.write(b"x" * 900_000)  # room for a part of the next one
        for address in ("upload", "import"):
            large = SimpleUploadedFile("large.csv", QUESTIONS + b"q3,why\n" * 100_000)
            target = [question_set.public_id, *(["questions"] if address == "upload" else [])]
            said = client.post(reverse(f"admin:{address}", args=target), {"file": large})
            assert said.status_code == 507
            assert 'data-outage="storage-full" data-state="file_not_taken"' in said.content.decode()
            assert files() == kept
        assert Upload.objects.count() == 1


@pytest.mark.parametrize("address", ["upload", "import"])
def test_a_file_whose_row_cannot_be_stored_does_not_stay(
    client, question_set, monkeypatch, address
):
    client.raise_request_exception = False

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Upload, "save", full)
    target = [question_set.public_id, *(["answers"] if address == "upload" else [])]
    data = {"file": SimpleUploadedFile("a.csv", ANSWERS), "create_questions": "on"}
    assert client.post(reverse(f"admin:{address}", args=target), data).status_code == 507
    assert files() == []


def test_a_file_that_no_row_names_goes_after_a_day_and_no_stranger_with_it(client, question_set):
    send(client, question_set, "questions", QUESTIONS)
    (known,) = files()
    strange, orphan, fresh = (folder() / name for name in ("notes.txt", "o" * 32, "f" * 32))
    for path in (strange, orphan, fresh):
        path.write_bytes(b"x")
    for path in (known, strange, orphan):
        os.utime(path, (0, 0))
    assert delete_old_uploads() == 0
    assert set(files()) == {known, strange, fresh}


def test_an_unknown_kind_or_token_does_not_exist(client, question_set):
    for name, last in (("upload", "nonsense"), ("uploaded", "../etc"), ("uploaded", "x" * 30)):
        address = reverse("admin:index") + f"question-sets/{question_set.public_id}/"
        address += f"{'upload' if name == 'upload' else 'uploads'}/{last}/"
        assert client.get(address).status_code == 404


def test_a_question_answered_twice_stops_the_file_unless_one_answer_counts(client, question_set):
    upload(client, question_set, "questions", QUESTIONS)
    twice = b"worker,question,answer\nada,q1,north\nada,q1,south\nada,q1,north\n"
    bad = send(client, question_set, "answers", twice)
    (problem,) = bad.context["staged"].problems
    assert (problem["line"], problem["code"]) == (3, "answers_differ")
    assert "--duplicates" not in bad.content.decode()
    done = upload(client, question_set, "answers", twice, duplicates="last")
    assert Response.objects.get().text == "north"
    # Row 2 took the place of row 1, row 3 that of row 2.
    assert '<div id="superseded"><strong>2</strong>' in done.content.decode()
