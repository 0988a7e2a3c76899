"""Cross-encoders of the library's own make: tiny, at random, on disk, and asked by it alone."""

import re

import numpy as np

from tests.evaluation.core.backends.conftest import save_bert

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def save_cross_encoder(folder, texts, labels):
    """Save a sentence-transformers CrossEncoder that knows the words of some texts."""
    from sentence_transformers import CrossEncoder

    words = sorted({word for text in texts for word in re.findall(r"\w+|[^\w\s]", text.lower())})
    bert = folder.with_name(f"{folder.name}-bert")
    save_bert(
        bert,
        [*SPECIAL, *words],
        "BertForSequenceClassification",
        id2label=dict(enumerate(labels)),
        initializer_range=0.3,  # so that its opinions differ
    )
    CrossEncoder(str(bert), device="cpu").save_pretrained(str(folder))
    return folder


def logits(folder, pairs):
    """Return (n, labels) what the model says of each pair, one at a time, by transformers alone."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        found = [model(**tokenizer(*pair, return_tensors="pt")).logits[0] for pair in pairs]
    return np.array([row.numpy() for row in found], dtype=np.float64)
