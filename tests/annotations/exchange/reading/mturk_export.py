"""A batch results file in the shape in which Mechanical Turk offers it for download.

Every cell is quoted, the header ends in Approve and Reject, and the rows end before them.
"""

import csv
import io

BEFORE = (
    *("HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime"),
    *("MaxAssignments", "RequesterAnnotation", "AssignmentDurationInSeconds"),
    *("AutoApprovalDelayInSeconds", "Expiration", "NumberOfSimilarHITs", "LifetimeInSeconds"),
    *("AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime", "SubmitTime"),
    *("AutoApprovalTime", "ApprovalTime", "RejectionTime", "RequesterFeedback"),
    *("WorkTimeInSeconds", "LifetimeApprovalRate", "Last30DaysApprovalRate"),
    "Last7DaysApprovalRate",
)
FIXED = {
    "HITTypeId": "3QR",
    "Title": "Translate a sentence",
    "Description": "Translate it into English",
    "Keywords": "translation, english",
    "Reward": "$0.05",
    "CreationTime": "Wed Nov 15 08:00:00 PST 2023",
    "MaxAssignments": "3",
    "RequesterAnnotation": "BatchId:5141;OriginalHitTemplateId:928;",
    "AssignmentDurationInSeconds": "1800",
    "AutoApprovalDelayInSeconds": "259200",
    "Expiration": "Wed Nov 22 08:00:00 PST 2023",
    "AssignmentStatus": "Approved",
    "AcceptTime": "Wed Nov 15 09:11:32 PST 2023",
    "SubmitTime": "Wed Nov 15 09:12:33 PST 2023",
    "AutoApprovalTime": "Sat Nov 18 09:12:33 PST 2023",
    "ApprovalTime": "Thu Nov 16 09:12:33 PST 2023",
    "WorkTimeInSeconds": "61",
    "LifetimeApprovalRate": "100% (3/3)",
    "Last30DaysApprovalRate": "100% (3/3)",
    "Last7DaysApprovalRate": "100% (3/3)",
}


def batch_text(assignments):
    """The file; each assignment is (HIT, worker, its Input and Answer cells by their names)."""
    names = dict.fromkeys(name for *_, cells in assignments for name in cells)
    fields = [name for name in names if name not in BEFORE]
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow([*BEFORE, *fields, "Approve", "Reject"])
    for number, (hit, worker, cells) in enumerate(assignments):
        row = FIXED | {"HITId": hit, "WorkerId": worker, "AssignmentId": f"3A{number}"} | cells
        writer.writerow([row.get(name, "") for name in [*BEFORE, *fields]])
    return text.getvalue()
