"""Examples in the OpenAPI schema, built from an example value for each field name."""

from __future__ import annotations

from typing import Any

from annotations.web.rest.examples import SET

Schema = dict[str, Any]

WORKER = "01980000-0000-7000-8000-00000000b001"
QUESTION = "01980000-0000-7000-8000-00000000c001"
MODEL = "01980000-0000-7000-8000-00000000d001"
RUN = "01980000-0000-7000-8000-00000000e001"
TIME = "2026-11-21T15:19:32.143870Z"
ROOT = "https://crowdgrade.example.org/api/v1/"
LINK = "https://crowdgrade.example.org/answer/01980000-0000-7000-8000-00000000f001/"
HOOK = "https://example.org/crowdgrade"
TEXT = "On Plynlimon, a mountain in Wales."

# Keys are COMPONENT.FIELD, or FIELD for all components.
BY_NAME: dict[str, Any] = {
    "Admission.why": "pilot",
    "NewAdmissions.why": "pilot",
    "NewAdmissions.workers": ["ada", "ben"],
    "AdmissionReport.given": 2,
    "AdmissionReport.new": 1,
    "NewAppealAnswer.answer": "You are right: the check was not to be read on a phone.",
    "NewAppeal.text": "I did not leave them empty: the page did not load.",
    "BonusPayment.reason": "the best 20% by raw score",
    "BonusProposal.total": "3.00",
    "PlannedBonuses.total": "3.00",
    "Collection.answers_per_question": 10,
    "Collection.base_url": "https://crowdgrade.example.org",
    "Collection.checks_needed": 2,
    "Collection.closed_at": None,
    "Collection.code_done": "CQ7KD2MX",
    "Collection.code_failed_checks": "K6HNW3TB",
    "Collection.code_no_consent": "N4WPZ8RT",
    "Collection.code_not_chosen": "H5TBV9KE",
    "Collection.code_screened_out": "S3XJM6QA",
    "Collection.code_too_late": "L8RFC4YD",
    "Collection.contact": "rivers@example.org",
    "Collection.currency": "GBP",
    "Collection.excludes": [SET],
    "Collection.failed_checks_pay": "0.80",
    "Collection.grade_every": 10,
    "Collection.least_hourly_pay": "9.00",
    "Collection.link": LINK,
    "Collection.most_characters": 5000,
    "Collection.panel_fee": "33.33",
    "Collection.panel_link": f"{LINK}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}",
    "Collection.pay": "2.50",
    "Collection.places": 40,
    "Collection.practice_needed": 2,
    "Collection.questions_per_worker": 6,
    "Collection.reading_seconds": 600,
    "Collection.reservation_minutes": 60,
    "Collection.return_url": "https://app.prolific.com/submissions/complete?cc={code}",
    "Collection.screened_out_pay": "0.40",
    "Collection.session_parameter": "SESSION_ID",
    "Collection.study_parameter": "STUDY_ID",
    "Collection.title": "Reading about rivers",
    "Collection.worker_parameter": "PROLIFIC_PID",
    "DecisionImport.total": "1.50",
    "GroupRate.name": "Deutsch",
    "Fairness.what": "language",
    "Interim.headline": "Do not use these grades yet.",
    "Interim.name": "Interim, 12 people",
    "Interim.people": 12,
    "NewPlaces.more": 10,
    "NewPlaces.was": 40,
    "OwedParts.total": "0.80",
    "PanelIds.workers": ["ada", "ben"],
    "OwedPartsTotal.total": "0.80",
    "PartialPayment.amount": "0.80",
    "PartialPayment.currency": "GBP",
    "RoundResult.total": "3.00",
    "RoundTotal.total": "3.00",
    "PaymentReport.reference": "6741c0f1",
    "SignedLink.link": f"{LINK}?PROLIFIC_PID=ada&signature=dYBJtYVzsmUQm2FtuHDWwQaiGcs",
    "ResultMoreWorkersForecast.answers": 60,
    "ResultMoreWorkersForecast.off": 0.12,
    "ResultMoreWorkersForecast.off_then": 0.08,
    "PaymentList.total": "3.00",
    "ResultMoreWorkersForecast.people": 10,
    "ResultMoreWorkersForecast.within": 0.1,
    "ResultUnsettledQuestion.off": 0.21,
    "ResultUnsettledQuestion.off_then": 0.11,
    "QuestionSet.name": "Rivers",
    "QuestionSetRow.name": "Rivers",
    "LanguageModel.name": "small-1",
    "LanguageModelRow.name": "small-1",
    "LanguageModel.version": "2",
    "LanguageModelRow.version": "2",
    "ResultRunAbout.name": "Rivers",
    "ResultWorkerRow.name": "ada",
    "ResultModelRow.name": "small-1",
    "ResultModelAnswer.name": "small-1",
    "AskParameters.prompt": "closed",
    "JudgeParameters.judge": MODEL,
    "Progress.stage": "embedding",
    "Alarm.case": "copies",
    "Alarm.kind": "copies",
    "Alarm.severity": "alarm",
    "Alarm.title": "Copied or nearly copied answers",
    "AlarmsReport.counts": {"alarm": 1},
    "ResultAlarmEntry.case": "copies",
    "ResultAlarmEntry.kind": "copies",
    "ResultAlarmEntry.severity": "alarm",
    "ResultAlarmEntry.title": "Copied or nearly copied answers",
    "ResultCheck.name": "two_camps",
    "ResultCheck.title": "Two camps in the crowd",
    "ResultCheck.measured": "z is 2.1, alarm above 3.",
    "ResultCheck.statistic": 2.1,
    "ResultCheck.threshold": 3.0,
    "ResultModelChange.name": "small-1",
    "ResultEvidenceAnswer.is_named": True,
    "ResultExhibit.is_pair": True,
    "ResultWorkerRequirement.average_reason": None,
    "ResultWorkerRequirement.worst_reason": None,
    "ResultErrorBounds.reason": None,
    "ResultVerdict.headline": "Do not use these grades yet.",
    "ResultVerdict.text": "1 of 10 checks failed.",
    "ResultChange.after": "tfidf-word",
    "ResultChange.before": "minilm",
    "ResultChange.what": "embedder",
    "ResultFact.meaning": "In a tiny crowd one person is a large part of the consensus.",
    "ResultFact.name": "workers",
    "ResultFact.said": "4 workers.",
    "ResultFact.title": "Are there enough workers?",
    "ResultFact.todo": "Ask more people.",
    "ResultFact.word": "Stop",
    "ResultModelName.name": "small-1",
    "ResultNamedItem.name": "ada",
    "ResultEvidenceAnswer.name": "ada",
    "ResultWorkerChange.name": "ada",
    "Delivery.error": "status",
    "Delivery.event": {"id": "01980000-0000-7000-8000-0000000ef001", "type": "run.finished"},
    "Delivery.next_at": None,
    "Delivery.seconds": 0.2,
    "Delivery.state": "failed",
    "Delivery.status": 500,
    "Delivery.type": "run.finished",
    "NewWebhook.events": ["run.finished", "alarm.raised"],
    "NewWebhook.name": "lab",
    "NewWebhook.url": HOOK,
    "Webhook.events": ["run.finished", "alarm.raised"],
    "Webhook.is_on": True,
    "Webhook.name": "lab",
    "Webhook.off_at": None,
    "Webhook.off_reason": "",
    "Webhook.url": HOOK,
    "WebhookChange.events": ["run.finished"],
    "WebhookChange.is_on": True,
    "WebhookChange.name": "lab",
    "WebhookChange.url": HOOK,
    "WebhookSecret.events": ["run.finished", "alarm.raised"],
    "WebhookSecret.is_on": True,
    "WebhookSecret.name": "lab",
    "WebhookSecret.off_at": None,
    "WebhookSecret.off_reason": "",
    "WebhookSecret.secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "WebhookSecret.url": HOOK,
    "adjusted_p_value": 0.04,
    "better": "small-1",
    "amount": "1.50",
    "base_pay": "2.50",
    "by": "rana",
    "category": "geography",
    "counts": {"answers": 8, "workers": 4, "questions": 2, "models": 1, "model_answers": 2},
    "created": {"workers": 2, "questions": 0},
    "currency": "GBP",
    "description": "Two questions about a river.",
    "details": "Small, 2, 135M",
    "dispersion": 0.31,
    "done": 6,
    "embedder": "tfidf-word",
    "embedding": {"model": "TfidfVectorizer", "precision": "float64"},
    "error": "",
    "excerpt": TEXT,
    "extra": {"seconds": "12"},
    "family": "Small",
    "finish_reason": "stop",
    "first_name": "small-1",
    "first_text": TEXT,
    "high": 0.91,
    "hourly": "9.40",
    "input_hash": "de17b749080b",
    "kind": "free",
    "language": "en",
    "least_hourly": "9.00",
    "leave_one_out": 0.71,
    "low": 0.52,
    "measured": "They close 90% of the gap between answers of such quality; alarm above 50%.",
    "message": "Two workers give nearly the same answers. Read some of them side by side.",
    "metadata": {"source": "atlas"},
    "model": "small-1",
    "model_id": MODEL,
    "n": 2,
    "name": "q1",
    "nearest": TEXT,
    "nearest_worker": "ada",
    "nearest_worker_name": "ada",
    "next": None,
    "notice": "Written for an example; no real people.",
    "nli": None,
    "panel": "Prolific",
    "passage": "p1",
    "passage_text": "The river Wye rises on Plynlimon.",
    "passage_title": "The Wye",
    "percent": 75,
    "percentile": 50.0,
    "planned": "3.00",
    "prompt": "",
    "question": "q1",
    "question_id": QUESTION,
    "question_name": "q1",
    "question_set": SET,
    "question_text": "Where does the river begin?",
    "rank": 1,
    "rate": 120.0,
    "reason": "",
    "results": f"{ROOT}runs/{RUN}/results/",
    "round": "bonus",
    "rule": "the best 20% by raw score",
    "run": RUN,
    "score": 0.74,
    "second_name": "small-2",
    "second_text": "In the sea near Bristol.",
    "seconds_left": 2.5,
    "signature": "aqer|embedder:TfidfVectorizer|seed:0",
    "size": "135M",
    "strategy": "passage in the prompt",
    "statistic": 0.9,
    "table": "workers",
    "column": "rank",
    "test": "sign-flip-exact",
    "text": TEXT,
    "threshold": 0.5,
    "title": "The Wye",
    "tolerance": 1e-6,
    "total": 8,
    "trace": [0.05, 0.002, 1e-8],
    "tuning": "instruct",
    "unsent": "3.00",
    "value": 0.74,
    "versions": {"crowdgrade": "0.1.0"},
    "weight": 0.26,
    "what": "answers",
    "why": "",
    "worker": "ada",
    "worker_id": WORKER,
    "worker_name": "ada",
}
IDS = {"worker": WORKER, "nearest_worker": WORKER, "question": QUESTION, "model": MODEL}
VALUE_BY_FORMAT = {"date-time": TIME, "uri": ROOT, "uuid": "01980000-0000-7000-8000-00000000f001"}
VALUE_BY_TYPE: dict[str, Any] = {
    "string": "text",
    "integer": 1,
    "number": 0.5,
    "boolean": False,
    "object": {},
    "array": [],
}


