"""Checks a JSON document in a process of its own, and prints the lines where its objects begin.

``python -m annotations.exchange.reading.json_check SECONDS BYTES ARGUMENTS`` reads the file that is
its standard input; see `bounded_process`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from annotations.exchange.reading.bounded_process import Bounds, serve
from annotations.exchange.reading.json_document import json_outline
from annotations.exchange.reading.source import bytes_source


def checked(name: str, has_repair: bool, most: int) -> Iterator[str]:
    """Yield the lines of the objects of standard input; raises `InputError` for what is no JSON."""
    source = bytes_source(name, sys.stdin.buffer.read())
    yield json.dumps(json_outline(source, most, has_repair=has_repair))


if __name__ == "__main__":
    serve(Bounds(int(sys.argv[1]), int(sys.argv[2])), checked(*json.loads(sys.argv[3])))
