"""Program that checks a JSON document and prints the line numbers of its objects.

``python -m annotations.exchange.reading.json_check SECONDS BYTES ARGUMENTS`` reads the file that is
its standard input; see `bounded_process`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from annotations.exchange.reading.bounded_process import Bounds, print_within_limits
from annotations.exchange.reading.json_document import list_object_lines
from annotations.exchange.reading.source import make_bytes_source


def check_json(name: str, has_repair: bool, most: int) -> Iterator[str]:
    """Yield the line numbers of the objects on standard input, as one JSON list.

    Raises `InputError` for what is no JSON.
    """
    source = make_bytes_source(name, sys.stdin.buffer.read())
    yield json.dumps(list_object_lines(source, most, has_repair=has_repair))


if __name__ == "__main__":
    print_within_limits(
        Bounds(int(sys.argv[1]), int(sys.argv[2])), check_json(*json.loads(sys.argv[3]))
    )
