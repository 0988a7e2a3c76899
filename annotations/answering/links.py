"""Links of workers: who a link names, and the address of somebody's own pages.

A panel adds its id of the worker to the link. Where the panel can hold a link for each worker, the
id is signed with the key of the collection; else it stands there as it is, and whoever knows the id
of somebody can open their pages. The pages themselves stand under a signed name of the submission,
which nobody can make up: whoever has the address may write there, with any device and without a
cookie, so nothing that is typed hangs on a session.
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

from annotations.answering.refused import AnsweringError
from annotations.models import Collection, Submission

PROLIFIC = "PROLIFIC_PID"
SIGNATURE = "signature"
"""The parameter that holds the signature of an id."""
LONGEST_ID = 255
WHOSE = "annotations.answering.submission"
PATH = "/answer/{}/"


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who a link names: the panel's id of the worker ("" for nobody), its study and session."""

    external_id: str
    study_id: str = ""
    session_id: str = ""


def visitor(collection: Collection, parameters: Mapping[str, str]) -> Visitor:
    """Return who the parameters of an address name.

    Raises `AnsweringError`: id_missing where the collection takes nobody without one, id_bad,
    id_not_filled_in for the placeholder of a panel, forged for a signature that is missing where
    one is wanted, or wrong anywhere.
    """
    external_id = parameters.get(collection.worker_parameter, "").strip()
    if not external_id:
        if not collection.anonymous:
            raise AnsweringError("id_missing")
        return Visitor("")
    if not can_be_id(external_id):
        raise AnsweringError("id_bad")
    if external_id.startswith(("{{", "${", "[%")):
        raise AnsweringError("id_not_filled_in")
    signed = parameters.get(SIGNATURE, "")
    if (signed or collection.signed) and not constant_time_compare(
        signed, signature(collection, external_id)
    ):
        raise AnsweringError("forged")
    return Visitor(
        external_id,
        _fact(parameters, collection.study_parameter),
        _fact(parameters, collection.session_parameter),
    )


def can_be_id(external_id: str) -> bool:
    """Return whether a text can be a panel's id of somebody: 1 to 255 characters that all show."""
    return 0 < len(external_id) <= LONGEST_ID and external_id.isprintable()


def signature(collection: Collection, external_id: str) -> str:
    """Return what stands in a link for the id of one worker, in this collection alone."""
    signer = Signer(key=collection.secret, salt=f"annotations.answering.{collection.public_id}")
    return signer.signature(external_id)


def link(collection: Collection) -> str:
    """Return the link for the panel, which adds the worker's id."""
    path = PATH.format(collection.public_id)
    return f"{collection.base_url.rstrip('/')}{path}"


def panel_link(collection: Collection) -> str:
    """Return the address as Prolific wants it, with its places for ids; "" for other panels."""
    if collection.worker_parameter != PROLIFIC:
        return ""
    names = (
        *(collection.worker_parameter, collection.study_parameter),
        collection.session_parameter,
    )
    places = "&".join(f"{name}={{{{%{name}%}}}}" for name in names if name)
    return f"{link(collection)}?{places}"


def signed_link(collection: Collection, external_id: str) -> str:
    """Return the link of one worker, whose id cannot be changed in it."""
    parameters = {
        collection.worker_parameter: external_id,
        SIGNATURE: signature(collection, external_id),
    }
    return f"{link(collection)}?{urlencode(parameters)}"


def token_of(submission: Submission) -> str:
    """Return the name under which a submission's pages stand."""
    name = base64.urlsafe_b64encode(submission.public_id.bytes).decode().rstrip("=")
    return Signer(salt=WHOSE, sep=".").sign(name)


def submission_of(token: str) -> Submission | None:
    """Return the submission of that name, with its collection; None for a forged one."""
    try:
        name = Signer(salt=WHOSE, sep=".").unsign(token)
        public_id = UUID(bytes=base64.urlsafe_b64decode(f"{name}=="))
    except (BadSignature, ValueError, binascii.Error):
        return None
    return (
        Submission.objects.select_related("version__collection", "version__question_set")
        # Long texts that hardly any page shows.
        .defer(
            "version__guidelines",
            "version__consent_text",
            "version__question_set__description",
            "version__question_set__notice",
        )
        .filter(public_id=public_id, version__collection__isnull=False)
        .first()
    )


def _fact(parameters: Mapping[str, str], name: str) -> str:
    value = parameters.get(name, "").strip() if name else ""
    return value if len(value) <= LONGEST_ID and value.isprintable() else ""
