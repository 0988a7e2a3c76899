"""Links to a collection, and signed URLs of a submission's pages.

A panel adds its worker id to the link of a collection. If the panel stores a link for each worker,
the id is signed with the key of the collection. Without a signature, anyone who knows a worker's
id can open that worker's pages.

The pages of a submission have an address with a signed token, which cannot be guessed. A person
who has the address can write there, on any device and without a cookie. No session can expire while
a worker types.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.core.signing import BadSignature, Signer
from django.utils.crypto import constant_time_compare

from annotations.answering.errors import AnsweringError
from annotations.models import Collection, Submission

PROLIFIC = "PROLIFIC_PID"
SIGNATURE = "signature"
"""The query parameter that holds the signature of a worker id."""
MAX_ID_LENGTH = 255
SUBMISSION_SALT = "annotations.answering.submission"
PATH = "/answer/{}/"


@dataclass(frozen=True, slots=True)
class Visitor:
    """Ids that a panel adds to a link: worker ("" if anonymous), study and session."""

    external_id: str
    study_id: str = ""
    session_id: str = ""


def read_visitor(collection: Collection, parameters: Mapping[str, str]) -> Visitor:
    """Return the panel's ids of worker, study and session in a link's query parameters.

    Raises `AnsweringError`: id_missing unless the collection admits anonymous workers; id_bad;
    id_not_filled_in for a panel's placeholder; forged for a wrong signature, or a missing one if
    the collection requires it.
    """
    external_id = parameters.get(collection.worker_parameter, "").strip()
    if not external_id:
        if not collection.anonymous:
            raise AnsweringError("id_missing")
        return Visitor("")
    if not is_valid_worker_id(external_id):
        raise AnsweringError("id_bad")
    # A panel that did not replace the placeholder in its link.
    if external_id.startswith(("{{", "${", "[%")):
        raise AnsweringError("id_not_filled_in")
    signed = parameters.get(SIGNATURE, "")
    # Constant time: the duration of a comparison must not reveal parts of the signature.
    if (signed or collection.signed) and not constant_time_compare(
        signed, sign_worker_id(collection, external_id)
    ):
        raise AnsweringError("forged")
    return Visitor(
        external_id,
        _read_panel_value(parameters, collection.study_parameter),
        _read_panel_value(parameters, collection.session_parameter),
    )


def is_valid_worker_id(external_id: str) -> bool:
    """Return whether a text is a possible worker id: 1 to 255 printable characters."""
    return 0 < len(external_id) <= MAX_ID_LENGTH and external_id.isprintable()


def sign_worker_id(collection: Collection, external_id: str) -> str:
    """Return the signature of a worker id; it is valid for one collection."""
    signer = Signer(key=collection.secret, salt=f"annotations.answering.{collection.public_id}")
    return signer.signature(external_id)


def build_collection_link(collection: Collection) -> str:
    """Return the link of a collection, to which the panel adds the worker id."""
    path = PATH.format(collection.public_id)
    return f"{collection.base_url.rstrip('/')}{path}"


def build_prolific_link(collection: Collection) -> str:
    """Return the collection's link with Prolific's placeholders; "" for other panels."""
    if collection.worker_parameter != PROLIFIC:
        return ""
    names = (
        *(collection.worker_parameter, collection.study_parameter),
        collection.session_parameter,
    )
    places = "&".join(f"{name}={{{{%{name}%}}}}" for name in names if name)
    return f"{build_collection_link(collection)}?{places}"


def build_signed_link(collection: Collection, external_id: str) -> str:
    """Return one worker's link with a signature, so that the id cannot be changed."""
    parameters = {
        collection.worker_parameter: external_id,
        SIGNATURE: sign_worker_id(collection, external_id),
    }
    return f"{build_collection_link(collection)}?{urlencode(parameters)}"


def build_submission_token(submission: Submission) -> str:
    """Return the signed token that identifies a submission in the URLs of its pages."""
    # 22 characters, where the UUID itself has 36: workers may have to copy the address.
    name = base64.urlsafe_b64encode(submission.public_id.bytes).decode().rstrip("=")
    return Signer(salt=SUBMISSION_SALT, sep=".").sign(name)


def find_submission_by_token(token: str) -> Submission | None:
    """Return the submission of a signed token; None if the signature is wrong or it is unknown."""
    try:
        name = Signer(salt=SUBMISSION_SALT, sep=".").unsign(token)
        # The padding was removed when the token was made.
        public_id = UUID(bytes=base64.urlsafe_b64decode(f"{name}=="))
    except (BadSignature, ValueError, binascii.Error):
        return None
    return (
        Submission.objects.select_related("version__collection", "version__question_set")
        # Every request of a worker runs this query, and hardly any page shows these long texts.
        .defer(
            "version__guidelines",
            "version__consent_text",
            "version__question_set__description",
            "version__question_set__notice",
        )
        .filter(public_id=public_id, version__collection__isnull=False)
        .first()
    )


def _read_panel_value(parameters: Mapping[str, str], name: str) -> str:
    """Return the value of a query parameter of the panel; "" if missing, too long or unprintable.

    An empty `name` means that the collection reads no such parameter.
    """
    value = parameters.get(name, "").strip() if name else ""
    return value if len(value) <= MAX_ID_LENGTH and value.isprintable() else ""
