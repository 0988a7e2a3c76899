"""Pages of the site on sets, runs, results and models.

Views are plain functions, one module per noun, as in `annotations.desk`. Every query is limited to
the rows that the user may see.
"""

from evaluation.payments.views import files as files  # so may decisions and statuses of a panel
from evaluation.site import uploads as uploads  # model answers may be uploaded as well
