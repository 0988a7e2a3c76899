"""Pictures on their way to a browser."""

from __future__ import annotations

from django.http import HttpResponse

from annotations.models import Image


def image_response(image: Image, cache: str = "private, max-age=86400, immutable") -> HttpResponse:
    """Return a picture that may be shown to who asks; `cache` is the word to caches.

    Who asks was checked before. The type is the one that was found when the picture was written
    anew, and the browser is told not to guess another (nosniff stands on every response).
    """
    response = HttpResponse(bytes(image.content), content_type=image.media_type)
    response.headers["Cache-Control"] = cache
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Disposition"] = "inline"
    return response
