"""The admin's pages about what the machine computed: overview, a set's page, runs, models.

As in `annotations.admin`: plain functions, one noun a module, everything scoped.
"""

from evaluation.admin import uploads as uploads  # model answers may be uploaded as well
