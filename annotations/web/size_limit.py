"""Limit on the size of uploaded files, enforced while they arrive."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile

LARGEST: int = settings.UPLOAD_BYTES
"""Most bytes of a file from a browser; the command line has no limit."""


class SizeLimitHandler(FileUploadHandler):
    """Upload handler that drops a file as soon as it exceeds the size limit.

    The form then finds no file, and `META["UPLOAD_TOO_LARGE"]` states why.
    """

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Reset the count of received bytes for a new file."""
        super().new_file(*args, **kwargs)
        self._received = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Return the data for the next handler; drop the file if it is too large."""
        self._received += len(raw_data)
        if self._received > LARGEST:
            if self.request is not None:
                self.request.META["UPLOAD_TOO_LARGE"] = True
            # The rest of the body is read but not stored, so the form can show its message.
            raise SkipFile
        return raw_data

    def file_complete(self, file_size: int) -> UploadedFile[Any] | None:
        """Return None, so that the next handlers complete the file."""
        return None
