"""Harnesses with reviewed versions and labels, made by walking the services as people do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import AbstractUser

from harnesses.models import Harness, HarnessVersion, Review
from harnesses.services import harness_commit, label_move, review_decide, review_request
from tests.harnesses.samples import sample_spec

REASON = "It was tried on staging."


def commit(harness: Harness, author: AbstractUser, rules: str) -> HarnessVersion:
    """The next version: the same harness with other rules, a change that asks for one reviewer."""
    spec = sample_spec(rules=rules)
    return harness_commit(harness=harness, spec=spec, message=rules, acting_user=author).version


def approve(version: HarnessVersion, requester: AbstractUser, *reviewers: AbstractUser) -> Review:
    """Request a review of a version and let these people approve it."""
    review = review_request(version=version, message="Please look.", reviewers=(), acting_user=requester)
    for person in reviewers:
        review = review_decide(review=review, verdict="approve", reason="", number=version.number, acting_user=person)
    return review


def release(version: HarnessVersion, acting_user: AbstractUser, **changes: Any) -> Any:
    """Move `production` to a version, with everything that takes."""
    values: dict[str, Any] = {
        "harness": version.harness,
        "name": "production",
        "version": version,
        "reason": REASON,
        "confirm": "production",
        "acting_user": acting_user,
    }
    return label_move(**{**values, **changes})


def three_versions(
    harness: Harness, author: AbstractUser, reviewer: AbstractUser, second: AbstractUser
) -> list[HarnessVersion]:
    """Three versions: 1 is in production, approved by both; 2 is approved for it by the first; 3 is not."""
    made = [commit(harness, author, rules) for rules in ("One.", "Two.", "Three.")]
    approve(made[0], author, reviewer, second)
    approve(made[1], author, reviewer)
    release(made[0], reviewer)
    return made


MakeReleased = Callable[..., HarnessVersion]
