"""Addresses of the pages about what people wrote; the site puts them behind its login."""

from django.urls import path

from annotations.desk import (
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
from annotations.desk.writing import people as writing_people
from annotations.desk.writing import requester as writing
from annotations.desk.writing import taking_part

SET = "question-sets/<uuid:set_id>/"
TEAM = "teams/<uuid:team_id>/"
EDITOR = f"{SET}editor/"
WRITING = f"{SET}writing/"
COLLECTING = f"{SET}collecting/"
DESK = "writing/<uuid:project_id>/"

urlpatterns = [
    path("question-sets/", question_sets.question_sets, name="question-sets"),
    path("question-sets/new/", question_sets.new_question_set, name="question-set-new"),
    path(f"{SET}edit/", question_sets.edit_question_set, name="question-set-edit"),
    path(f"{SET}publish/", question_sets.publish, name="question-set-publish"),
    path(f"{SET}passages/", questions.passages, name="passages"),
    path(f"{SET}questions/<uuid:question_id>/", questions.question, name="question"),
    path(EDITOR, overview.editor, name="editor"),
    path(f"{EDITOR}order/", overview.order, name="editor-order"),
    path(f"{EDITOR}texts/", items.texts, name="editor-texts"),
    path(f"{EDITOR}changes/", overview.changes, name="editor-changes"),
    path(f"{EDITOR}languages/", languages.languages, name="editor-languages"),
    path(f"{EDITOR}languages/<slug:language>/", languages.language, name="editor-language"),
    path(
        f"{EDITOR}languages/<slug:language>/remove/",
        languages.remove,
        name="editor-language-remove",
    ),
    path(f"{EDITOR}passages/new/", items.passage, name="editor-passage-new"),
    path(f"{EDITOR}passages/<uuid:passage_id>/", items.passage, name="editor-passage"),
    path(
        f"{EDITOR}passages/<uuid:passage_id>/delete/",
        items.delete_passage,
        name="editor-passage-delete",
    ),
    path(f"{EDITOR}questions/new/", items.question, name="editor-question-new"),
    path(f"{EDITOR}questions/<uuid:question_id>/", items.question, name="editor-question"),
    path(
        f"{EDITOR}questions/<uuid:question_id>/delete/",
        items.delete_question,
        name="editor-question-delete",
    ),
    path(f"{SET}images/<uuid:image_id>/", overview.image, name="image"),
    path(f"{SET}import/", import_wizard.start, name="import"),
    path(f"{SET}uploads/<str:token>/columns/", import_wizard.columns, name="import-columns"),
    path(f"{SET}upload/<slug:kind>/", uploads.upload, name="upload"),
    path(f"{SET}uploads/<str:token>/", uploads.uploaded, name="uploaded"),
    path(f"{SET}uploads/<str:token>/confirm/", uploads.confirm_upload, name="upload-confirm"),
    path(f"{SET}uploads/<str:token>/discard/", uploads.discard_upload, name="upload-discard"),
    path(f"{SET}sharing/", sharing.sharing, name="sharing"),
    path(f"{SET}sharing/team/", sharing.share_with_team, name="sharing-team"),
    path(f"{SET}sharing/<uuid:share_id>/remove/", sharing.remove_share, name="share-remove"),
    path("invitations/<uuid:invitation_id>/", invitations.answer_invitation, name="invitation"),
    path("teams/", teams.teams, name="teams"),
    path("teams/new/", teams.new_team, name="team-new"),
    path(TEAM, teams.team, name="team"),
    path(f"{TEAM}leave/", teams.leave_team, name="team-leave"),
    path(f"{TEAM}end/", teams.delete_team, name="team-end"),
    path(f"{TEAM}members/<uuid:membership_id>/remove/", teams.remove_member, name="member-remove"),
    path(f"{COLLECTING}settings/", collecting.settings, name="collecting-settings"),
    path(f"{COLLECTING}state/", collecting.state, name="collecting-state"),
    path(f"{COLLECTING}close/", collecting.close, name="collecting-close"),
    path(f"{COLLECTING}list/", collecting.listed, name="collecting-listed"),
    path(WRITING, writing.writing, name="writing"),
    path(f"{WRITING}start/", writing.start, name="writing-start"),
    path(f"{WRITING}settings/", writing.settings, name="writing-settings"),
    path(f"{WRITING}export/", writing.export, name="writing-export"),
    path(f"{WRITING}people/", writing_people.people, name="writing-people"),
    path(f"{WRITING}people/team/", writing_people.invite_team, name="writing-team"),
    path(f"{WRITING}people/<uuid:member_id>/remove/", writing_people.remove, name="writing-remove"),
    path(f"{WRITING}problems/<uuid:problem_id>/", writing.problem, name="writing-problem"),
    path("writing/", taking_part.mine, name="writing-mine"),
    path(DESK, taking_part.desk, name="writing-desk"),
    path(f"{DESK}problems/<uuid:own_id>/", taking_part.write, name="writing-write"),
    path(f"{DESK}problems/<uuid:own_id>/withdraw/", taking_part.withdraw, name="writing-withdraw"),
    path(f"{DESK}tasks/<uuid:check_id>/", taking_part.check, name="writing-check"),
]
