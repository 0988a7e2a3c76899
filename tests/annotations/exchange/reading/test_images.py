"""Pictures: what comes in is looked at, what is kept is written anew."""

import io
import struct
import threading
import time
import zlib

import PIL.Image
import PIL.JpegImagePlugin
import PIL.PngImagePlugin
import pytest

from annotations.exchange.reading import images
from annotations.exchange.reading.images import (
    LARGEST_IMAGE,
    LONGEST_SIDE,
    MOST_AT_ONCE,
    MOST_OF_ONE,
    reencode_image,
)
from tests.annotations.world import picture
from tests.evaluation.runs.background.scratch import wait_until
from tests.problems import raises_problem


def opened(content):
    return PIL.Image.open(io.BytesIO(content))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_three_kinds_are_taken_and_stay_what_they_are(kind):
    # The name is not believed.
    image = reencode_image(picture(kind, (40, 20)), "river.gif")
    assert (image.media_type, image.width, image.height) == (f"image/{kind.lower()}", 40, 20)
    assert opened(image.content).format == kind


def test_what_is_hidden_in_a_file_is_left_behind():
    about = PIL.Image.Exif()
    about[0x010E] = "taken at Rana's house"
    content = picture("JPEG", (20, 20), exif=about, icc_profile=b"a profile")
    assert b"Rana" in content
    image = reencode_image(content + b"<script>alert(1)</script>", "a.jpg")
    for hidden in (b"Rana", b"a profile", b"<script>"):
        assert hidden not in image.content
    notes = PIL.PngImagePlugin.PngInfo()
    notes.add_text("Comment", "<script>alert(1)</script>")
    assert b"<script>" not in reencode_image(picture(pnginfo=notes), "a.png").content


def test_a_photograph_that_lies_on_its_side_is_stood_up():
    about = PIL.Image.Exif()
    about[0x0112] = 6  # to be turned by 90 degrees
    image = reencode_image(picture("JPEG", (40, 20), exif=about), "a.jpg")
    assert (image.width, image.height) == (20, 40)


