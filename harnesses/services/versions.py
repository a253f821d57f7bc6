"""All writes to harnesses: make one, commit a version, import, archive.

A version is immutable; numbers have no gaps, because they are given while the harness's row is locked; content that is already
the newest version makes no new one. Every write leaves an audit entry in its own transaction.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from django.contrib.auth.models import AbstractUser
from django.db import IntegrityError, transaction
from django.utils import timezone

from harnesses import policy, ports
from harnesses.core.diff import HarnessDiff, diff_specs
from harnesses.core.membership import HarnessAction, HarnessRole
from harnesses.core.risk import RiskReport, assess
from harnesses.core.spec import HarnessSpec
from harnesses.core.validation import Finding
from harnesses.errors import InvalidHarness
from harnesses.formats.detect import import_upload
from harnesses.formats.outcome import FormatError, ImportResult
from harnesses.models import Harness, HarnessMember, HarnessVersion
from harnesses.selectors import SLUG_PATTERN, catalogue_for, spec_findings, version_spec
from harnesses.services.reviews import review_follow_commit
from ledger.errors import Conflict, FieldError, Invalid
from ledger.services import AuditObject, AuditWriter, actor_name, checked_text

RESERVED_SLUGS = frozenset({"new", "import", "compare"})
MAX_MESSAGE_CHARS = 2_000
MAX_DESCRIPTION_CHARS = 4_000
MAX_FILENAME_CHARS = 255


@dataclass(frozen=True)
class CommitResult:
    """What a commit gave. `is_new` is False where the content already was the newest version. `findings` holds no errors."""

    version: HarnessVersion
    is_new: bool
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class ImportOutcome:
    """A committed import. `notes` say what was matched, guessed or left out; `base_version` is what it was read against."""

    commit: CommitResult
    notes: tuple[str, ...]
    base_version: HarnessVersion | None


@dataclass(frozen=True)
class ImportPreview:
    """What an import would do. `findings` may hold errors, which a commit would refuse; `diff` is against the newest version."""

    spec: HarnessSpec
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]
    base_version: HarnessVersion | None
    diff: HarnessDiff
    risk: RiskReport

    @property
    def is_unchanged(self) -> bool:
        return self.base_version is not None and self.diff.is_empty

    @property
    def has_errors(self) -> bool:
        return any(finding.severity == "error" for finding in self.findings)


@transaction.atomic
def harness_create(
    *, slug: str, title: str, world: str, description: str = "", acting_user: AbstractUser | None
) -> Harness:
    """Make an empty harness, with its maker as admin; its content comes with the first commit. Raises Invalid, Conflict, Denied."""
    policy.require_create(acting_user)
    if not SLUG_PATTERN.fullmatch(slug) or slug in RESERVED_SLUGS:
        mend = "Use 1 to 64 lower-case letters, digits and single hyphens, such as autumn-sale."
        raise Invalid.field("slug", f"{slug[:80]!a} cannot be a slug.", mend, code="bad_slug")
    if world not in ports.world_names():
        mend = f"Choose among {', '.join(ports.world_names()) or 'none (no world is registered)'}."
        raise Invalid.field("world", f"There is no world {world[:80]!a}.", mend, code="unknown_world")
    try:
        with transaction.atomic():
            harness = Harness.objects.create(
                slug=slug,
                title=checked_text("title", title, max_chars=120, is_required=True),
                description=checked_text("description", description, max_chars=MAX_DESCRIPTION_CHARS),
                world=world,
                created_by_id=acting_user.pk if acting_user else None,
            )
    except IntegrityError as error:
        raise Conflict(f'There is a harness "{slug}" already. Choose another slug.', code="slug_taken") from error
    if acting_user is not None:
        HarnessMember.objects.create(harness=harness, user_id=acting_user.pk, role=HarnessRole.ADMIN)
    harness_audit(harness, "harness.created", acting_user, after={"title": harness.title, "world": world})
    return harness


def harness_commit(
    *,
    harness: Harness,
    spec: HarnessSpec,
    message: str,
    acting_user: AbstractUser | None,
    source: str = HarnessVersion.Source.API,
    expected_number: int | None = None,
) -> CommitResult:
    """Make `spec` the newest version, unless it is that already.

    `expected_number` is the version the author started from (0: none yet); if another was committed meanwhile, Conflict names
    it. Content equal to the newest version is never a conflict, so that a repeated request is harmless. Raises
    InvalidHarness (with all findings), Invalid, Conflict, Denied.
    """
    policy.require(acting_user, HarnessAction.EDIT, harness)
    message = checked_text("message", message, max_chars=MAX_MESSAGE_CHARS)
    document = document_text(spec)
    findings = spec_findings(spec, harness.world)
    if any(finding.severity == "error" for finding in findings):
        raise InvalidHarness(findings)
    with transaction.atomic():
        locked = Harness.objects.select_for_update(no_key=True).get(pk=harness.pk)
        refuse_archived(locked)
        newest = locked.versions.select_related("harness").order_by("-number").first()
        if newest is not None and newest.spec_hash == spec.spec_hash:
            return CommitResult(version=newest, is_new=False, findings=findings)
        _check_expected(locked, expected_number)
        version = HarnessVersion(
            harness=locked,
            number=locked.version_count + 1,
            spec_hash=spec.spec_hash,
            document=document,
            schema_version=spec.schema_version,
            message=message,
            author_id=acting_user.pk if acting_user else None,
            author_name=actor_name(acting_user),
            parent=newest,
            source=source,
            warning_count=len(findings),
        )
        version.save(force_insert=True)
        locked.version_count = version.number
        locked.save(update_fields=["version_count"])
        harness_audit(
            locked,
            "harness.committed",
            acting_user,
            reason=message,
            before={"number": newest.number, "spec_hash": newest.spec_hash} if newest else None,
            after={"number": version.number, "spec_hash": version.spec_hash, "source": source},
        )
        review_follow_commit(version=version, acting_user=acting_user)
    harness.version_count = locked.version_count
    return CommitResult(version=version, is_new=True, findings=findings)


def document_text(spec: HarnessSpec) -> str:
    """The spec as the JSON text that is stored, keys in the author's order. Raises Invalid for text no database can keep."""
    text = json.dumps(spec.document(), ensure_ascii=False, allow_nan=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        broken = text[error.start : error.start + 1]
        message = f"The harness holds a broken character (U+{ord(broken):04X}, half of a pair)."
        raise Invalid.field("spec", message, "Remove it.", code="broken_character") from error
    return text


def harness_import(
    *, harness: Harness, filename: str, data: bytes, message: str, acting_user: AbstractUser | None
) -> ImportOutcome:
    """Read an upload in any known form and commit it. Importing what is there already changes nothing.

    Components are matched with those of the newest version, so that a renamed tool stays the same tool. Raises Invalid with
    every problem found in the file, InvalidHarness, Denied, Conflict if somebody commits meanwhile.
    """
    policy.require(acting_user, HarnessAction.EDIT, harness)
    base_version, result = _read_upload(harness, filename, data)
    commit = harness_commit(
        harness=harness,
        spec=result.spec,
        message=message or f"Import {checked_text('filename', filename, max_chars=MAX_FILENAME_CHARS)}",
        acting_user=acting_user,
        source=HarnessVersion.Source.IMPORT,
        expected_number=base_version.number if base_version else 0,
    )
    return ImportOutcome(commit=commit, notes=tuple(result.notes), base_version=base_version)


def harness_import_preview(*, harness: Harness, filename: str, data: bytes) -> ImportPreview:
    """What `harness_import` would do, without writing. Raises Invalid where the file cannot be read."""
    base_version, result = _read_upload(harness, filename, data)
    base_spec = version_spec(base_version) if base_version else HarnessSpec()
    document_text(result.spec)
    return ImportPreview(
        spec=result.spec,
        notes=tuple(result.notes),
        findings=spec_findings(result.spec, harness.world),
        base_version=base_version,
        diff=diff_specs(base_spec, result.spec),
        risk=assess(base_spec, result.spec, catalogue_for(harness.world)),
    )


def _read_upload(harness: Harness, filename: str, data: bytes) -> tuple[HarnessVersion | None, ImportResult]:
    filename = checked_text("filename", filename, max_chars=MAX_FILENAME_CHARS)
    base_version = harness.versions.select_related("harness").order_by("-number").first()
    base_spec = version_spec(base_version) if base_version else None
    try:
        return base_version, import_upload(filename, data, base_spec, catalogue_for(harness.world))
    except FormatError as error:
        errors = [FieldError(problem.where or "file", problem.message, code="bad_format") for problem in error.problems]
        raise Invalid(str(error), code="bad_format", title="The file is no harness", field_errors=errors) from error


@transaction.atomic
def harness_archive(*, harness: Harness, acting_user: AbstractUser | None, reason: str = "") -> Harness:
    """Put a harness away: it stays readable, and takes no commits. Archiving twice is harmless. Raises Denied."""
    policy.require(acting_user, HarnessAction.MANAGE, harness)
    locked = Harness.objects.select_for_update(no_key=True).get(pk=harness.pk)
    if locked.archived_at is None:
        locked.archived_at = timezone.now()
        locked.save(update_fields=["archived_at"])
        harness_audit(locked, "harness.archived", acting_user, reason=reason)
    return locked


@transaction.atomic
def harness_unarchive(*, harness: Harness, acting_user: AbstractUser | None, reason: str = "") -> Harness:
    """Take an archived harness back into use. Raises Denied."""
    policy.require(acting_user, HarnessAction.MANAGE, harness)
    locked = Harness.objects.select_for_update(no_key=True).get(pk=harness.pk)
    if locked.archived_at is not None:
        locked.archived_at = None
        locked.save(update_fields=["archived_at"])
        harness_audit(locked, "harness.unarchived", acting_user, reason=reason)
    return locked


def refuse_archived(harness: Harness) -> None:
    """Raises Conflict for a harness that was put away. Ask it with the harness's row locked."""
    if harness.is_archived:
        detail = f'The harness "{harness.slug}" is archived. Take it back into use before you change it.'
        raise Conflict(detail, code="archived")


def _check_expected(harness: Harness, expected_number: int | None) -> None:
    if expected_number is None or expected_number == harness.version_count:
        return
    newest = f"version {harness.version_count}" if harness.version_count else "no version yet"
    raise Conflict(
        f"You started from version {expected_number}, but the newest of {harness.slug} is {newest}. "
        "Look at what changed, then commit again on top of it.",
        code="version_conflict",
    )


def _audited(harness: Harness) -> AuditObject:
    return AuditObject("harness", harness.pk, harness.slug)


harness_audit = AuditWriter(_audited)
"""Writes the audit of a harness, its versions included."""
