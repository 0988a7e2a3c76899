"""Pictures of passages by REST."""

import io

import pytest
from django.contrib.auth.models import User
from django.test.client import MULTIPART_CONTENT, encode_multipart
from PIL import Image as Pillow

from annotations.exchange.reading import images
from annotations.exchange.reading.questions import LONGEST_BESIDE
from annotations.models import Image, Passage
from tests.annotations.answering.conftest import made_set
from tests.api.conftest import Api, problem

pytestmark = pytest.mark.django_db
WORDS = "A river from above, with two bridges."


def picture(kind="PNG", size=(30, 20), **options):
    written = io.BytesIO()
    Pillow.new("RGB", size, "navy").save(written, kind, **options)
    return written.getvalue()


@pytest.fixture
def tides(db):
    return made_set(User.objects.create_user("rana", is_staff=True))


@pytest.fixture
def send(tides):
    """Sends a form to the picture of the first passage."""

    def sent(content=None, words=WORDS, user=None, method="PUT", **more):
        form = dict(more)
        if content is not None:
            file = io.BytesIO(content)
            file.name = "river.png"
            form["picture"] = file
        if words is not None:
            form["image_alt"] = words
        body = encode_multipart("BoUnDaRyStRiNg", form)
        return Api(user or tides.owner).ask(method, address(tides), body, MULTIPART_CONTENT)

    return sent


def address(tides):
    passage = tides.latest_version().passages.earliest("pk")
    return f"question-sets/{tides.public_id}/passages/{passage.public_id}/image/"


def test_a_picture_that_waits_in_vain_is_answered_with_503_and_when_to_send_it_again(
    send, monkeypatch
):
    monkeypatch.setattr(images, "SECONDS_TO_WAIT", 0.05)
    with images._turn:
        response = send(picture())
    refused = problem(response, 503, "busy")
    assert [error["code"] for error in refused["errors"]] == ["pictures_busy"]
    assert response["Retry-After"] == str(images.SECONDS_TO_RETRY)
    assert not Image.objects.exists()
    assert send(picture()).status_code == 200


def test_a_third_picture_of_one_person_is_answered_with_503_and_that_of_another_is_read(
    tides, send, monkeypatch
):
    monkeypatch.setitem(images._waiting, tides.owner_id, images.MOST_OF_ONE)
    response = send(picture())
    refused = problem(response, 503, "busy")
    assert [error["code"] for error in refused["errors"]] == ["own_pictures_wait"]
    assert response["Retry-After"] == str(images.SECONDS_TO_RETRY)
    monkeypatch.setitem(images._waiting, tides.owner_id, images.MOST_OF_ONE - 1)
    assert send(picture()).status_code == 200
    assert images._waiting[tides.owner_id] == images.MOST_OF_ONE - 1


def test_a_picture_is_sent_with_its_words_read_and_taken_away(tides, send):
    sent = send(picture())
    assert sent.status_code == 200, sent.content
    body = sent.json()
    assert body["image_alt"] == WORDS
    stored = Image.objects.get()
    assert body["image"] == str(stored.public_id)
    api = Api(tides.owner)
    read = api.get(f"question-sets/{tides.public_id}/images/{body['image']}/")
    assert (read.status_code, read["Content-Type"]) == (200, "image/png")
    assert Pillow.open(io.BytesIO(read.content)).size == (30, 20)
    assert "nosniff" in read["X-Content-Type-Options"]
    again = send(picture())
    assert (again.status_code, again.json()["image"]) == (200, body["image"])
    assert Image.objects.count() == 1
    gone = api.ask("DELETE", address(tides))
    assert (gone.status_code, gone.content) == (204, b"")
    assert not Image.objects.exists()
    assert Passage.objects.earliest("pk").image_alt == WORDS
    problem(api.get(f"question-sets/{tides.public_id}/images/{body['image']}/"), 404, "not-found")


def test_it_is_written_anew_smaller_and_without_what_else_the_file_said(send, tides):
    exif = Pillow.Exif()
    exif[0x010E] = "where I live"
    sent = send(picture("JPEG", (2000, 500), exif=exif) + b"<script>")
    assert sent.status_code == 200
    stored = Image.objects.get()
    assert (stored.width, stored.height) == (1600, 400)
    assert b"where I live" not in bytes(stored.content)
    assert b"<script>" not in bytes(stored.content)


@pytest.mark.parametrize(
    ("content", "words", "pointer", "code"),
    [
        (b"<svg/>", WORDS, "#/picture", "no_picture"),
        (picture()[:60], WORDS, "#/picture", "picture_damaged"),
        (picture("PNG", (8000, 6000)), WORDS, "#/picture", "picture_too_large"),
        (picture(), None, "#/image_alt", "required"),
        (picture(), "  ", "#/image_alt", "blank"),
        (picture(), "x" * (LONGEST_BESIDE + 1), "#/image_alt", "max_length"),
        (None, WORDS, "#/picture", "required"),
    ],
    ids=("svg", "cut", "bomb", "no words", "blank", "long", "no picture"),
)
def test_what_is_no_picture_or_has_no_words_is_refused_and_nothing_changes(
    send, content, words, pointer, code
):
    told = problem(send(content, words), 400, "invalid")
    (fault,) = told["errors"]
    assert fault["pointer"] == pointer
    assert fault["code"] == code
    assert not Image.objects.exists()


def test_a_form_that_is_too_large_is_refused_before_it_is_read(send):
    problem(send(b"\0" * (8 * 1024**2 + 70_000)), 413, "too-large")
    told = problem(send(b"\0" * (8 * 1024**2 + 1)), 400, "invalid")
    assert "larger than 8 MB" in told["detail"]


def test_other_bodies_and_unknown_fields_are_refused(tides, send):
    api = Api(tides.owner)
    problem(api.ask("PUT", address(tides), {"image_alt": "x"}), 415, "unsupported-media-type")
    problem(send(picture(), colour="blue"), 400, "invalid")
    broken = api.ask("PUT", address(tides), b"nothing", "multipart/form-data; boundary=x")
    problem(broken, 400, "invalid")


def test_a_published_version_keeps_its_pictures(tides, send):
    send(picture())
    tides.latest_version().publish()
    problem(send(picture(size=(5, 5))), 409, "conflict")
    problem(Api(tides.owner).ask("DELETE", address(tides)), 409, "conflict")
    assert Image.objects.get().width == 30


def test_who_may_not_change_the_set_changes_no_picture(tides, send):
    otto = User.objects.create_user("otto", is_staff=True)
    problem(send(picture(), user=otto), 404, "not-found")
    assert not Image.objects.exists()


def test_pictures_count_as_uploads(tides, send, monkeypatch):
    from crowdgrade.rest.permissions import UploadThrottle

    monkeypatch.setattr(UploadThrottle, "THROTTLE_RATES", {"bulk": "1/minute"})
    assert send(picture()).status_code == 200
    problem(send(picture()), 429, "throttled")
    image = Image.objects.get().public_id
    read = Api(tides.owner).get(f"question-sets/{tides.public_id}/images/{image}/")
    assert read.status_code == 200
