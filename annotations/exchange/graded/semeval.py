"""Read graded answers in the XML of SemEval 2013 Task 7, with one or more questions per file.

Untrusted XML is read as a stream and within bounds: entities are refused (a few lines of them grow
to gigabytes), as are references to other files, and texts and nesting have limits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import ContentHandler

from defusedxml.common import DefusedXmlException
from defusedxml.sax import make_parser

from annotations.exchange.graded.layouts import SEMEVAL
from annotations.exchange.graded.records import MarkedAnswer, MarkedFile
from annotations.exchange.ids import clean_id
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.answers import LONGEST_ANSWER

DEEPEST = 50
MOST_BYTES = 100 * 1024**2
BLOCK = 1 << 16

QUESTION, ANSWER = "question", "studentAnswer"
# Elements whose text counts.
TEXTS = (ANSWER, "questionText", "referenceAnswer")


def read_semeval(handle: BinaryIO, problems: Problems, marked: MarkedFile) -> None:
    """Add the graded answers in an XML file of SemEval to `marked`; bad ones go to `problems`.

    Raises `InputError` for what is no such XML, holds entities, or is too large or too deep.
    """
    name = problems.file
    parser = make_parser()  # type: ignore[no-untyped-call]
    handler = _SemevalHandler(parser.getLineNumber, problems, marked)
    parser.setContentHandler(handler)
    size = 0
    try:
        while block := handle.read(BLOCK):
            size += len(block)
            if size > MOST_BYTES:
                raise InputError.from_code(name, "xml_too_large", most=MOST_BYTES >> 20)
            parser.feed(block)
        parser.close()
    except DefusedXmlException as error:
        raise InputError.from_code(
            name, "xml_declares_entities", line=parser.getLineNumber()
        ) from error
    except SAXParseException as error:
        raise InputError.from_code(
            name, "xml_malformed", line=error.getLineNumber(), error=error.getMessage()
        ) from error
    except (SAXException, UnicodeError) as error:
        raise InputError.from_code(name, "xml_unreadable", error=str(error)) from error
    if not handler.questions:
        raise InputError.from_code(name, "no_question_element")


class _SemevalHandler(ContentHandler):
    """SAX handler that adds the graded answers of each question element to a `MarkedFile`."""

    def __init__(self, line: Callable[[], int], problems: Problems, found: MarkedFile) -> None:
        super().__init__()
        self.questions = 0
        self._here, self._problems, self._found = line, problems, found
        self._depth = 0
        self._question = self._module = ""
        self._inside = ""
        self._attributes: dict[str, str] = {}
        self._text: list[str] = []
        self._length = 0
        self._line = 0

    def startElement(self, name: str, attrs: Any) -> None:  # noqa: N802
        """Store the current question's id, or begin to collect a text; `InputError` if too deep."""
        self._depth += 1
        line = self._here()
        if self._depth > DEEPEST:
            raise InputError.from_code(self._problems.file, "xml_too_deep", line=line, most=DEEPEST)
        if name == QUESTION:
            self.questions += 1
            self._question = clean_id(attrs.get("id", ""))
            self._module = clean_id(attrs.get("module", ""))
            if not self._question:
                self._problems.add_code(line, "id", "question_without_id")
        elif name in TEXTS:
            self._inside, self._line = name, line
            self._attributes, self._text, self._length = dict(attrs.items()), [], 0

    def characters(self, content: str) -> None:
        """Append characters to the current text, up to the maximum length of an answer."""
        if self._inside:
            self._length += len(content)
            # A longer text is refused at its end and need not be held in memory.
            if self._length <= LONGEST_ANSWER:
                self._text.append(content)

    def endElement(self, name: str) -> None:  # noqa: N802
        """Store the text of the element that ends: an answer, the question or a reference."""
        self._depth -= 1
        if name != self._inside:
            return
        self._inside = ""
        text = "".join(self._text).strip()
        if self._length > LONGEST_ANSWER:
            self._problems.add_code(self._line, None, "xml_text_long", most=LONGEST_ANSWER)
        elif name == ANSWER:
            self._add_answer(text)
        elif self._question and text:
            texts = self._found.asked if name == "questionText" else self._found.references
            # The best reference comes first.
            texts.setdefault(self._question, text)

    def _add_answer(self, text: str) -> None:
        """Add an answer with its label; count it as left out if its text or label is missing."""
        if not self._question:
            return  # noted with the question
        label = self._attributes.get("accuracy", "").strip()
        if not text:
            self._found.n_empty += 1
        elif not label:
            self._found.n_unmarked += 1
        else:
            worker, order = self._find_student(self._attributes.get("id", ""))
            self._found.answers.append(
                MarkedAnswer(self._line, self._question, text, (label,), worker, order)
            )

    def _find_student(self, answer_id: str) -> tuple[str, int | None]:
        """Return (worker, attempt number) from an answer's id; ("", None) if it holds neither.

        Students have names in Beetle; two numbers at the end, as in SciEntsBank, are taken to be
        those of a module's own student and of the attempt, which no documentation confirms.
        """
        for pattern in SEMEVAL.student:
            if match := pattern.search(answer_id.strip()):
                worker = match["worker"]
                name = f"{self._module}.{worker}" if worker.isdecimal() else worker
                # Cut: Python refuses to convert the thousands of digits of a crafted id.
                return clean_id(name), int(match["order"][:18])
        return "", None
