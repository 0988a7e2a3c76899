"""Client of Prolific's REST API, written from its documentation.

Not verified: this has never run against the live service. It is switched off unless the operator
sets its address (`CROWDGRADE_PROLIFIC_API`). The token is read from the environment
(`PROLIFIC_API_TOKEN`) at each request, and never stored.

Requests that only read are repeated after 429, 5xx and timeouts. Requests that write are sent once.

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

from annotations.exchange.reading.source import Source, make_bytes_source
from annotations.outgoing.addresses import build_network_check
from annotations.outgoing.connections import AddressRefusedError, VettedTransport
from annotations.outgoing.waiting import parse_retry_after
from annotations.panels.client import BonusSetup, NotDoneError, Study, UnsureError

ADDRESS = "https://api.prolific.com/api/v1/"
TOKEN = "PROLIFIC_API_TOKEN"  # noqa: S105 (the name of a variable)
UNVERIFIED = (
    "Prolific's interface is asked as its documentation has it; this was never tried against the "
    "live service. Check the result there."
)
PAGE = 100
"""Submissions on one page."""
# 200,000 submissions: a server that names a next page for ever must not be followed for ever.
MOST_PAGES = 2_000
MOST_BONUSES = 200
"""Most workers in one list of bonuses, and in one request that screens out."""

MOST_APPROVALS = 300
"""Most submissions in one request that approves."""
LARGEST = 32 * 1024 * 1024
"""Most bytes of a response's body."""
COLUMNS = (
    *("Submission id", "Participant id", "Status", "Started at", "Completed at", "Time taken"),
    *("Completion code", "Study id"),
)
"""Header of Prolific's export."""
_ID = re.compile(r"[A-Za-z0-9-]{1,64}")


@dataclass(frozen=True)
class RetryLimits:
    """Limits for repeating failed read requests: their number, and times in seconds."""

    timeout: float = 30.0
    attempts: int = 5
    first_wait: float = 1.0
    longest_wait: float = 60.0


class _RetryableError(Exception):
    """Error that may vanish on repetition; `wait` is the delay the server requested."""

    def __init__(self, error: NotDoneError | UnsureError, wait: float | None) -> None:
        super().__init__(str(error))
        self.error, self.wait = error, wait


