"""Settings of a collection: which are refused, by the field and the code of the error."""

from decimal import Decimal

import pytest

from annotations.answering import collecting
from annotations.answering.errors import SettingsError
from annotations.models import Collection
from tests.annotations.answering.test_checks import with_checks

CODES = ("code_no_consent", "code_screened_out", "code_too_late", "code_not_chosen")
CHECKED = {"checks_needed": 2, "code_failed_checks": "F"}
PAID = {"pay": Decimal(2), "currency": "GBP"}
BAD = [
    ({"places": 0}, "places", "places_out_of_range"),
    ({"places": 100_001}, "places", "places_out_of_range"),
    ({"answers_per_question": 0}, "answers_per_question", "no_answers_each"),
    ({"answers_per_question": 3}, "answers_per_question", "too_few_places"),
    *(
        ({name: value}, name, f"{name}_out_of_range")
        for name, (least, most) in collecting.BOUNDS.items()
        for value in (least - 1, most + 1)
    ),
    ({"worker_parameter": "a b"}, "worker_parameter", "bad_parameter"),
    ({"study_parameter": "a/b"}, "worker_parameter", "bad_parameter"),
    ({"session_parameter": "a\n"}, "worker_parameter", "bad_parameter"),
    ({"worker_parameter": ""}, "worker_parameter", "worker_parameter_missing"),
    ({"worker_parameter": "STUDY_ID"}, "worker_parameter", "parameter_twice"),
    ({"code_done": " "}, "code_done", "code_done_not_unique"),
    *(({name: "A", "code_done": "A"}, "code_done", "code_done_not_unique") for name in CODES),
    *(
        (
            {name: "A", "code_failed_checks": "A"},
            "code_failed_checks",
            "code_failed_checks_not_unique",
        )
        for name in ("code_done", *CODES)
    ),
    *(
        (
            {**PAID, "screened_out_pay": 1, "code_screened_out": "A", name: "A"},
            "code_screened_out",
            "code_screened_out_not_unique",
        )
        for name in ("code_no_consent", "code_too_late", "code_not_chosen")
    ),
    ({**CHECKED, "checks_needed": 3}, "checks_needed", "too_few_checks"),
    ({**CHECKED, "code_failed_checks": " "}, "code_failed_checks", "code_failed_checks_missing"),
    ({"pay": Decimal(1)}, "currency", "currency_missing"),
    ({**PAID, "pay": Decimal("-0.01")}, "currency", "currency_missing"),
    ({"panel_fee": Decimal("-0.01")}, "panel_fee", "panel_fee_out_of_range"),
    ({"panel_fee": Decimal(1000)}, "panel_fee", "panel_fee_out_of_range"),
    ({"least_hourly_pay": Decimal(0)}, "pay", "hourly_without_pay"),
    ({**PAID, "least_hourly_pay": Decimal("-0.01")}, "least_hourly_pay", "hourly_without_pay"),
    *(
        case
        for part in ("screened_out_pay", "failed_checks_pay")
        for case in (
            ({**PAID, part: 0}, part, "part_not_positive"),
            ({part: 1}, "pay", "part_without_pay"),
            ({**PAID, part: 2}, part, "part_not_less"),
        )
    ),
    ({"return_url": "http://example.org/"}, "return_url", "bad_address"),
    ({"return_url": "https://example.org/#a"}, "return_url", "bad_address"),
    ({"return_url": "https://me@example.org/"}, "return_url", "bad_address"),
    ({"base_url": "ftp://example.org"}, "base_url", "bad_address"),
    ({"base_url": "http://survey:x"}, "base_url", "bad_address"),
]
SOUND = [
    {"questions_per_worker": None},
    *({name: at} for name in ("questions_per_worker", "grade_every") for at in (1, 100_000)),
    {"answers_per_question": 2},
    {"study_parameter": "", "session_parameter": ""},
    CHECKED,
    {"pay": Decimal(0), "currency": "GBP"},
    {"panel_fee": Decimal("999.99")},
    {**PAID, "least_hourly_pay": Decimal(0)},
    {**PAID, "screened_out_pay": Decimal("1.99"), "failed_checks_pay": Decimal("0.01")},
    {"return_url": "https://example.org:8443/end?code={code}", "base_url": "http://survey:8000"},
]


@pytest.mark.django_db
def test_settings_are_refused_by_field_and_code(tides):
    version = with_checks(tides).latest_version()

    def refusal(settings):
        try:
            collecting.check_settings(Collection(**{"version": version, "places": 2, **settings}))
        except SettingsError as error:
            return settings, error.field, error.code
        return settings, None, None

    assert [refusal(settings) for settings, *_ in BAD] == BAD
    assert [refusal(settings) for settings in SOUND] == [(one, None, None) for one in SOUND]
