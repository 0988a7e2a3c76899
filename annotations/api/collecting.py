"""REST endpoints for collections; the rules for their settings are in `answering.collecting`."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse
from django.utils.text import capfirst
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.answering import collecting as rules
from annotations.answering import links
from annotations.answering.errors import BegunError, SettingsError
from annotations.answering.monitor import find_newest_collection
from annotations.answering.sentences import CHANGES
from annotations.models import Admission, Collection, QuestionSet, rights
from annotations.models.collections import MOST_PLACES
from annotations.web.paging import Keyset
from annotations.web.rest.base import ApiViewSet, StrictModelSerializer, StrictSerializer
from annotations.web.rest.examples import SET
from annotations.web.rest.idempotency import make_repeatable
from annotations.web.rest.paging import build_page_body, load_page
from annotations.web.rest.problems import ApiProblem, Fault, build_field_problem
from annotations.web.rest.renamed_keys import add_renamed_keys
from annotations.web.rest.uploads import IDEMPOTENCY_KEY
from annotations.web.scope import get_editable, get_set_with_answers, select_visible

MAX_IDS = 20_000
BY_ID = Keyset("admission", ("external_id",), texts=("external_id",))
SETTINGS = (
    *("places", "answers_per_question", "questions_per_worker", "protocol", "title", "contact"),
    *("signals", "reading_seconds", "reservation_minutes", "most_characters", "practice_needed"),
    *("worker_parameter", "study_parameter", "session_parameter", "panel", "signed"),
    *("anonymous", "listed_only", "excludes", "checks_needed", "pay", "currency"),
    *("panel_fee", "screened_out_pay", "failed_checks_pay", "least_hourly_pay"),
    *("grade_every", "base_url", "return_url", "code_done", "code_no_consent"),
    *("code_screened_out", "code_too_late", "code_not_chosen", "code_failed_checks"),
)


class ExcludedSetsField(serializers.ListField):
    """Field with ids of excluded question sets; its output omits sets that the user may not see."""

    child = serializers.UUIDField()

    def to_representation(self, data: Any) -> list[str]:
        """Return the ids of the question sets that the user may see, oldest set first."""
        rows = select_visible(self.context["request"], data.all()).order_by("pk")
        return [str(public_id) for public_id in rows.values_list("public_id", flat=True)]


def build_bounded_field(name: str, help_text: str = "", **options: Any) -> serializers.IntegerField:
    """Return an integer serializer field with the permitted range of a collection setting."""
    least, most = rules.BOUNDS[name]
    return serializers.IntegerField(
        min_value=least, max_value=most, required=False, help_text=help_text, **options
    )


class CollectionSerializer(StrictModelSerializer):
    """Settings of a collection of answers; omitted settings keep their value or the default."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    version = serializers.IntegerField(source="version.number", read_only=True)
    link = serializers.SerializerMethodField(
        help_text="The address for a panel, which adds the worker's id: ?PROLIFIC_PID=ID, by the "
        "name in worker_parameter."
    )
    panel_link = serializers.SerializerMethodField(
        help_text="The same as Prolific wants it, with its places for ids; empty for other panels."
    )
    places = serializers.IntegerField(
        min_value=1,
        max_value=MOST_PLACES,
        help_text="How many people may take part, in all. To let more in, rather add places.",
    )
    answers_per_question = serializers.IntegerField(
        min_value=1,
        max_value=MOST_PLACES,
        allow_null=True,
        required=False,
        help_text="How many of them answer each question; null for all.",
    )
    questions_per_worker = build_bounded_field(
        "questions_per_worker", "Null: as many as fill all places with all answers.",
        allow_null=True,
    )  # fmt: skip
    reading_seconds = build_bounded_field("reading_seconds", "Until a text is taken away (recall).")
    reservation_minutes = build_bounded_field(
        "reservation_minutes", "Minutes that a place stays reserved after its worker was last seen."
    )
    most_characters = build_bounded_field("most_characters", "Of an answer.")
    practice_needed = build_bounded_field(
        "practice_needed",
        "Right practice answers needed to continue; null: none.",
        allow_null=True,
    )
    checks_needed = build_bounded_field(
        "checks_needed",
        "Right attention checks needed for code_done; with fewer a worker gets "
        "code_failed_checks; null or 0: everybody gets code_done.",
        allow_null=True,
    )
    grade_every = build_bounded_field(
        "grade_every",
        "Grade by itself whenever so many more have handed in; null: only when asked.",
        allow_null=True,
    )
    excludes = ExcludedSetsField(
        required=False,
        max_length=1000,
        help_text="Ids of question sets of the same owner: who took part there may not here. Sets "
        "that you do not see are not named, and stay.",
    )

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

        model = Collection
        fields = (
            *("id", "version", "state", "link", "panel_link"),
            *SETTINGS,
            *("by_score", "declined", "created_at", "closed_at"),
        )
        read_only_fields = ("state", "by_score", "declined", "created_at", "closed_at")
        extra_kwargs = {  # noqa: RUF012
            "protocol": {
                "help_text": "recall: the text is read first and hidden at its questions; open: "
                "it stays visible."
            },
            "worker_parameter": {"help_text": "As the panel writes it into the link."},
            "signed": {"help_text": "Take signed links only: ask for them at links/."},
            "anonymous": {"help_text": "Take people without an id, by their browser alone."},
            "listed_only": {"help_text": "Take only who is on the list: see admissions/."},
            "base_url": {"help_text": "Where workers reach this site; that of the request."},
            "return_url": {"help_text": "Of the panel, with {code} where the code belongs."},
            "screened_out_pay": {
                "help_text": "Part of the pay of who did not pass the practice; null for none. A "
                "person plans and confirms it."
            },
            "failed_checks_pay": {
                "help_text": "Part of the pay of who failed the attention checks, in its place; "
                "null for none. A person plans and confirms it."
            },
            "code_failed_checks": {
                "help_text": "Of who failed the attention checks; made up where checks_needed asks "
                "for one and none is sent."
            },
        }

    def to_representation(self, collection: Collection) -> dict[str, Any]:
        """Return the fields; completion codes are "" for users who may not edit the set."""
        pays = rights(self.context["request"].user, collection.version.question_set).edit
        items = super().to_representation(collection).items()
        return {name: value if pays or name[:5] != "code_" else "" for name, value in items}

    def get_link(self, collection: Collection) -> str:
        """Return the link for workers, to which the panel adds the worker id."""
        return links.build_collection_link(collection)

    def get_panel_link(self, collection: Collection) -> str:
        """Return the workers' link with Prolific's placeholders; "" for other panels."""
        return links.build_prolific_link(collection)


