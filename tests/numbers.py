"""Numbers in texts, so that a test names them and not the words around them."""

import re


def numbers_in(text: str) -> list[str]:
    """Return the numbers of a text as they are written, such as 1,000 or 0.50."""
    return re.findall(r"\d+(?:[,.]\d+)*", text)
