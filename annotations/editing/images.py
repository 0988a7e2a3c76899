"""Attaching an image to a passage of a draft, and removing it."""

from __future__ import annotations

from annotations.exchange.reading.images import CheckedImage
from annotations.models import Image, Passage


def attach_image(passage: Passage, image_data: CheckedImage) -> None:
    """Set the image of a passage; delete the old image if it is unused."""
    image, _ = Image.objects.get_or_create(
        question_set_id=passage.version.question_set_id,
        sha256=image_data.sha256,
        defaults={
            "content": image_data.content,
            "media_type": image_data.media_type,
            "width": image_data.width,
            "height": image_data.height,
        },
    )
    _set_image(passage, image)


def remove_image(passage: Passage) -> None:
    """Remove the image of a passage; delete the image if it is unused."""
    _set_image(passage, None)


def delete_unused_images(question_set_id: int) -> None:
    """Delete the images of a question set that no passage of any version uses."""
    Image.objects.filter(question_set=question_set_id, passages=None).delete()


def _set_image(passage: Passage, image: Image | None) -> None:
    """Store the image of a passage (or None), and delete unused images."""
    passage.image = image
    passage.save(update_fields=["image"])
    delete_unused_images(passage.version.question_set_id)
