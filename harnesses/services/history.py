"""Writes that take a version from somewhere else in history: revert to an earlier one, fork a harness, merge another one in.

None of them changes what is there: a revert is a new version, a fork a new harness, a merge a draft to look at.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import AbstractUser
from django.db import transaction

from harnesses import policy
from harnesses.core.membership import HarnessAction
from harnesses.core.merge import MergeResult, merge_specs
from harnesses.core.spec import HarnessSpec
from harnesses.models import Harness, HarnessDraft, HarnessVersion
from harnesses.selectors.history import common_ancestor
from harnesses.selectors.versions import version_spec
from harnesses.services.drafts import draft_open
from harnesses.services.versions import CommitResult, harness_audit, harness_commit, harness_create
from ledger.errors import Invalid


@dataclass(frozen=True)
class MergedDraft:
    """A draft with another harness's changes in it. `ancestor` is the version both come from; None: they have none in common."""

    draft: HarnessDraft
    merge: MergeResult
    ancestor: HarnessVersion | None


def version_revert(
    *, version: HarnessVersion, message: str, acting_user: AbstractUser | None, expected_number: int | None = None
) -> CommitResult:
    """Make the content of an earlier version the newest one, as a new version. Raises InvalidHarness, Conflict, Denied.

    `expected_number` is the newest version that was looked at. Reverting to what is the newest content changes nothing.
    """
    return harness_commit(
        harness=version.harness,
        spec=version_spec(version),
        message=message.strip() or f"Revert to version {version.number}",
        acting_user=acting_user,
        source=HarnessVersion.Source.EDITOR,
        expected_number=expected_number,
    )


@transaction.atomic
def harness_fork(
    *, version: HarnessVersion, slug: str, title: str, acting_user: AbstractUser | None, description: str = ""
) -> Harness:
    """Make a harness of its own that begins with this version's content, and is open to no more people than its origin is.

    Raises Invalid, InvalidHarness, Conflict (slug taken), NotFound, Denied.
    """
    origin = version.harness
    policy.require(acting_user, HarnessAction.VIEW, origin)
    fork = harness_create(
        slug=slug,
        title=title,
        description=description or origin.description,
        world=origin.world,
        acting_user=acting_user,
    )
    fork.forked_from = version
    fork.access = origin.access
    fork.save(update_fields=["forked_from", "access"])
    harness_audit(fork, "harness.forked", acting_user, after={"from": str(version), "access": fork.access})
    harness_commit(
        harness=fork,
        spec=version_spec(version),
        message=f"Fork of {origin.slug}, version {version.number}",
        acting_user=acting_user,
        source=HarnessVersion.Source.EDITOR,
        expected_number=0,
    )
    return fork


@transaction.atomic
def harness_merge_from(
    *, harness: Harness, version: HarnessVersion, acting_user: AbstractUser | None, name: str = ""
) -> MergedDraft:
    """Open a draft of `harness` that holds the changes which led to a version of another one (its fork, or its origin).

    What both changed, each in its own way, stays as it is in `harness`; the conflicts say so. Raises Invalid for a version of the
    same harness, Conflict for an archived one, NotFound, Denied.
    """
    policy.require(acting_user, HarnessAction.EDIT, harness)
    policy.require(acting_user, HarnessAction.VIEW, version.harness)
    if version.harness_id == harness.pk:
        mend = "To go back to an earlier version, revert to it."
        raise Invalid.field("slug", "A harness is merged with another one, not with itself.", mend, code="same_harness")
    newest = harness.versions.select_related("harness").order_by("-number").first()
    ancestor = common_ancestor(newest, version) if newest else None
    merge = merge_specs(
        version_spec(ancestor) if ancestor else HarnessSpec(),
        version_spec(newest) if newest else HarnessSpec(),
        version_spec(version),
    )
    draft = draft_open(
        harness=harness,
        from_version=newest,
        name=name or f"Merge of {version.harness.slug}, version {version.number}",
        document=merge.spec.document(),
        merged_from=version,
        acting_user=acting_user,
    )
    return MergedDraft(draft=draft, merge=merge, ancestor=ancestor)
