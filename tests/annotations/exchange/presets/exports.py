"""Files in the shapes in which others export them, crooked as they are; all contents invented."""

import csv
import io
import json

TIDES = "Why do tides rise, as you see it?"
QUALTRICS_COLUMNS = {
    "StartDate": ("Start Date", "startDate"),
    "EndDate": ("End Date", "endDate"),
    "Status": ("Response Type", "status"),
    "IPAddress": ("IP Address", "ipAddress"),
    "Progress": ("Progress", "progress"),
    "Duration (in seconds)": ("Duration (in seconds)", "duration"),
    "Finished": ("Finished", "finished"),
    "RecordedDate": ("Recorded Date", "recordedDate"),
    "ResponseId": ("Response ID", "_recordId"),
    "RecipientLastName": ("Recipient Last Name", "recipientLastName"),
    "RecipientFirstName": ("Recipient First Name", "recipientFirstName"),
    "RecipientEmail": ("Recipient Email", "recipientEmail"),
    "ExternalReference": ("External Data Reference", "externalDataReference"),
    "LocationLatitude": ("Location Latitude", "locationLatitude"),
    "LocationLongitude": ("Location Longitude", "locationLongitude"),
    "DistributionChannel": ("Distribution Channel", "distributionChannel"),
    "UserLanguage": ("User Language", "userLanguage"),
    "Q1": ("Do you consent\nto take part?", "QID1"),
    "Q2": (TIDES.replace(", ", ",\n"), "QID2_TEXT"),
    "Q3": ("What makes the sea salty?", "QID3_TEXT"),
    "PROLIFIC_PID": ("PROLIFIC_PID", "PROLIFIC_PID"),
}
PEOPLE = ("5f8a", "60b1", "61c7", "62d9")


def _csv(rows, delimiter=",", end="\n"):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerows(rows)
    return text.getvalue()


def qualtrics(people=PEOPLE, **cells):
    """A survey's CSV: a byte order mark, three header rows, a preview by the author first."""
    header = list(QUALTRICS_COLUMNS)
    times = {"startDate", "endDate", "recordedDate"}
    ids = [
        json.dumps(
            {"ImportId": one} | ({"timeZone": "America/Denver"} if one in times else {}),
            separators=(",", ":"),
        )
        for _, one in QUALTRICS_COLUMNS.values()
    ]
    rows = [header, [label for label, _ in QUALTRICS_COLUMNS.values()], ids]
    fixed = {
        "StartDate": "2024-03-01 10:00:00",
        "EndDate": "2024-03-01 10:04:30",
        "Status": "IP Address",
        "IPAddress": "203.0.113.7",
        "Progress": "100",
        "Duration (in seconds)": "270",
        "Finished": "True",
        "RecordedDate": "2024-03-01 10:04:31",
        "DistributionChannel": "anonymous",
        "UserLanguage": "EN",
        "Q1": "Yes, I consent",
    }
    preview = {"Status": "Survey Preview", "Q2": "test test test", "ResponseId": "R_0"}
    answers = [
        {
            "ResponseId": f"R_{n}",
            "PROLIFIC_PID": person,
            "Q2": f"The moon pulls the water, says {person}",
            "Q3": f"Rivers wash salt into it,\nsays {person}",
        }
        for n, person in enumerate(people, 1)
    ]
    rows += [
        [(fixed | row | cells).get(name, "") for name in header] for row in (preview, *answers)
    ]
    return _csv(rows).encode("utf-8-sig")


def qualtrics_tsv():
    """The same as TSV, which Qualtrics writes in UTF-16."""
    rows = list(csv.reader(io.StringIO(qualtrics().decode("utf-8-sig"))))
    return _csv(rows, "\t").encode("utf-16")


def survey_of_prolific():
    """A form's answers with Prolific's ids, and the status that somebody pasted beside them."""
    header = ["Timestamp", "What is your Prolific ID?", "PROLIFIC_PID", "Status"]
    header += ["Why do tides rise?", "What makes the sea salty?"]
    status = ("APPROVED", "REJECTED", "RETURNED", "AWAITING REVIEW")
    rows = [
        ["3/1/2024 10:00:00", one, one, how, f"Because of the moon {one}", f"Salt of rivers {one}"]
        for one, how in zip(PEOPLE, status, strict=True)
    ]
    empty = [""] * len(header)
    # Somebody sent the form without a word; below it the spreadsheet saved a row of nothing.
    return _csv([header, *rows, ["3/1/2024 10:00:00", *empty[1:]], empty]).encode()


