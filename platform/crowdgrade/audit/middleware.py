"""Log of downloads: who downloaded which file, stored before the first byte is sent."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from email.message import Message
from typing import Final
from uuid import UUID

from django.db import Error
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse

from annotations.models import ExportRead, QuestionSet
from annotations.web.scope import get_user_id
from crowdgrade.outages import find_outage
from crowdgrade.rest.outage_page import render_outage
from evaluation.models import Run

logger = logging.getLogger(__name__)

SET_PARAMETERS: Final = ("set_id",)
RUN_PARAMETERS: Final = ("run_id", "run")
LINE_TYPES: Final = (".csv", ".tsv", ".jsonl", ".txt")
"""Ends of the names of files that consist of lines."""
REST_NAMESPACE: Final = "api"


class ExportLogMiddleware:
    """Stores an entry for each download of a signed-in user; sends no file without an entry."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response; for a download, first store an entry and count what is sent."""
        response = self.get_response(request)
        name = find_download_name(response)
        if not name or response.status_code != 200 or not request.user.is_authenticated:
            return response
        if request.method == "HEAD":
            return response
        try:
            return log_download(request, response, name)
        except Error as error:
            # Raised outside of the view, so `OutageMiddleware` does not see it.
            if (outage := find_outage(error)) is None:
                raise
            return render_outage(request, outage)


def find_download_name(response: HttpResponseBase) -> str:
    """Return the file name of a download ("file" if it has none); "" for other responses."""
    header = Message()
    header["Content-Disposition"] = response.headers.get("Content-Disposition", "")
    if header.get_content_disposition() != "attachment":
        return ""
    return header.get_filename() or "file"


def log_download(request: HttpRequest, response: HttpResponseBase, name: str) -> HttpResponseBase:
    """Store the entry of a download; return the response, which counts its parts when sent."""
    entry = _build_download_entry(request, name)
    counter = LineCounter() if name.lower().endswith(LINE_TYPES) else None
    if isinstance(response, StreamingHttpResponse):
        entry.save()
        chunks: Iterator[bytes] = iter(response)
        response.streaming_content = _yield_counted_parts(entry, chunks, counter)
        return response
    content: bytes = response.content  # type: ignore[attr-defined]
    if counter is not None:
        counter.add_part(content)
        entry.lines = counter.lines
    entry.n_bytes, entry.is_complete = len(content), True
    entry.save()
    return response


class LineCounter:
    """Counter of the lines of a CSV text in parts; line ends within quotes do not count."""

    def __init__(self) -> None:
        self._ends = 0
        self._is_quoted = False
        self._last = b"\n"

    def add_part(self, part: bytes) -> None:
        """Add the lines of the next part of the text."""
        if not part:
            return
        pieces = part.split(b'"')
        for place, piece in enumerate(pieces):
            if place:
                self._is_quoted = not self._is_quoted
            if not self._is_quoted:
                self._ends += piece.count(b"\n")
        self._last = part[-1:]

    @property
    def lines(self) -> int:
        """Number of lines; the last one counts without a line end."""
        return self._ends + (self._last != b"\n")


def _build_download_entry(request: HttpRequest, name: str) -> ExportRead:
    """Return the unsaved entry of a download, with the set's and run's names from the URL."""
    match = request.resolver_match
    assert match is not None  # a view made the response
    values = match.kwargs
    run_id = next((values[parameter] for parameter in RUN_PARAMETERS if parameter in values), None)
    set_id = next((values[parameter] for parameter in SET_PARAMETERS if parameter in values), None)
    sets = QuestionSet.objects.all()
    if isinstance(set_id, UUID):
        sets = sets.filter(public_id=set_id)
    elif isinstance(run_id, UUID):
        versions = Run.objects.filter(public_id=run_id).values("version__question_set")
        sets = sets.filter(pk__in=versions)
    else:
        sets = sets.none()
    found = sets.values_list("public_id", "name").first() or (None, "")
    interface = ExportRead.Interface
    return ExportRead(
        user_id=get_user_id(request),
        interface=interface.REST if REST_NAMESPACE in match.namespaces else interface.PAGE,
        set_id=found[0],
        set_name=found[1],
        run_id=run_id if isinstance(run_id, UUID) else None,
        address=match.view_name[:100],
        file=name[:255],
    )


def _yield_counted_parts(
    entry: ExportRead, chunks: Iterator[bytes], counter: LineCounter | None
) -> Iterator[bytes]:
    """Yield the parts of a file; at the end store the numbers of bytes and lines sent."""
    try:
        for part in chunks:
            yield part
            entry.n_bytes += len(part)
            if counter is not None:
                counter.add_part(part)
        entry.is_complete = True
    finally:
        # Also if the client goes away. The entry itself exists, whatever happens here.
        entry.lines = None if counter is None else counter.lines
        try:
            entry.save(update_fields=["n_bytes", "lines", "is_complete"])
        except Error:
            logger.warning("the length of download %s cannot be stored", entry.pk)