class Prolific:
    """Client of Prolific's REST API for one account; `NotDoneError` if it is switched off."""

    name = "Prolific"

    def __init__(self, address: str = "", patience: RetryLimits | None = None) -> None:
        address = address or settings.PROLIFIC_API
        if not address:
            raise NotDoneError("switched_off", address=ADDRESS, token=TOKEN)
        self.address = address.rstrip("/")
        self.patience = patience or RetryLimits()

    def load_study(self, study: str) -> Study:
        """Return the study with this id on Prolific."""
        study_data = self._get_json(f"studies/{_validate_id(study)}/")
        pay = study_data.get("reward")
        return Study(
            id=_convert_to_text(study_data.get("id")) or study,
            name=_convert_to_text(study_data.get("name")),
            status=_convert_to_text(study_data.get("status")),
            pay=int(pay) if isinstance(pay, int | float) else None,
            currency=_convert_to_text(
                study_data.get("presentment_currency_code") or study_data.get("currency_code")
            ),
        )

    def load_statuses(self, study: str) -> Source:
        """Return all submissions of a study in the format of Prolific's export.

        A submission that moved between pages meanwhile is listed once, in its latest state.
        Raises UnsureError if a page has no list, or if submissions are missing in the end.
        """
        submissions: dict[str, dict[str, Any]] = {}
        count: int | None = None
        for page in range(1, MOST_PAGES + 1):
            params = {"study": _validate_id(study), "page": str(page), "page_size": str(PAGE)}
            response_page = self._get_json("submissions/", params)
            rows = response_page.get("results")
            if not isinstance(rows, list):
                raise UnsureError("no_list")
            submissions.update(
                (_convert_to_text(row.get("id")), row) for row in rows if isinstance(row, dict)
            )
            count = _read_submission_count(response_page, count)
            # An empty page ends the loop, too; a count that was not reached is an error below.
            if not rows or _is_last_page(response_page, len(submissions), count):
                break
        if count is not None and len(submissions) < count:
            raise UnsureError("list_changed", n=count, n_given=len(submissions))
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(_build_export_row(row, study) for row in submissions.values())
        return make_bytes_source(f"prolific_api_{study}.csv", text.getvalue().encode())

    def approve_submissions(self, submissions: Sequence[str]) -> None:
        """Approve submissions, given by Prolific's ids; a repetition has no effect."""
        for begin in range(0, len(submissions), MOST_APPROVALS):
            ids = [_validate_id(key) for key in submissions[begin : begin + MOST_APPROVALS]]
            self._post_json("submissions/bulk-approve/", {"submission_ids": ids})

    def reject_submission(self, submission: str, category: str, message: str) -> None:
        """Reject a submission, given by Prolific's id; a repetition has no effect."""
        body = {"action": "REJECT", "rejection_category": category, "message": message}
        self._post_json(f"submissions/{_validate_id(submission)}/transition/", body)

    def register_bonuses(self, study: str, lines: str) -> BonusSetup:
        """Register bonuses (lines "id,amount") for a study without paying them; return their id."""
        body = {"study_id": _validate_id(study), "csv_bonuses": lines}
        answer = self._post_json("submissions/bonus-payments/", body)
        key = _convert_to_text(answer.get("id")) if isinstance(answer, dict) else ""
        if not _ID.fullmatch(key):
            raise UnsureError("no_bonus_id")
        amount = answer.get("amount")
        return BonusSetup(key, round(amount) if isinstance(amount, int | float) else None)

    def pay_bonuses(self, set_up: str) -> None:
        """Have Prolific pay registered bonuses; **a second call pays twice**, so no retries."""
        self._post_json(f"bulk-bonus-payments/{_validate_id(set_up)}/pay/", {})

    def screen_out_submissions(
        self, study: str, submissions: Sequence[str], each: Decimal, *, more_places: bool
    ) -> None:
        """Screen out submissions and pay each the same amount, in one request without retries.

        Raises UnsureError also if Prolific reports another amount.
        """
        body = {
            "submission_ids": [_validate_id(key) for key in submissions],
            # JSON has no decimals. What the panel understood is compared below.
            "bonus_per_submission": float(each),
            "increase_places": more_places,
        }
        answer = self._post_json(f"studies/{_validate_id(study)}/screen-out-submissions/", body)
        pays = answer.get("payment_per_participant") if isinstance(answer, dict) else None
        amount = pays.get("amount") if isinstance(pays, dict) else None
        # Compared in hundredths, because the API reports floats.
        if isinstance(amount, int | float) and round(100 * amount) != round(100 * each):
            raise UnsureError("other_amount_each", amount=amount, each=each)

    def create_group(self, workspace: str, name: str, participants: Sequence[str]) -> str:
        """Create a group of participants in a workspace; return its id."""
        answer = self._post_json(
            "participant-groups/",
            {
                "workspace_id": _validate_id(workspace),
                "name": name,
                "participant_ids": list(participants),
            },
        )
        key = _convert_to_text(answer.get("id")) if isinstance(answer, dict) else ""
        if not key:
            raise UnsureError("no_group_id")
        return key

    def _get_json(self, path: str, params: dict[str, str] | None = None) -> dict[str, Any]:
        """Return the JSON object at an API path; repeat a failed request a few times."""
        patience = self.patience
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_RetryableError),
            stop=tenacity.stop_after_attempt(patience.attempts),
            wait=self._compute_wait,
            reraise=True,
        )
        try:
            answer = retrying(self._request_json, "GET", path, params=params)
        except _RetryableError as last:
            raise last.error from None
        # A proxy's error page with status 200, for example.
        if not isinstance(answer, dict):
            raise UnsureError("other_answer")
        return answer

    def _post_json(self, path: str, body: dict[str, Any]) -> Any:
        """Send a request that changes data, once, and return its JSON response."""
        try:
            return self._request_json("POST", path, json=body)
        except _RetryableError as only:
            raise only.error from None

    def _compute_wait(self, state: tenacity.RetryCallState) -> float:
        """Return the seconds before the next attempt: as requested, else doubled each time."""
        reason = state.outcome.exception() if state.outcome else None
        requested = reason.wait if isinstance(reason, _RetryableError) else None
        doubling = self.patience.first_wait * 2 ** (state.attempt_number - 1)
        return min(doubling if requested is None else requested, self.patience.longest_wait)

    def _request_json(self, method: str, path: str, **options: Any) -> Any:
        """Send one request and return its JSON value; temporary errors become `_RetryableError`."""
        headers = {"Authorization": f"Token {_read_token()}"}
        try:
            # The vetted transport, which checks the resolved address, exists for asyncio only.
            response, content = asyncio.run(
                self._fetch_response(method, path, headers=headers, **options)
            )
        except AddressRefusedError as error:
            raise NotDoneError("address_refused", reason=str(error)) from None
        except (httpx.ConnectError, httpx.ConnectTimeout):
            failed = NotDoneError("not_reached", address=self.address)
            raise _RetryableError(failed, None) from None
        except (httpx.TimeoutException, TimeoutError):
            silent = UnsureError("no_answer", seconds=self.patience.timeout)
            raise _RetryableError(silent, None) from None
        except httpx.HTTPError as error:
            cut = UnsureError("broken_off", error=type(error).__name__)
            raise _RetryableError(cut, None) from None
        return self._parse_response(response, content)

    async def _fetch_response(
        self, method: str, path: str, **options: Any
    ) -> tuple[httpx.Response, bytes]:
        """Send a request and return the response with its body, up to a size limit."""
        content = bytearray()
        limits = httpx.Limits(max_connections=1)
        transport = VettedTransport(build_network_check(settings.MODEL_NETWORKS), limits)
        async with (
            asyncio.timeout(self.patience.timeout),
            httpx.AsyncClient(
                transport=transport, timeout=self.patience.timeout, follow_redirects=False
            ) as client,
            client.stream(method, f"{self.address}/{path}", **options) as response,
        ):
            async for part in response.aiter_bytes():
                content += part
                if len(content) > LARGEST:
                    raise UnsureError("answer_too_long", most=LARGEST)
        return response, bytes(content)

    def _parse_response(self, response: httpx.Response, content: bytes) -> Any:
        """Return the JSON value of a response, {} if it is empty; raise for error statuses."""
        status = response.status_code
        if status == 429:
            wait = parse_retry_after(response.headers.get("Retry-After"))
            busy = NotDoneError("asked_too_often", wait=wait)
            if wait is not None and wait > self.patience.longest_wait:
                raise busy
            raise _RetryableError(busy, wait)
        # The request may have been executed before the server failed, so the result is unknown.
        if status >= 500:
            wait = parse_retry_after(response.headers.get("Retry-After"))
            raise _RetryableError(UnsureError("failed", status=status), wait)
        # Redirects are not followed, so that the token never goes to another address.
        if status in (408, 425) or status < 200 or 300 <= status < 400:
            raise UnsureError("other_status", status=status)
        if status >= 400:
            raise NotDoneError("refused", status=status, reason=_read_reason(content))
        try:
            return json.loads(content) if content.strip() else {}
        except (ValueError, RecursionError):
            return {}