class CollectionStateSerializer(StrictSerializer):
    """New state of a collection; if it is no longer in the state `was`, the request fails."""

    state = serializers.ChoiceField(
        choices=Collection.State.choices,
        help_text="paused admits no new workers, and those inside can finish; closed accepts "
        "nothing more.",
    )
    was = serializers.ChoiceField(choices=Collection.State.choices, required=False)


class NewPlacesSerializer(StrictSerializer):
    """Number of places to add; if the collection no longer has `was` places, the request fails."""

    more = serializers.IntegerField(min_value=1, max_value=MOST_PLACES)
    was = serializers.IntegerField(min_value=1, max_value=MOST_PLACES, required=False)


class PanelIdsSerializer(StrictSerializer):
    """List of worker ids of the panel."""

    workers = serializers.ListField(
        child=serializers.CharField(max_length=links.MAX_ID_LENGTH),
        min_length=1,
        max_length=MAX_IDS,
    )

    def validate_workers(self, ids: list[str]) -> list[str]:
        """Return the ids without repetitions; refuse too long ids and unprintable characters."""
        bad = {
            index: ["An id has at most 255 characters, all of which show."]
            for index, external_id in enumerate(ids)
            if not links.is_valid_worker_id(external_id)
        }
        if bad:
            raise serializers.ValidationError(bad)  # type: ignore[arg-type]
        return list(dict.fromkeys(ids))


class NewAdmissionsSerializer(PanelIdsSerializer):
    """Worker ids to add to the admission list, and the reason, which editors of the list read."""

    why = serializers.CharField(max_length=200, allow_blank=True, required=False)


