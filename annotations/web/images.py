"""HTTP responses with images of passages."""

from __future__ import annotations

from django.http import HttpResponse

from annotations.models import Image


def build_image_response(
    image: Image, cache: str = "private, max-age=86400, immutable"
) -> HttpResponse:
    """Return an HTTP response with an image; `cache` is its Cache-Control header.

    The caller has checked that the user may see it. The type was detected when the image was
    re-encoded, and the browser must not guess another (nosniff).
    """
    response = HttpResponse(bytes(image.content), content_type=image.media_type)
    response.headers["Cache-Control"] = cache
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Disposition"] = "inline"
    return response