SUBMISSIONS = (
    b"Submission id,Participant id,Status,Custom study tncs accepted at,Started at,Completed at,"
    b"Reviewed at,Archived at,Time taken,Completion code,Total approvals,Age,Sex\n"
    b"671b,5f8a,APPROVED,Not Applicable,2024-10-25T12:27:09.179000Z,2024-10-25T12:46:18.540000Z,"
    b"2024-10-25T23:35:53.040000Z,2024-10-25T12:46:19.217499Z,1150,C1A2,389,25,Female\n"
)


def label_studio(**more):
    """The JSON of a project: two tasks, two annotators each, one of whom skipped one."""

    def annotation(number, who, text, **how):
        result = [
            {
                "value": {"text": [text]},
                "id": f"r{number}",
                "from_name": "answer",
                "to_name": "question",
                "type": "textarea",
                "origin": "manual",
            },
            {
                "value": {"choices": ["sure"]},
                "id": f"c{number}",
                "from_name": "confidence",
                "to_name": "question",
                "type": "choices",
            },
        ]
        return {
            "id": number,
            "completed_by": who,
            "result": [] if how.get("was_cancelled") else result,
            "was_cancelled": False,
            "ground_truth": False,
            "created_at": "2024-03-01T10:00:00.123456Z",
            "updated_at": "2024-03-01T10:00:00.123456Z",
            "lead_time": 12.5,
            "task": 1,
            **how,
        }

    tasks = [
        {
            "id": 101,
            "annotations": [
                annotation(1, 7, "The moon pulls the water"),
                annotation(2, {"id": 8, "email": "eve@example.org"}, "Because it turns around"),
            ],
            "predictions": [],
            "data": {"question": "Why do tides rise?", "source": "school"},
            "project": 3,
        },
        {
            "id": 102,
            "annotations": [
                annotation(3, 7, "Rivers wash salt into it"),
                annotation(4, {"id": 8, "email": "eve@example.org"}, "", was_cancelled=True),
            ],
            "predictions": [],
            "data": {"question": "What makes the sea salty?", "source": "school"},
            "project": 3,
        },
    ]
    return json.dumps(tasks, indent=2, **more).encode()


def label_studio_csv():
    """The CSV of the project, its columns by the alphabet, a list where two texts were given."""
    header = "annotation_id annotator answer confidence created_at id lead_time question source"
    rows = [
        ("1", "7", "The moon pulls the water", "sure", "2024-03-01T10:00:00.123456Z", "101", "12.5",
         "Why do tides rise?", "school"),
        ("2", "8", '["Because it turns", "and the moon pulls"]', "", "2024-03-01T10:05:00Z", "101",
         "3.5", "Why do tides rise?", "school"),
        ("3", "7", "Rivers wash salt into it", '{"choices": ["sure", "quick"]}',
         "2024-03-01T10:06:00Z", "102", "9", "What makes the sea salty?", "school"),
    ]  # fmt: skip
    return _csv([[*header.split(), "updated_at"], *([*row, row[4]] for row in rows)]).encode()


def potato_tsv():
    """annotated_instances.tsv: a column for each label, empty where it was not chosen."""
    header = ["user", "instance_id", "displayed_text", "sure:::yes", "sure:::no"]
    rows = [
        ["eve@example.org", "5", "Why do<br>tides rise?", "true", "", "The moon pulls the water"],
        ["kim@example.org", "5", "Why do<br>tides rise?", "", "true", "It turns around"],
        ["eve@example.org", "6", "What is salt?", "true", "", "A white stone we eat"],
    ]
    return _csv([[*header, "explanation:::text_box"], *rows], "\t").encode()


def potato_lines():
    """The same in JSON Lines, with labels by schema."""
    items = [
        ("eve@example.org", "5", {"explanation": {"text_box": "The moon pulls the water"}}),
        ("kim@example.org", "5", {"explanation": {"text_box": "It turns"}, "sure": {"no": "true"}}),
    ]
    return "".join(
        json.dumps(
            {
                "user_id": who,
                "instance_id": item,
                "displayed_text": "Why do tides rise?",
                "label_annotations": labels,
                "span_annotations": {},
                "behavioral_data": {"time_string": "Time spent: 0d 0h 0m 12s"},
            }
        )
        + "\n"
        for who, item, labels in items
    ).encode()


WIDE = (
    b"Name;Group;Why do tides rise?;What makes the sea salty?;Anything else?\n"
    b"Ann;A;The moon pulls the water;Rivers wash salt into it;\n"
    b'Bob;B;"Wind; and the moon";Fish do, I believe so;\n'
    b"Cyd;A;Because the earth turns;;nice survey\n"
    b";;;;\n"
)

LONG = (
    b"Participant ID,Item,Response,Condition\n"
    b"p1,tides,The moon pulls the water,a\n"
    b"p2,tides,Because the earth turns,b\n"
    b"p1,salt,Rivers wash it in,a\n"
)