def _read_token() -> str:
    """Return the API token from the environment; raise NotDoneError without one."""
    token = os.environ.get(TOKEN, "").strip()
    if not token:
        raise NotDoneError("no_token", token=TOKEN)
    # An HTTP library would print the whole header, with the token, in its error.
    if not (token.isascii() and token.isprintable()):
        raise NotDoneError("bad_token", token=TOKEN)
    return token


def _validate_id(key: str) -> str:
    """Return `key` if it is a valid Prolific id; raise NotDoneError otherwise.

    Other texts could change the URL.
    """
    if not _ID.fullmatch(key):
        raise NotDoneError("bad_id", key=key[:40])
    return key


def _read_submission_count(response_page: dict[str, Any], before: int | None) -> int | None:
    """Return the number of submissions that a response page reports, else `before`."""
    meta = response_page.get("meta")
    count = meta.get("count") if isinstance(meta, dict) else None
    return count if isinstance(count, int) else before


def _is_last_page(response_page: dict[str, Any], n_found: int, count: int | None) -> bool:
    """Return whether a response page of submissions is the last one."""
    # The link decides where there is one: the panel may give fewer rows a page than requested, and
    # its count may change while the pages are read.
    links = response_page.get("_links")
    following = links.get("next") if isinstance(links, dict) else None
    if isinstance(following, dict) and "href" in following:
        return not following["href"]
    return count is not None and n_found >= count


def _build_export_row(submission: dict[str, Any], study: str) -> tuple[str, ...]:
    """Return a submission of the API as a row of Prolific's export."""
    return (
        _convert_to_text(submission.get("id")),
        _convert_to_text(submission.get("participant_id") or submission.get("participant")),
        _convert_to_text(submission.get("status")),
        _convert_to_text(submission.get("started_at")),
        _convert_to_text(submission.get("completed_at")),
        _convert_to_text(submission.get("time_taken")),
        _convert_to_text(submission.get("entered_code") or submission.get("study_code")),
        _convert_to_text(submission.get("study_id")) or study,
    )


def _convert_to_text(value: Any) -> str:
    """Return a value as stripped text; "" for None."""
    return "" if value is None else str(value).strip()


def _read_reason(content: bytes) -> str:
    """Return the reason in an error response, shortened and without the API token."""
    token = os.environ.get(TOKEN, "").strip()
    text = " ".join(content.decode(errors="replace").split())
    # A proxy or server may echo the request's headers in its error page.
    return (text.replace(token, "[token]") if token else text)[:300] or "without a reason"
