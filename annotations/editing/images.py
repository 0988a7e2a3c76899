"""The picture of a passage of a draft."""

from __future__ import annotations

from annotations.exchange.reading.images import CheckedImage
from annotations.models import Image, Passage


def attach_image(passage: Passage, checked: CheckedImage) -> None:
    """Give a passage that picture; the one it had goes if no version shows it any more."""
    image, _ = Image.objects.get_or_create(
        question_set_id=passage.version.question_set_id,
        sha256=checked.sha256,
        defaults={
            "content": checked.content,
            "media_type": checked.media_type,
            "width": checked.width,
            "height": checked.height,
        },
    )
    _change(passage, image)


def drop_image(passage: Passage) -> None:
    """Take the picture away."""
    _change(passage, None)


def sweep_images(question_set_id: int) -> None:
    """Remove the pictures of a set that no passage of any version shows."""
    Image.objects.filter(question_set=question_set_id, passages=None).delete()


def _change(passage: Passage, image: Image | None) -> None:
    passage.image = image
    passage.save(update_fields=["image"])
    sweep_images(passage.version.question_set_id)
