"""Walking a harness through its reviews: commits of every risk, and a review that stands where a test needs it."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractUser

from harnesses.core.parsing import spec_from_document
from harnesses.core.spec import HarnessSpec
from harnesses.models import Harness, HarnessLabel, HarnessVersion, Review
from harnesses.selectors import review_get
from harnesses.services import harness_commit, review_decide
from tests.harnesses.samples import sample_document


def policy_spec(rules: str) -> HarnessSpec:
    """A harness whose section is a policy: another text of it is a change that asks for two people."""
    document = sample_document(rules=rules)
    document["prompt"][0]["is_policy"] = True
    return spec_from_document(document)


def commit(harness: Harness, spec: HarnessSpec, author: AbstractUser) -> HarnessVersion:
    return harness_commit(harness=harness, spec=spec, message="Why", acting_user=author).version


def fresh(review: Review) -> Review:
    return review_get(None, review.pk)


def decide(review: Review, by: AbstractUser | None, verdict: str = "approve", **changes: Any) -> Review:
    """Decide on the version under review now."""
    now = fresh(review)
    values: dict[str, Any] = {
        "verdict": verdict,
        "reason": "Because",
        "number": now.version.number,
        "acting_user": by,
        **changes,
    }
    return review_decide(review=now, **values)


def release(harness: Harness, version: HarnessVersion) -> HarnessLabel:
    """What `production` points to, whatever a release would ask."""
    label, _ = HarnessLabel.objects.update_or_create(
        harness=harness, name="production", defaults={"version": version, "is_protected": True}
    )
    return label
