"""Vectors of texts, each computed once."""

from __future__ import annotations

import hashlib
from typing import Any

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Length
from django.db.models.lookups import Exact

from annotations.models import UNLISTED

HASH_BYTES = 32


def text_hash(text: str) -> bytes:
    """Return the SHA-256 of a text in UTF-8: the key of its vector."""
    return hashlib.sha256(text.encode()).digest()


def has_length(field: str, n_bytes: Any) -> Q:
    """Return the condition that a binary column is `n_bytes` long."""
    return Q(Exact(Length(field), n_bytes))


class EmbedderVersion(models.Model):
    """Embedder configuration: everything besides the text that determines the vectors.

    Rows hold no one's data and belong to nobody; pages never list them.
    """

    access = UNLISTED

    model = models.CharField(max_length=255)
    revision = models.CharField(max_length=255, blank=True)
    precision = models.CharField(max_length=20)
    max_length = models.PositiveIntegerField(
        default=0, help_text="Tokens after which a text is cut; 0 where there is no limit."
    )
    prefix = models.CharField(max_length=500, blank=True, help_text="Put before every text.")
    dimension = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["model", "revision", "precision", "max_length", "prefix"],
                name="embedder_version_once",
            ),
            models.CheckConstraint(
                condition=~Q(model="") & ~Q(precision=""), name="embedder_version_is_named"
            ),
            models.CheckConstraint(condition=Q(dimension__gte=1), name="embedder_has_a_dimension"),
        ]

    def __str__(self) -> str:
        return f"{self.model} {self.revision} {self.precision}"


class Embedding(models.Model):
    """Vector of one text under one embedder; equal texts of different users share it.

    `vector` holds `dimension` numbers as float32, little-endian.
    """

    access = UNLISTED

    embedder = models.ForeignKey(
        EmbedderVersion, on_delete=models.CASCADE, related_name="embeddings", db_index=False
    )
    text_hash = models.BinaryField(max_length=HASH_BYTES)
    dimension = models.PositiveIntegerField()
    vector = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["embedder", "text_hash"], name="embedding_once"),
            models.CheckConstraint(
                condition=has_length("text_hash", HASH_BYTES), name="embedding_has_a_sha256"
            ),
            models.CheckConstraint(
                condition=has_length("vector", F("dimension") * 4) & Q(dimension__gte=1),
                name="embedding_is_of_its_dimension",
            ),
        ]

    def __str__(self) -> str:
        return f"embedding {bytes(self.text_hash).hex()[:12]}"