def add_examples(result: dict[str, Any], generator: Any, request: Any, public: bool) -> Any:
    """Add an example to every object schema and `oneOf` schema (a drf-spectacular hook)."""
    schemas = result["components"]["schemas"]
    for name, schema in schemas.items():
        if "properties" in schema or "oneOf" in schema:
            schema["examples"] = [build_component_example(name, schemas)]
    return result


def build_component_example(name: str, schemas: dict[str, Schema]) -> dict[str, Any]:
    """Return an example of the named schema component; for `oneOf` of its first alternative."""
    if one_of := schemas[name].get("oneOf"):
        return build_component_example(_read_reference_name(one_of[0]), schemas)
    plain = name.removeprefix("Patched").removesuffix("Request")
    return {
        field: build_example_value(plain, field, schema, schemas)
        for field, schema in schemas[name]["properties"].items()
    }


def build_example_value(
    component: str, field: str, schema: Schema, schemas: dict[str, Schema]
) -> Any:
    """Return an example value of a component's field.

    It is the first that exists of: the example of a referenced component, an id, the default or
    first enum value, the value by field name, by format, by type.
    """
    for choice in (schema, *schema.get("allOf", ()), *schema.get("oneOf", ())):
        if "$ref" in choice:
            return build_component_example(_read_reference_name(choice), schemas)
    types = schema.get("type", "object")
    kinds = types if isinstance(types, list) else [types]
    if schema.get("format") == "uuid" and field in IDS:
        return IDS[field]
    if "enum" in schema:
        return schema.get("default", schema["enum"][0])
    if "default" in schema:
        return schema["default"]
    if "array" in kinds and "$ref" in schema["items"]:
        return [build_example_value(component, field, schema["items"], schemas)]
    for name in (f"{component}.{field}", field):
        if name in BY_NAME and ("type" not in schema or has_json_type(BY_NAME[name], kinds)):
            return BY_NAME[name]
    if "format" in schema and schema["format"] in VALUE_BY_FORMAT:
        return VALUE_BY_FORMAT[schema["format"]]
    value = VALUE_BY_TYPE[next(kind for kind in kinds if kind != "null")]
    return max(value, schema["minimum"]) if "minimum" in schema else value


def _read_reference_name(schema: Schema) -> str:
    """Return the name of the component to which a schema refers."""
    return str(schema["$ref"].rpartition("/")[2])


def has_json_type(value: Any, kinds: list[str]) -> bool:
    """Return whether a value has one of the JSON types `kinds`."""
    json_type = {
        str: "string",
        bool: "boolean",
        int: "integer",
        float: "number",
        dict: "object",
        list: "array",
        type(None): "null",
    }[type(value)]
    return json_type in kinds
