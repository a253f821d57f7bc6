"""Addresses of the harness resources, under `/api/v1/`. Every one is served with and without a slash at its end."""

from __future__ import annotations

from django.urls import re_path

from harnesses.api import (
    components,
    drafts,
    drafts_unsaved,
    examples,
    history,
    labels,
    members,
    releases,
    reviews,
    skill_files,
    views,
)
from harnesses.api.resolve import ResolveView

app_name = "harnesses_api"

_HARNESS = r"^harnesses/(?P<slug>[^/]+)"
_VERSION = rf"{_HARNESS}/versions/(?P<number>[^/]+)"
_DRAFT = rf"{_HARNESS}/drafts/(?P<draft_id>[^/]+)"
_REVIEW = r"^reviews/(?P<review_id>[^/]+)"
_THREAD = rf"{_REVIEW}/threads/(?P<thread_id>[^/]+)"
_LABEL = rf"{_HARNESS}/labels/(?P<name>[^/]+)"

urlpatterns = [
    re_path(r"^harnesses/?$", views.HarnessListView.as_view(), name="harnesses"),
    re_path(rf"{_HARNESS}/?$", views.HarnessView.as_view(), name="harness"),
    re_path(rf"{_HARNESS}/versions/?$", views.VersionListView.as_view(), name="versions"),
    re_path(rf"{_VERSION}/?$", views.VersionView.as_view(), name="version"),
    re_path(rf"{_VERSION}/export/?$", views.VersionExportView.as_view(), name="export"),
    re_path(rf"{_HARNESS}/import/?$", views.ImportView.as_view(), name="import"),
    re_path(rf"{_HARNESS}/import/preview/?$", views.ImportPreviewView.as_view(), name="import-preview"),
    re_path(rf"{_HARNESS}/compare/?$", history.CompareView.as_view(), name="compare"),
    re_path(rf"{_HARNESS}/archive/?$", members.ArchiveView.as_view(), name="archive"),
    re_path(rf"{_HARNESS}/unarchive/?$", members.UnarchiveView.as_view(), name="unarchive"),
    re_path(rf"{_HARNESS}/members/?$", members.MemberListView.as_view(), name="members"),
    re_path(rf"{_HARNESS}/members/(?P<kind>user|team)/(?P<name>[^/]+)/?$", members.MemberView.as_view(), name="member"),
    re_path(rf"{_VERSION}/revert/?$", history.VersionRevertView.as_view(), name="revert"),
    re_path(rf"{_VERSION}/blame/?$", history.VersionBlameView.as_view(), name="blame"),
    re_path(rf"{_HARNESS}/fork/?$", history.HarnessForkView.as_view(), name="fork"),
    re_path(rf"{_HARNESS}/merge-from/?$", history.HarnessMergeFromView.as_view(), name="merge-from"),
    re_path(rf"{_HARNESS}/operations/?$", components.OperationListView.as_view(), name="operations"),
    re_path(
        rf"{_HARNESS}/operations/(?P<name>[^/]+)/tool/?$", components.OperationToolView.as_view(), name="operation-tool"
    ),
    re_path(r"^skill-templates/?$", components.SkillTemplateListView.as_view(), name="skill-templates"),
    re_path(rf"{_HARNESS}/drafts/?$", drafts.DraftListView.as_view(), name="drafts"),
    re_path(rf"{_DRAFT}/?$", drafts.DraftView.as_view(), name="draft"),
    re_path(rf"{_DRAFT}/check/?$", drafts_unsaved.DraftCheckView.as_view(), name="draft-check"),
    re_path(rf"{_DRAFT}/example-result/?$", examples.ExampleResultView.as_view(), name="draft-example-result"),
    re_path(rf"{_DRAFT}/skill-file/?$", skill_files.SkillFileView.as_view(), name="draft-skill-file"),
    re_path(rf"{_DRAFT}/prompt/?$", drafts_unsaved.DraftPromptView.as_view(), name="draft-prompt"),
    re_path(rf"{_DRAFT}/apply/?$", drafts_unsaved.DraftApplyView.as_view(), name="draft-apply"),
    re_path(rf"{_DRAFT}/merge/?$", drafts_unsaved.DraftMergeView.as_view(), name="draft-merge"),
    re_path(rf"{_DRAFT}/mentions/?$", drafts_unsaved.DraftMentionsView.as_view(), name="draft-mentions"),
    re_path(rf"{_DRAFT}/search/?$", drafts_unsaved.DraftSearchView.as_view(), name="draft-search"),
    re_path(rf"{_DRAFT}/compare/?$", drafts_unsaved.DraftCompareView.as_view(), name="draft-compare"),
    re_path(rf"{_DRAFT}/commit/?$", drafts.DraftCommitView.as_view(), name="draft-commit"),
    re_path(rf"{_DRAFT}/discard/?$", drafts.DraftDiscardView.as_view(), name="draft-discard"),
    re_path(rf"{_DRAFT}/reopen/?$", drafts.DraftReopenView.as_view(), name="draft-reopen"),
    re_path(rf"{_DRAFT}/revisions/?$", drafts.DraftRevisionListView.as_view(), name="draft-revisions"),
    re_path(rf"{_DRAFT}/restore/?$", drafts.DraftRestoreView.as_view(), name="draft-restore"),
    re_path(rf"{_DRAFT}/rebase/?$", drafts.DraftRebaseView.as_view(), name="draft-rebase"),
    re_path(rf"{_DRAFT}/presence/?$", drafts.DraftPresenceView.as_view(), name="draft-presence"),
    re_path(rf"{_HARNESS}/reviews/?$", reviews.HarnessReviewListView.as_view(), name="harness-reviews"),
    re_path(rf"{_HARNESS}/reviewers/?$", reviews.ReviewersView.as_view(), name="reviewers"),
    re_path(r"^reviews/?$", reviews.ReviewListView.as_view(), name="reviews"),
    re_path(rf"{_REVIEW}/?$", reviews.ReviewView.as_view(), name="review"),
    re_path(rf"{_REVIEW}/decisions/?$", reviews.DecisionView.as_view(), name="review-decisions"),
    re_path(rf"{_REVIEW}/withdraw/?$", reviews.WithdrawView.as_view(), name="review-withdraw"),
    re_path(rf"{_REVIEW}/renew/?$", reviews.RenewView.as_view(), name="review-renew"),
    re_path(rf"{_REVIEW}/threads/?$", reviews.ThreadListView.as_view(), name="review-threads"),
    re_path(rf"{_THREAD}/comments/?$", reviews.CommentView.as_view(), name="review-comments"),
    re_path(rf"{_THREAD}/resolve/?$", reviews.ResolveView.as_view(), name="review-resolve"),
    re_path(rf"{_THREAD}/reopen/?$", reviews.ReopenView.as_view(), name="review-reopen"),
    re_path(rf"{_HARNESS}/resolve/?$", ResolveView.as_view(), name="resolve"),
    re_path(rf"{_HARNESS}/labels/?$", labels.LabelListView.as_view(), name="labels"),
    re_path(rf"{_LABEL}/?$", labels.LabelView.as_view(), name="label"),
    re_path(rf"{_LABEL}/preview/?$", labels.LabelPreviewView.as_view(), name="label-preview"),
    re_path(rf"{_LABEL}/undo/?$", labels.LabelUndoView.as_view(), name="label-undo"),
    re_path(rf"{_LABEL}/moves/?$", labels.LabelMovesView.as_view(), name="label-moves"),
    re_path(rf"{_HARNESS}/releases/?$", releases.ReleaseListView.as_view(), name="releases"),
    re_path(rf"{_HARNESS}/releases/(?P<release_id>[^/]+)/?$", releases.ReleaseView.as_view(), name="release"),
    re_path(
        rf"{_HARNESS}/releases/(?P<release_id>[^/]+)/cancel/?$",
        releases.ReleaseCancelView.as_view(),
        name="release-cancel",
    ),
    re_path(rf"{_HARNESS}/freezes/?$", releases.FreezeListView.as_view(), name="harness-freezes"),
    re_path(
        rf"{_HARNESS}/freezes/(?P<freeze_id>[^/]+)/cancel/?$",
        releases.FreezeCancelView.as_view(),
        name="harness-freeze-cancel",
    ),
    re_path(r"^freezes/?$", releases.FreezeListView.as_view(), name="freezes"),
    re_path(r"^freezes/(?P<freeze_id>[^/]+)/cancel/?$", releases.FreezeCancelView.as_view(), name="freeze-cancel"),
]
