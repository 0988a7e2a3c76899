"""The file in which a panel says what came of payments, against the table of its columns."""

from uuid import UUID

from annotations.exchange.problems import Problems
from annotations.ledger.settlement import IGNORED_STATES, read_panel_reports
from tests.readers import TEXT, Holds, Reader, outcomes

PAYMENT = "00000000-0000-0000-0000-0000000000"
KNOWN = {UUID(f"{PAYMENT}0{n}") for n in range(1, 5)}


READERS = {
    "settled payments": Reader(
        lambda path: read_panel_reports(path, Problems(path.name), KNOWN),
        "",
        {
            "payment": Holds(
                PAYMENT + "0{n}",
                "payment_id_unreadable",
                others={
                    "payment_id_unreadable": ["p{n}"],
                    "payment_unknown": [PAYMENT + "9{n}"],
                },
            ),
            "state": Holds(
                "Paid",
                2,
                others={
                    "payment_state_unknown": ["fine"],
                    4: ["FAILED", "settled"],
                    2: sorted(IGNORED_STATES),
                },
            ),
            "reference": TEXT,
        },
        ":no_payment_in_file",
        required=("payment", "state"),
        record=(UUID(PAYMENT + "01"), ("paid", "a 1")),
        bare=(UUID(PAYMENT + "01"), ("paid", "")),
        again=[({"payment": PAYMENT + "01"}, "payment_twice")],
        values={
            "payment_id_unreadable": {"cell": ""},
            "payment_unknown": {"payment": PAYMENT + "92"},
            "payment_state_unknown": {"state": "fine"},
        },
        module="annotations.ledger.settlement",
    ),
}


def test_settled_payments_are_read_and_each_bad_cell_is_noted(tmp_path):
    found, expected = outcomes(READERS["settled payments"], tmp_path)
    assert found == expected
