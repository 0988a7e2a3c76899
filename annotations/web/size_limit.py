"""A bound on files that are uploaded, kept while they come in."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile

LARGEST: int = settings.UPLOAD_BYTES
"""Bytes of the largest file that a browser may send; the command line takes any size."""


class SizeLimit(FileUploadHandler):
    """The first handler of an upload: drops a file as soon as it grows too large.

    The form then finds no file, and `META["UPLOAD_TOO_LARGE"]` says why.
    """

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Count from zero."""
        super().new_file(*args, **kwargs)
        self._received = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Hand the data on, or drop the file."""
        self._received += len(raw_data)
        if self._received > LARGEST:
            if self.request is not None:
                self.request.META["UPLOAD_TOO_LARGE"] = True
            raise SkipFile
        return raw_data

    def file_complete(self, file_size: int) -> UploadedFile[Any] | None:
        """Leave the file to the handlers after this one."""
        return None