class SignedLinkSerializer(serializers.Serializer[Any]):
    """A worker's id and the signed link for that worker; changing the id makes it invalid."""

    worker = serializers.CharField()
    link = serializers.CharField()


class SignedLinksSerializer(serializers.Serializer[Any]):
    """Signed links for workers, in the order of the requested ids."""

    links = SignedLinkSerializer(many=True)


class AdmissionSerializer(serializers.ModelSerializer[Admission]):
    """Entry of the admission list, which restricts who may take part in a collection."""

    worker = serializers.CharField(source="external_id", help_text="The panel's id.")

    class Meta:
        """Model of the serializer, and its JSON fields in order."""

        model = Admission
        fields = ("worker", "why", "by_score")
        read_only_fields = fields


@add_renamed_keys(given="n_ids")
class AdmissionReportSerializer(serializers.Serializer[Any]):
    """Result of adding worker ids to the admission list: counts of ids and of new ones."""

    given = serializers.IntegerField(help_text="Different ids.")
    new = serializers.IntegerField(help_text="Of them, those that were not on the list.")


@add_renamed_keys(given="n_ids")
class AdmissionRemovalSerializer(serializers.Serializer[Any]):
    """Result of removing worker ids from the admission list: counts of removed and kept ids."""

    given = serializers.IntegerField(help_text="Different ids.")
    off = serializers.IntegerField(help_text="Of them, those that were on it by hand.")
    by_score = serializers.IntegerField(help_text="Of them, those that an earlier score admits.")


