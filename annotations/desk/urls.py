"""URL patterns of the requester's pages; the admin site requires a login for all of them."""

from django.urls import path

from annotations.desk import (
    demographics,
    import_wizard,
    invitations,
    question_sets,
    questions,
    sharing,
    teams,
    uploads,
)
from annotations.desk.collecting import pages as collecting
from annotations.desk.editor import items, languages, overview
from annotations.desk.writing import candidates, participants
from annotations.desk.writing import people as writing_people
from annotations.desk.writing import requester as writing

SET = "question-sets/<uuid:set_id>/"
TEAM = "teams/<uuid:team_id>/"
EDITOR = f"{SET}editor/"
WRITING = f"{SET}writing/"
COLLECTING = f"{SET}collecting/"
DESK = "writing/<uuid:project_id>/"

urlpatterns = [
    path("question-sets/", question_sets.list_question_sets, name="question-sets"),
    path("question-sets/new/", question_sets.create_question_set, name="question-set-new"),
    path(f"{SET}edit/", question_sets.edit_question_set, name="question-set-edit"),
    path(f"{SET}publish/", question_sets.publish_latest_version, name="question-set-publish"),
    path(f"{SET}passages/", questions.show_passages, name="passages"),
    path(f"{SET}questions/<uuid:question_id>/", questions.show_question, name="question"),
    path(EDITOR, overview.show_editor, name="editor"),
    path(f"{EDITOR}order/", overview.move_item, name="editor-order"),
    path(f"{EDITOR}texts/", items.edit_texts, name="editor-texts"),
    path(f"{EDITOR}changes/", overview.show_version_changes, name="editor-changes"),
    path(f"{EDITOR}languages/", languages.list_languages, name="editor-languages"),
    path(
        f"{EDITOR}languages/<slug:language>/", languages.edit_translations, name="editor-language"
    ),
    path(
        f"{EDITOR}languages/<slug:language>/remove/",
        languages.remove_draft_language,
        name="editor-language-remove",
    ),
    path(f"{EDITOR}passages/new/", items.edit_passage, name="editor-passage-new"),
    path(f"{EDITOR}passages/<uuid:passage_id>/", items.edit_passage, name="editor-passage"),
    path(
        f"{EDITOR}passages/<uuid:passage_id>/delete/",
        items.delete_passage,
        name="editor-passage-delete",
    ),
    path(f"{EDITOR}questions/new/", items.edit_question, name="editor-question-new"),
    path(f"{EDITOR}questions/<uuid:question_id>/", items.edit_question, name="editor-question"),
    path(
        f"{EDITOR}questions/<uuid:question_id>/delete/",
        items.delete_question,
        name="editor-question-delete",
    ),
    path(f"{SET}images/<uuid:image_id>/", overview.send_image, name="image"),
    path(f"{SET}import/", import_wizard.start_import, name="import"),
    path(f"{SET}uploads/<str:token>/columns/", import_wizard.map_columns, name="import-columns"),
    path(
        f"{SET}uploads/<str:export_token>/demographics/",
        demographics.map_demographic_columns,
        name="import-demographics",
    ),
    path(
        f"{SET}uploads/<str:export_token>/move/",
        demographics.move_demographic_export,
        name="demographics-move",
    ),
    path(f"{SET}upload/<slug:kind>/", uploads.upload_file, name="upload"),
    path(f"{SET}uploads/<str:token>/", uploads.show_upload, name="uploaded"),
    path(f"{SET}uploads/<str:token>/confirm/", uploads.confirm_upload, name="upload-confirm"),
    path(f"{SET}uploads/<str:token>/discard/", uploads.discard_upload, name="upload-discard"),
    path(f"{SET}sharing/", sharing.manage_sharing, name="sharing"),
    path(f"{SET}sharing/team/", sharing.set_sharing_team, name="sharing-team"),
    path(f"{SET}sharing/<uuid:share_id>/remove/", sharing.remove_share, name="share-remove"),
    path("invitations/<uuid:invitation_id>/", invitations.answer_invitation, name="invitation"),
    path("teams/", teams.list_teams, name="teams"),
    path("teams/new/", teams.create_team, name="team-new"),
    path(TEAM, teams.show_team, name="team"),
    path(f"{TEAM}leave/", teams.leave_team, name="team-leave"),
    path(f"{TEAM}end/", teams.delete_team, name="team-end"),
    path(f"{TEAM}members/<uuid:membership_id>/remove/", teams.remove_member, name="member-remove"),
    path(f"{COLLECTING}settings/", collecting.edit_collection_settings, name="collecting-settings"),
    path(f"{COLLECTING}state/", collecting.set_collection_state, name="collecting-state"),
    path(f"{COLLECTING}close/", collecting.close_collection, name="collecting-close"),
    path(f"{COLLECTING}list/", collecting.list_admissions, name="collecting-listed"),
    path(WRITING, writing.show_writing_project, name="writing"),
    path(f"{WRITING}start/", writing.start_writing_project, name="writing-start"),
    path(f"{WRITING}settings/", writing.edit_project_settings, name="writing-settings"),
    path(f"{WRITING}export/", writing.export_problems, name="writing-export"),
    path(f"{WRITING}people/", writing_people.manage_members, name="writing-people"),
    path(f"{WRITING}people/team/", writing_people.invite_team, name="writing-team"),
    path(
        f"{WRITING}people/<uuid:member_id>/remove/",
        writing_people.remove_member,
        name="writing-remove",
    ),
    path(f"{WRITING}problems/<uuid:problem_id>/", writing.review_problem, name="writing-problem"),
    path(f"{WRITING}candidates/", candidates.show_candidates, name="writing-candidates"),
    path(
        f"{WRITING}candidates/add/", candidates.create_candidate_set, name="writing-candidates-add"
    ),
    path(
        f"{WRITING}candidates/export/",
        candidates.export_candidates,
        name="writing-candidates-export",
    ),
    path(
        f"{WRITING}candidates/<uuid:candidate_id>/",
        candidates.show_candidate,
        name="writing-candidate",
    ),
    path("writing/", participants.list_memberships, name="writing-mine"),
    path(DESK, participants.show_participant_page, name="writing-desk"),
    path(f"{DESK}problems/<uuid:own_id>/", participants.write_problem, name="writing-write"),
    path(
        f"{DESK}problems/<uuid:own_id>/withdraw/",
        participants.withdraw_problem,
        name="writing-withdraw",
    ),
    path(f"{DESK}candidates/<uuid:verify_id>/", candidates.verify_candidate, name="writing-verify"),
    path(f"{DESK}tasks/<uuid:check_id>/", participants.check_problem, name="writing-check"),
]
