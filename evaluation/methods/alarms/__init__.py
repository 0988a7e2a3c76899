"""When a grade without an answer key cannot be trusted: statistics of the answers' cosines.

AQER follows whoever agrees most. A group that copies, colludes or shares an error can turn the
ranking upside down, and nothing in the scores shows it. What can be seen is told here: `camps`
(two halves that agree with themselves more than with each other) and `kinship` (workers whose
answers are nearer to each other than their quality explains). Both rest on `Pairs`.
"""

from evaluation.methods.alarms.camps import Camps, camps
from evaluation.methods.alarms.copies import Group, Kinship, kinship
from evaluation.methods.alarms.pairs import Pairs

__all__ = ["Camps", "Group", "Kinship", "Pairs", "camps", "kinship"]
