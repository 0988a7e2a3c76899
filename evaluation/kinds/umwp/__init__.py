"""UMWP: whether a model notices that a problem has no answer."""

from evaluation.flow.umwp.parameters import UmwpParameters
from evaluation.kinds.kind import Kind
from evaluation.kinds.umwp.evaluate import EVALUATE
from evaluation.kinds.umwp.study import STUDY

UMWP = Kind(
    name="umwp",
    title="UMWP",
    words="Tells whether a model notices that a math word problem has no answer.",
    options=UmwpParameters,
    evaluate=EVALUATE,
    study=STUDY,
)
