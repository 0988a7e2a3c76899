"""Prolific's own interface (its REST API), written from its documentation and never tried.

Not verified: nobody has run this against the live service. It is switched off unless whoever runs
the installation names an address (`CROWDGRADE_PROLIFIC_API`); its token is read from the
environment (`PROLIFIC_API_TOKEN`) at each request and is stored nowhere.

What is only read is asked again after 429, 5xx and timeouts. What writes is asked once.

Source: docs.prolific.com/api-reference: submissions, bonuses, participant groups, bulk screen out
of submissions (November 2026).
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import httpx
import tenacity
from django.conf import settings

from annotations.exchange.reading.source import Source, bytes_source
from annotations.outgoing.addresses import vetting
from annotations.outgoing.connections import AddressRefusedError, VettedTransport
from annotations.outgoing.waiting import retry_after
from annotations.panels.client import NotDoneError, SetUp, Study, UnsureError

ADDRESS = "https://api.prolific.com/api/v1/"
TOKEN = "PROLIFIC_API_TOKEN"  # noqa: S105 (the name of a variable)
UNVERIFIED = (
    "Prolific's interface is asked as its documentation has it; this was never tried against the "
    "live service. Check there what came of it."
)
PAGE = 100
MOST_PAGES = 2_000
MOST_BONUSES = 200
"""People in one list of bonuses, and in one request that screens out."""

MOST_APPROVALS = 300
LARGEST = 32 * 1024 * 1024
COLUMNS = (
    *("Submission id", "Participant id", "Status", "Started at", "Completed at", "Time taken"),
    *("Completion code", "Study id"),
)
_ID = re.compile(r"[A-Za-z0-9-]{1,64}")


@dataclass(frozen=True)
class Patience:
    """How long and how often it is asked; seconds. A longer Retry-After ends it."""

    timeout: float = 30.0
    attempts: int = 5
    first_wait: float = 1.0
    longest_wait: float = 60.0


class _AgainError(Exception):
    """A reading that may pass; `wait` is what was asked for."""

    def __init__(self, error: NotDoneError | UnsureError, wait: float | None) -> None:
        super().__init__(str(error))
        self.error, self.wait = error, wait


class Prolific:
    """A client of one account. Raises NotDoneError where it is switched off."""

    name = "Prolific"

    def __init__(self, address: str = "", patience: Patience | None = None) -> None:
        address = address or settings.PROLIFIC_API
        if not address:
            raise NotDoneError("switched_off", address=ADDRESS, token=TOKEN)
        self.address = address.rstrip("/")
        self.patience = patience or Patience()

    def study(self, study: str) -> Study:
        """Return a study."""
        told = self._read(f"studies/{_checked(study)}/")
        pay = told.get("reward")
        return Study(
            id=_text(told.get("id")) or study,
            name=_text(told.get("name")),
            status=_text(told.get("status")),
            pay=int(pay) if isinstance(pay, int | float) else None,
            currency=_text(told.get("presentment_currency_code") or told.get("currency_code")),
        )

    def statuses(self, study: str) -> Source:
        """Return all submissions of a study as the file that Prolific exports; page by page.

        One that moved between two pages while they were read stands there once, as it was last.
        """
        found: dict[str, dict[str, Any]] = {}
        count: int | None = None
        for page in range(1, MOST_PAGES + 1):
            asked = {"study": _checked(study), "page": str(page), "page_size": str(PAGE)}
            told = self._read("submissions/", asked)
            rows = told.get("results")
            if not isinstance(rows, list):
                raise UnsureError("no_list")
            found.update((_text(row.get("id")), row) for row in rows if isinstance(row, dict))
            count = _count(told, count)
            if not rows or _is_last(told, len(found), count):
                break
        if count is not None and len(found) < count:
            raise UnsureError("list_changed", n=count, n_given=len(found))
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(_row(row, study) for row in found.values())
        return bytes_source(f"prolific_api_{study}.csv", text.getvalue().encode())

    def approve(self, submissions: Sequence[str]) -> None:
        """Approve submissions; who was approved before stays so."""
        for begin in range(0, len(submissions), MOST_APPROVALS):
            ids = [_checked(one) for one in submissions[begin : begin + MOST_APPROVALS]]
            self._write("submissions/bulk-approve/", {"submission_ids": ids})

    def reject(self, submission: str, category: str, message: str) -> None:
        """Reject one; the same again is ignored there."""
        body = {"action": "REJECT", "rejection_category": category, "message": message}
        self._write(f"submissions/{_checked(submission)}/transition/", body)

    def set_up_bonuses(self, study: str, lines: str) -> SetUp:
        """Note bonuses without paying them."""
        body = {"study_id": _checked(study), "csv_bonuses": lines}
        told = self._write("submissions/bonus-payments/", body)
        key = _text(told.get("id")) if isinstance(told, dict) else ""
        if not _ID.fullmatch(key):
            raise UnsureError("no_bonus_id")
        amount = told.get("amount")
        return SetUp(key, round(amount) if isinstance(amount, int | float) else None)

    def pay_bonuses(self, set_up: str) -> None:
        """Have them paid, in the next minutes. **Twice pays twice**: never asked again here."""
        self._write(f"bulk-bonus-payments/{_checked(set_up)}/pay/", {})

    def screen_out(
        self, study: str, submissions: Sequence[str], each: Decimal, *, more_places: bool
    ) -> None:
        """Screen submissions of a study out, and pay each so much: in one request, asked once.

        Raises UnsureError also where Prolific says that it pays another amount.
        """
        body = {
            "submission_ids": [_checked(one) for one in submissions],
            "bonus_per_submission": float(each),
            "increase_places": more_places,
        }
        told = self._write(f"studies/{_checked(study)}/screen-out-submissions/", body)
        pays = told.get("payment_per_participant") if isinstance(told, dict) else None
        amount = pays.get("amount") if isinstance(pays, dict) else None
        if isinstance(amount, int | float) and round(100 * amount) != round(100 * each):
            raise UnsureError("other_amount_each", amount=amount, each=each)

    def make_group(self, workspace: str, name: str, participants: Sequence[str]) -> str:
        """Make a participant group in a workspace; return its id."""
        told = self._write(
            "participant-groups/",
            {
                "workspace_id": _checked(workspace),
                "name": name,
                "participant_ids": list(participants),
            },
        )
        key = _text(told.get("id")) if isinstance(told, dict) else ""
        if not key:
            raise UnsureError("no_group_id")
        return key

    def _read(self, path: str, asked: dict[str, str] | None = None) -> dict[str, Any]:
        patience = self.patience
        again = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_AgainError),
            stop=tenacity.stop_after_attempt(patience.attempts),
            wait=self._wait,
            reraise=True,
        )
        try:
            told = again(self._ask, "GET", path, params=asked)
        except _AgainError as last:
            raise last.error from None
        if not isinstance(told, dict):
            raise UnsureError("other_answer")
        return told

    def _write(self, path: str, body: dict[str, Any]) -> Any:
        try:
            return self._ask("POST", path, json=body)
        except _AgainError as only:
            raise only.error from None

    def _wait(self, state: tenacity.RetryCallState) -> float:
        reason = state.outcome.exception() if state.outcome else None
        asked = reason.wait if isinstance(reason, _AgainError) else None
        doubling = self.patience.first_wait * 2 ** (state.attempt_number - 1)
        return min(doubling if asked is None else asked, self.patience.longest_wait)

    def _ask(self, method: str, path: str, **what: Any) -> Any:
        """Ask once. Raises NotDoneError and UnsureError, wrapped where reading may try again."""
        headers = {"Authorization": f"Token {_token()}"}
        try:
            response, content = asyncio.run(self._send(method, path, headers=headers, **what))
        except AddressRefusedError as error:
            raise NotDoneError("address_refused", reason=str(error)) from None
        except (httpx.ConnectError, httpx.ConnectTimeout):
            failed = NotDoneError("not_reached", address=self.address)
            raise _AgainError(failed, None) from None
        except (httpx.TimeoutException, TimeoutError):
            silent = UnsureError("no_answer", seconds=self.patience.timeout)
            raise _AgainError(silent, None) from None
        except httpx.HTTPError as error:
            cut = UnsureError("broken_off", error=type(error).__name__)
            raise _AgainError(cut, None) from None
        return self._received(response, content)

    async def _send(self, method: str, path: str, **what: Any) -> tuple[httpx.Response, bytes]:
        content = bytearray()
        limits = httpx.Limits(max_connections=1)
        transport = VettedTransport(vetting(settings.MODEL_NETWORKS), limits)
        async with (
            asyncio.timeout(self.patience.timeout),
            httpx.AsyncClient(
                transport=transport, timeout=self.patience.timeout, follow_redirects=False
            ) as client,
            client.stream(method, f"{self.address}/{path}", **what) as response,
        ):
            async for part in response.aiter_bytes():
                content += part
                if len(content) > LARGEST:
                    raise UnsureError("answer_too_long", most=LARGEST)
        return response, bytes(content)

    def _received(self, response: httpx.Response, content: bytes) -> Any:
        status = response.status_code
        if status == 429:
            wait = retry_after(response.headers.get("Retry-After"))
            busy = NotDoneError("asked_too_often", wait=wait)
            if wait is not None and wait > self.patience.longest_wait:
                raise busy
            raise _AgainError(busy, wait)
        if status >= 500:
            wait = retry_after(response.headers.get("Retry-After"))
            raise _AgainError(UnsureError("failed", status=status), wait)
        if status in (408, 425) or status < 200 or 300 <= status < 400:
            raise UnsureError("other_status", status=status)
        if status >= 400:
            raise NotDoneError("refused", status=status, reason=_said(content))
        try:
            return json.loads(content) if content.strip() else {}
        except (ValueError, RecursionError):
            return {}


def _token() -> str:
    token = os.environ.get(TOKEN, "").strip()
    if not token:
        raise NotDoneError("no_token", token=TOKEN)
    # An HTTP library would show the whole header in its complaint.
    if not (token.isascii() and token.isprintable()):
        raise NotDoneError("bad_token", token=TOKEN)
    return token


def _checked(key: str) -> str:
    """Return an id of the panel; anything else would ask for another path."""
    if not _ID.fullmatch(key):
        raise NotDoneError("bad_id", key=key[:40])
    return key


def _count(told: dict[str, Any], before: int | None) -> int | None:
    meta = told.get("meta")
    count = meta.get("count") if isinstance(meta, dict) else None
    return count if isinstance(count, int) else before


def _is_last(told: dict[str, Any], n_found: int, count: int | None) -> bool:
    """Whether no page comes after this one, as far as the answer says so."""
    links = told.get("_links")
    following = links.get("next") if isinstance(links, dict) else None
    if isinstance(following, dict) and "href" in following:
        return not following["href"]
    return count is not None and n_found >= count


def _row(told: dict[str, Any], study: str) -> tuple[str, ...]:
    """Return a submission as a row of the export."""
    return (
        _text(told.get("id")),
        _text(told.get("participant_id") or told.get("participant")),
        _text(told.get("status")),
        _text(told.get("started_at")),
        _text(told.get("completed_at")),
        _text(told.get("time_taken")),
        _text(told.get("entered_code") or told.get("study_code")),
        _text(told.get("study_id")) or study,
    )


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _said(content: bytes) -> str:
    """Return what an answer says of why, short."""
    token = os.environ.get(TOKEN, "").strip()
    text = " ".join(content.decode(errors="replace").split())
    return (text.replace(token, "[token]") if token else text)[:300] or "it does not say why"