@extend_schema(tags=["collecting"])
class CollectionViewSet(ApiViewSet):
    """API endpoints that publish, change and close a question set's newest collection."""

    queryset = Collection.objects.all()
    serializer_class = CollectionSerializer

    @extend_schema(
        operation_id="collecting_read",
        summary="Read how a question set is answered by workers",
        description="404 while it is not published to workers.",
    )
    def retrieve(self, request: Request, set_id: UUID) -> Response:
        """Return the settings and state of the newest collection; 404 if there is none."""
        return self._build_response(_find_collection(get_set_with_answers(request, set_id)))

    @extend_schema(
        operation_id="collecting_publish",
        summary="Publish the latest version to workers",
        description="Freezes its wording and opens it; `places` is needed. What is published "
        "already is changed where the settings differ, and keeps its link (200). 409 where nothing "
        "can be asked yet, with what is missing.",
        parameters=[IDEMPOTENCY_KEY],
        responses={
            201: OpenApiResponse(CollectionSerializer, "It is open; `link` is for the panel."),
            200: OpenApiResponse(CollectionSerializer, "It was published before."),
        },
        examples=[
            OpenApiExample(
                "For 40 people on Prolific, ten answers to each question",
                value={
                    "places": 40,
                    "answers_per_question": 10,
                    "protocol": "recall",
                    "pay": "2.50",
                    "currency": "GBP",
                    "excludes": [SET],
                },
                request_only=True,
            )
        ],
    )
    @make_repeatable
    def create(self, request: Request, set_id: UUID) -> Response:
        """Publish the latest version to workers, or change its settings if it is published."""
        question_set = self._load_editable_set(set_id)
        values = self.validate_body(CollectionSerializer, partial=True).validated_data
        excluded = self._pop_excluded_sets(values)
        here = request.build_absolute_uri("/").rstrip("/")
        with transaction.atomic():
            published = _apply_change(lambda: rules.publish_question_set(question_set, **values))
            collection = published.collection
            if not collection.base_url:
                _apply_change(lambda: rules.change_settings(collection, base_url=here))
            self._store_excluded(collection, excluded)
        code = status.HTTP_201_CREATED if published.is_new else status.HTTP_200_OK
        return self._build_response(collection, code)

    @extend_schema(
        operation_id="collecting_change",
        summary="Change how it is answered",
        description="Changes the keys that are sent; null resets one. 409 for settings that are "
        "fixed once a worker has started: protocol, panel, worker_parameter, and signals where "
        "they were off.",
    )
    def partial_update(self, request: Request, set_id: UUID) -> Response:
        """Change the settings in the request body; other settings stay."""
        collection = _find_collection(self._load_editable_set(set_id))
        values = self.validate_body(CollectionSerializer, partial=True).validated_data
        excluded = self._pop_excluded_sets(values)
        with transaction.atomic():
            _apply_change(lambda: rules.change_settings(collection, **values))
            self._store_excluded(collection, excluded)
        return self._build_response(collection)

    @extend_schema(
        operation_id="collecting_state",
        summary="Open, pause or close it",
        description="A second request changes nothing. 409 if the state is no longer `was`.",
        request=CollectionStateSerializer,
        responses=CollectionSerializer,
        examples=[
            OpenApiExample("Pause it", value={"state": "paused", "was": "open"}, request_only=True)
        ],
    )
    def set_state(self, request: Request, set_id: UUID) -> Response:
        """Open, pause or close the collection."""
        collection = _find_collection(self._load_editable_set(set_id))
        values = self.validate_body(CollectionStateSerializer).validated_data
        if not rules.set_collection_state(collection, values["state"], values.get("was")):
            text = CHANGES.text("other_state", state=collection.state, was=values["was"])
            fault = Fault(f"It is {collection.state}.", pointer="#/was", code="other_state")
            raise ApiProblem("conflict", text, [fault])
        return self._build_response(collection)

    @extend_schema(
        operation_id="collecting_add_places",
        summary="Let more people take part",
        description="409 if the number of places is no longer `was`: another user, or your own "
        "repeated request, has added some.",
        parameters=[IDEMPOTENCY_KEY],
        request=NewPlacesSerializer,
        responses=CollectionSerializer,
        examples=[OpenApiExample("Ten more", value={"more": 10, "was": 40}, request_only=True)],
    )
    @make_repeatable
    def add_places(self, request: Request, set_id: UUID) -> Response:
        """Add places for further workers to the collection."""
        collection = _find_collection(self._load_editable_set(set_id))
        values = self.validate_body(NewPlacesSerializer).validated_data
        added = _apply_change(
            lambda: rules.add_places(collection, values["more"], values.get("was")),
            places="more",
        )
        if not added:
            text = CHANGES.text("other_places", places=collection.places, was=values["was"])
            fault = Fault(f"There are {collection.places:,}.", pointer="#/was", code="other_places")
            raise ApiProblem("conflict", text, [fault])
        return self._build_response(collection)

    @extend_schema(
        operation_id="collecting_links",
        summary="Make signed links for workers",
        description="One for each id, at most 20,000; the same id always gets the same link. "
        "They are required if the settings have `signed`, and accepted everywhere. Nothing is "
        "stored.",
        request=PanelIdsSerializer,
        responses=SignedLinksSerializer,
        examples=[OpenApiExample("Two", value={"workers": ["ada", "ben"]}, request_only=True)],
    )
    def make_signed_links(self, request: Request, set_id: UUID) -> Response:
        """Return a signed link for each requested worker id; nothing is stored."""
        collection = _find_collection(self._load_editable_set(set_id))
        ids = self.validate_body(PanelIdsSerializer).validated_data["workers"]
        rows = [{"worker": name, "link": links.build_signed_link(collection, name)} for name in ids]
        return Response({"links": rows})

    @extend_schema(
        operation_id="collecting_admissions",
        summary="List who may take part",
        description="Used with the setting `listed_only`, or with admission by an earlier score.",
        responses=AdmissionSerializer(many=True),
    )
    def list_admissions(self, request: Request, set_id: UUID) -> Response:
        """List the workers on the admission list, sorted by id."""
        rows = _find_collection(get_set_with_answers(request, set_id)).admissions.all()
        page = load_page(request, rows, BY_ID)
        data = AdmissionSerializer(page.rows, many=True).data
        return Response(build_page_body(request, data, page.next))

    @extend_schema(
        operation_id="collecting_admit",
        summary="Put workers on the list of who may take part",
        description="At most 20,000 ids at once. An id that was sent stays, whatever its score.",
        parameters=[IDEMPOTENCY_KEY],
        request=NewAdmissionsSerializer,
        responses=AdmissionReportSerializer,
        examples=[
            OpenApiExample(
                "Two", value={"workers": ["ada", "ben"], "why": "pilot"}, request_only=True
            )
        ],
    )
    @make_repeatable
    def admit(self, request: Request, set_id: UUID) -> Response:
        """Add worker ids to the admission list."""
        collection = _find_collection(self._load_editable_set(set_id))
        values = self.validate_body(NewAdmissionsSerializer).validated_data
        new = rules.admit_workers(collection, values["workers"], values.get("why", ""))
        counts = {"given": len(values["workers"]), "new": new}
        return Response(AdmissionReportSerializer(counts).data)

    @extend_schema(
        operation_id="collecting_strike",
        summary="Take workers off the list of who may take part",
        description="At most 20,000 ids at once. Workers who have begun can continue; workers who "
        "are on the list by an earlier score stay on it.",
        request=PanelIdsSerializer,
        responses=AdmissionRemovalSerializer,
        examples=[OpenApiExample("One", value={"workers": ["ada"]}, request_only=True)],
    )
    def strike(self, request: Request, set_id: UUID) -> Response:
        """Remove worker ids from the admission list; repeating the request has no effect."""
        collection = _find_collection(self._load_editable_set(set_id))
        ids = self.validate_body(PanelIdsSerializer).validated_data["workers"]
        struck = rules.remove_admissions(collection, ids)
        counts = {"given": len(ids), "off": struck.off, "by_score": struck.by_score}
        return Response(AdmissionRemovalSerializer(counts).data)

    def _load_editable_set(self, set_id: UUID) -> QuestionSet:
        """Return a question set that the user may change; raise Http404 or 403 otherwise."""
        get_set_with_answers(self.request, set_id)
        return get_editable(self.request, QuestionSet.objects.all(), set_id)

    def _pop_excluded_sets(self, values: dict[str, Any]) -> list[QuestionSet] | None:
        """Remove the key "excludes" from the values; return its question sets, None without it."""
        if (ids := values.pop("excludes", None)) is None:
            return None
        sets = {row.public_id: row for row in self._select_visible_sets().filter(public_id__in=ids)}
        for index, public_id in enumerate(ids):
            if public_id not in sets:
                message = "There is no such question set."
                raise build_field_problem(f"excludes/{index}", message, "unknown_set")
        return list(sets.values())

    def _store_excluded(self, collection: Collection, excluded: list[QuestionSet] | None) -> None:
        """Store the question sets whose workers may not take part, if the request has any."""
        if excluded is not None:
            visible = self._select_visible_sets()
            _apply_change(lambda: rules.set_excluded_question_sets(collection, excluded, visible))

    def _select_visible_sets(self) -> QuerySet[QuestionSet]:
        """Return the question sets that the user may see."""
        return select_visible(self.request, QuestionSet.objects.all())

    def _build_response(self, collection: Collection, code: int = status.HTTP_200_OK) -> Response:
        """Return the response with a collection's settings; after a POST with a Location header."""
        set_id = collection.version.question_set.public_id
        url = self.request.build_absolute_uri(reverse("api:collection", args=[set_id]))
        headers = {"Location": url} if self.request.method == "POST" else None
        return Response(self.get_serializer(collection).data, code, headers=headers)


def _find_collection(question_set: QuestionSet) -> Collection:
    """Return the question set's newest collection; raise Http404 if there is none."""
    if (collection := find_newest_collection(question_set)) is None:
        raise Http404("it is not published to workers")
    return collection


def _apply_change(change: Any, **fields: str) -> Any:
    """Call `change` and return its result; convert a `SettingsError` to an `ApiProblem`."""
    try:
        return change()
    except SettingsError as error:
        text = f"{capfirst(str(error)).removesuffix('.')}."
        name = fields.get(error.field, error.field)
        fault = [Fault(text, pointer=f"#/{name}", code=error.code)] if name else []
        code = "conflict" if isinstance(error, BegunError) or not name else "invalid"
        raise ApiProblem(code, text, fault, reason=error.code) from error