def test_a_large_picture_is_made_smaller_and_keeps_its_form():
    image = reencode_image(picture("JPEG", (4000, 1000)), "a.jpg")
    assert (image.width, image.height) == (LONGEST_SIDE, LONGEST_SIDE // 4)


class Decoding:
    """Counts how many pictures are decoded at the same time."""

    def __init__(self, load):
        self.load, self.now, self.most, self.n = load, 0, 0, 0
        self.lock = threading.Lock()

    def __call__(self, opened):
        with self.lock:
            self.now += 1
            self.n += 1
            self.most = max(self.most, self.now)
        time.sleep(0.02)
        found = self.load(opened)
        with self.lock:
            self.now -= 1
        return found


def test_pictures_are_decoded_one_at_a_time_by_all_threads(monkeypatch, tmp_path):
    counted = Decoding(PIL.PngImagePlugin.PngImageFile.load)

    def load(self):
        return counted(self)

    monkeypatch.setattr(PIL.PngImagePlugin.PngImageFile, "load", load)
    monkeypatch.setattr(images, "_file", tmp_path / "lock")
    content, read = picture("PNG", (40, 20)), []
    threads = [
        threading.Thread(target=lambda: read.append(reencode_image(content, "a.png")))
        for _ in range(MOST_AT_ONCE)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert (len(read), counted.most) == (MOST_AT_ONCE, 1)


def test_a_photograph_beside_three_others_waits_for_its_turn_and_is_read():
    content, read = picture("PNG", (4, 4)), []
    with images._turn:
        threads = [
            threading.Thread(target=lambda: read.append(reencode_image(content, "a.png")))
            for _ in range(4)
        ]
        for one in threads:
            one.start()
        # All four wait now, as many as there are places but one.
        wait_until(lambda: images._places._value == MOST_AT_ONCE - 4, 10, "four wait")
        assert read == []
    for one in threads:
        one.join()
    assert len(read) == 4


def test_two_pictures_of_one_sender_wait_and_those_of_another_find_a_place():
    content, read = picture("PNG", (4, 4)), []

    def send(sender):
        read.append((sender, reencode_image(content, "a.png", sender).width))

    with images._turn:
        threads = [threading.Thread(target=send, args=("ana",)) for _ in range(MOST_OF_ONE)]
        for one in threads:
            one.start()
        wait_until(lambda: images._places._value == MOST_AT_ONCE - MOST_OF_ONE, 10, "two wait")
        with raises_problem("own_pictures_wait", most=MOST_OF_ONE):
            reencode_image(content, "a.png", "ana")
        # What was refused took no place.
        assert images._places._value == MOST_AT_ONCE - MOST_OF_ONE
        threads.append(threading.Thread(target=send, args=("ben",)))
        threads[-1].start()
        wait_until(lambda: images._waiting["ben"] == 1, 10, "another one waits")
    for one in threads:
        one.join()
    assert sorted(read) == [("ana", 4), ("ana", 4), ("ben", 4)]
    assert images._waiting == {}
    assert images._places._value == MOST_AT_ONCE


def test_a_picture_that_is_decoded_does_not_count_as_waiting(monkeypatch):
    seen, load = [], PIL.PngImagePlugin.PngImageFile.load

    def loaded(self):
        seen.append(dict(images._waiting))
        return load(self)

    monkeypatch.setattr(PIL.PngImagePlugin.PngImageFile, "load", loaded)
    reencode_image(picture("PNG", (4, 4)), "a.png", "ana")
    assert seen[0] == {}


def test_a_picture_is_refused_at_once_where_too_many_wait_already(monkeypatch):
    monkeypatch.setattr(images, "_places", threading.BoundedSemaphore(1))
    content = picture("PNG", (4, 4))
    with images._places, raises_problem("pictures_busy"):
        reencode_image(content, "a.png")
    assert reencode_image(content, "a.png").width == 4


def test_the_process_that_waits_comes_before_the_one_that_has_just_decoded(monkeypatch, tmp_path):
    file = tmp_path / "lock"
    monkeypatch.setattr(images, "_file", file)
    content, read = picture("PNG", (4, 4)), []
    waiting = threading.Thread(target=lambda: read.append(reencode_image(content, "a.png")))
    with file.open("ab") as turn, images._get_next_lock_file(file).open("ab") as following:
        assert images._try_lock(turn)  # as another process that decodes holds it
        waiting.start()
        # The one that waits has the place behind it, which nobody else can take.
        wait_until(lambda: not free(images._get_next_lock_file(file)), 10, "it has the place")
        assert not images._try_lock(following)
        assert read == []
    waiting.join()
    assert len(read) == 1
    assert free(file)
    assert free(images._get_next_lock_file(file))


def free(file):
    """Return whether no other process would have to wait for a lock."""
    with file.open("ab") as one:
        return images._try_lock(one)


def test_a_picture_that_waits_too_long_is_refused_and_the_next_one_read(monkeypatch, tmp_path):
    monkeypatch.setattr(images, "SECONDS_TO_WAIT", 0.05)
    content = picture("PNG", (4, 4))
    with images._turn, raises_problem("pictures_busy"):
        reencode_image(content, "a.png")
    monkeypatch.setattr(images, "_file", tmp_path / "lock")
    with images._file.open("ab") as other:  # as another process holds it
        assert images._try_lock(other)
        with raises_problem("pictures_busy"):
            reencode_image(content, "a.png")
    assert reencode_image(content, "a.png").width == 4


def test_a_large_photograph_is_never_decoded_as_a_whole(monkeypatch):
    sizes, load = [], PIL.JpegImagePlugin.JpegImageFile.load

    def loaded(self):
        found = load(self)
        sizes.append(self.size)
        return found

    monkeypatch.setattr(PIL.JpegImagePlugin.JpegImageFile, "load", loaded)
    image = reencode_image(picture("JPEG", (6400, 3200)), "a.jpg")
    assert (image.width, image.height) == (1600, 800)
    assert sizes[0] == (1600, 800)


def test_what_is_seen_through_stays_so():
    written = io.BytesIO()
    PIL.Image.new("RGBA", (4, 4), (255, 0, 0, 0)).save(written, "PNG")
    assert opened(reencode_image(written.getvalue(), "a.png").content).mode == "RGBA"


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "I;16", "CMYK"])
def test_every_kind_of_pixel_is_read(mode):
    written = io.BytesIO()
    PIL.Image.new(mode, (4, 4)).save(written, "JPEG" if mode == "CMYK" else "PNG")
    assert reencode_image(written.getvalue(), "a").width == 4


def bomb(width, height):
    """A PNG of a few bytes that says it has so many pixels."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(b"\0" * 1000)
    start = b"\x89PNG\r\n\x1a\n"
    return start + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def gif():
    return picture("GIF")


def moving(kind):
    written = io.BytesIO()
    frames = [PIL.Image.new("RGB", (4, 4), colour) for colour in ("red", "blue")]
    frames[0].save(written, kind, save_all=True, append_images=frames[1:])
    return written.getvalue()


@pytest.mark.parametrize(
    ("content", "code", "most"),
    [
        (b"", "no_picture", None),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "no_picture", None),
        (b"%PDF-1.7", "no_picture", None),
        (b"\x89PNG\r\n\x1a\n", "no_picture", None),
        (b"\xff\xd8\xff", "no_picture", None),
        (picture("GIF"), "no_picture", None),
        (picture("BMP"), "no_picture", None),
        (picture("TIFF"), "no_picture", None),
        (picture("JPEG", (400, 400))[:-300], "picture_damaged", None),
        (picture("PNG", (400, 400))[:200], "picture_damaged", None),
        (b"\xff" * (LARGEST_IMAGE + 1), "picture_too_heavy", 8),
        (bomb(60_000, 60_000), "picture_too_large", 40),
        (bomb(10_000, 9_000), "picture_too_large", 40),
        (bomb(7_000, 6_000), "picture_too_large", 40),
        (bomb(1_000, 1_000), "picture_damaged", None),
        (moving("PNG"), "moving_picture", None),
        (moving("WEBP"), "moving_picture", None),
    ],
)
def test_what_is_no_picture_to_keep_is_refused_with_a_reason(content, code, most):
    limit = {} if most is None else {"most": most}
    with raises_problem(code, file="a.png", line=None, **limit):
        reencode_image(content, "a.png")
