"""People who answer, as many at once as are wanted, by the forms of the pages."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urljoin

import httpx
import numpy as np

from tests.benchmarks.results import FailedError
from tests.benchmarks.workers.pages import Page, read_page

DRAFT_EVERY, ANSWER_EVERY = 3.0, 20.0
ANSWER, REVISION = "answer-", "revision-"
TIMEOUT = httpx.Timeout(30.0)
Key = tuple[str, str]


@dataclass
class Load:
    """Result.

    Attributes
    ----------
    seconds : of each request that was answered, from the moment when it was due.
    errors : of requests that were not answered as they should be.
    texts : the text that was acknowledged last, by worker and question; sent : that sent last.
    """

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    texts: dict[Key, str] = field(default_factory=dict)
    sent: dict[Key, str] = field(default_factory=dict)

    def quantile(self, share: float) -> float:
        """Return a quantile of the seconds."""
        return float(np.quantile(self.seconds, share))


class Person:
    """Somebody with a browser of their own, on the page that is open."""

    def __init__(self, client: httpx.AsyncClient, link: str, name: str) -> None:
        self.client, self.link, self.name = client, link, name
        self.page = Page(None, "")
        self.revisions: dict[str, str] = {}

    async def open(self) -> None:
        """Open the link, agree, and go on to the first page with questions."""
        response = await self.client.get(f"{self.link}{self.name}")
        self._look(response)
        for _ in range(4):
            if self.is_asked:
                return
            await self.press("")
        raise FailedError(f"no questions at {response.url}: {response.status_code}")

    @property
    def is_asked(self) -> bool:
        """Whether the open page has questions."""
        return self.page.form is not None and bool(self.page.form.texts)

    async def press(self, text: str) -> httpx.Response:
        """Fill the form in and send it."""
        if self.page.form is None:
            raise FailedError("there is no form")
        form = self.page.form
        response = await self.client.post(form.action, data=form.filled(text))
        self._look(response)
        return response

    async def draft(self, question: str, text: str) -> httpx.Response:
        """Save what is typed, as the script of the page does."""
        form = self.page.form
        assert form is not None
        return await self.client.post(
            urljoin(self.link, form.attributes["data-draft"]),
            data={
                "question": question,
                "text": text,
                "revision": form.fields[f"{REVISION}{question}"],
                "tab": self.name,
            },
        )

    def _look(self, response: httpx.Response) -> None:
        response.raise_for_status()
        self.page = read_page(response.text, str(response.url))


def by_the_clock(
    link: str,
    n_people: int,
    seconds: float,
    *,
    first: int = 0,
    kills: Sequence[tuple[float, Callable[[], None]]] = (),
) -> Load:
    """Let people write for so long, each by their own clock; `kills` happen meanwhile."""
    return asyncio.run(_by_the_clock(link, n_people, seconds, first, kills))


async def _by_the_clock(
    link: str,
    n_people: int,
    seconds: float,
    first: int,
    kills: Sequence[tuple[float, Callable[[], None]]],
) -> Load:
    load = Load()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(
        timeout=TIMEOUT, follow_redirects=True, limits=limits, trust_env=False
    ) as client:
        crowd = [Person(client, link, f"person{first + n}") for n in range(n_people)]
        for person in crowd:
            await person.open()
        start = time.monotonic() + 0.5
        killing = [asyncio.create_task(_at(start + when, what)) for when, what in kills]
        # People do not type in step: each begins at another moment of the three seconds.
        await asyncio.gather(
            *(
                _write(person, load, start + DRAFT_EVERY * n / n_people, start + seconds, kills)
                for n, person in enumerate(crowd)
            )
        )
        await asyncio.gather(*killing)
    return load


async def _at(moment: float, what: Callable[[], None]) -> None:
    await asyncio.sleep(max(0.0, moment - time.monotonic()))
    await asyncio.to_thread(what)


async def _write(
    person: Person, load: Load, due: float, end: float, kills: Sequence[object]
) -> None:
    number, answer_due = 0, due + ANSWER_EVERY
    while due < end:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        number += 1
        is_answer = due >= answer_due
        try:
            if is_answer:
                answer_due += ANSWER_EVERY
                await _answer(person, load, f"answer {number} of {person.name}")
            else:
                await _draft(person, load, f"draft {number} of {person.name}")
            load.seconds.append(time.monotonic() - due)
        except (httpx.HTTPError, FailedError) as error:
            if kills:
                await _come_back(person)
            else:
                load.errors.append(f"{type(error).__name__}: {error}")
        due += DRAFT_EVERY


async def _draft(person: Person, load: Load, text: str) -> None:
    form = person.page.form
    if form is None or not form.texts:
        raise FailedError(f"{person.name} is asked nothing")
    question = form.texts[0].removeprefix(ANSWER)
    key = (person.name, question)
    load.sent[key] = text
    response = await person.draft(question, text)
    # A site that is down answers with a page, which is no JSON.
    answer = response.json() if response.status_code == 200 else {}
    if not answer.get("saved"):
        raise FailedError(f"a draft was answered with {response.status_code}: {answer}")
    load.texts[key] = text
    form.fields[f"{REVISION}{question}"] = str(answer["revision"])


async def _answer(person: Person, load: Load, text: str) -> None:
    form = person.page.form
    if form is None:
        raise FailedError(f"{person.name} has no form")
    keys = [(person.name, name.removeprefix(ANSWER)) for name in form.texts]
    load.sent.update(dict.fromkeys(keys, text))
    await person.press(text)
    load.texts.update(dict.fromkeys(keys, text))


async def _come_back(person: Person) -> None:
    """Open the link again, as somebody does whose page did not load."""
    for _ in range(30):
        try:
            await person.open()
        except (httpx.HTTPError, FailedError):
            await asyncio.sleep(0.5)
        else:
            return


@dataclass(frozen=True, slots=True)
class Rate:
    """What so many clients handed in, a second: pages, and the answers on them."""

    pages: float
    answers: float


def as_fast_as_taken(link: str, clients: int, seconds: float, prefix: str) -> Rate:
    """Return what so many clients hand in; who is done is another person."""
    return asyncio.run(_as_fast_as_taken(link, clients, seconds, prefix))


async def _as_fast_as_taken(link: str, clients: int, seconds: float, prefix: str) -> Rate:
    async with httpx.AsyncClient(timeout=TIMEOUT, follow_redirects=True, trust_env=False) as client:
        # Each is on a page of questions before the clock runs; coming and going on counts then.
        crowd = [Person(client, link, f"{prefix}-{n}") for n in range(clients)]
        for person in crowd:
            await person.open()
        end = time.monotonic() + seconds

        async def work(person: Person) -> tuple[int, int]:
            pages = answers = 0
            while time.monotonic() < end:
                form = person.page.form
                if form is not None and form.texts:
                    await person.press(f"An answer of some words, number {answers}.")
                    pages, answers = pages + 1, answers + len(form.texts)
                elif form is not None:
                    await person.press("")  # the look at all answers, handed in for good
                else:
                    person.name += "x"
                    await person.open()
            return pages, answers

        done = await asyncio.gather(*(work(person) for person in crowd))
    return Rate(sum(one for one, _ in done) / seconds, sum(one for _, one in done) / seconds)


def at_the_bare_endpoint(address: str, clients: int, seconds: float) -> Rate:
    """Return what the peer takes from so many clients, each with a session; a page is an answer."""
    return asyncio.run(_at_the_bare_endpoint(address, clients, seconds))


async def _at_the_bare_endpoint(address: str, clients: int, seconds: float) -> Rate:
    async def work() -> int:
        count = 0
        async with httpx.AsyncClient(
            timeout=TIMEOUT, follow_redirects=True, trust_env=False
        ) as client:
            response = await client.get(address)
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                page = read_page(response.text, str(response.url))
                if page.form is None:
                    raise FailedError("the bare endpoint showed no form")
                text = f"An answer of some words, number {count}."
                response = await client.post(page.form.action, data=page.form.filled(text))
                response.raise_for_status()
                count += 1
        return count

    rate = sum(await asyncio.gather(*(work() for _ in range(clients)))) / seconds
    return Rate(rate, rate)
