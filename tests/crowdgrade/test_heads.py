"""HEAD has the headers of GET and no body."""

import pytest
from django.http import FileResponse, HttpResponse, StreamingHttpResponse

from crowdgrade.head_requests import HeadRequestMiddleware


@pytest.mark.parametrize(
    "made",
    [
        lambda path: HttpResponse(b"hello", headers={"Content-Length": "5", "X-Own": "1"}),
        lambda path: StreamingHttpResponse([b"hello"], headers={"X-Own": "1"}),
        lambda path: FileResponse(path.open("rb"), headers={"X-Own": "1"}),
        lambda path: HttpResponse(status=404, headers={"X-Own": "1"}),
    ],
)
def test_head_has_the_headers_and_the_status_and_no_body(db, rf, tmp_path, made):
    path = tmp_path / "file"
    path.write_bytes(b"hello")
    whole, bare = (
        HeadRequestMiddleware(lambda _: made(path))(ask("/")) for ask in (rf.get, rf.head)
    )
    assert (bare.status_code, dict(bare.items())) == (whole.status_code, dict(whole.items()))
    assert (bare.streaming, bare.content) == (False, b"")
    whole.close()
    bare.close()


def test_cookies_stay_and_other_methods_are_left_alone(rf):
    made = HttpResponse(b"hello")
    made.set_cookie("a", "b")
    answer = HeadRequestMiddleware(lambda _: made)
    assert answer(rf.post("/")) is made
    assert answer(rf.head("/")).cookies["a"].value == "b"
