"""Pages of the site on sets, runs, results and models.

As in `annotations.desk`: plain functions, one noun a module, everything scoped.
"""

from evaluation.payments.views import files as files  # so may decisions and statuses of a panel
from evaluation.site import uploads as uploads  # model answers may be uploaded as well
