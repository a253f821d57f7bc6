"""Writes to teams: people who are given a role together. Every change of who belongs to one is audited, name by name."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.contrib.auth.models import AbstractUser
from django.db import IntegrityError, transaction

from ledger import ports
from ledger.core.roles import ROLE_TITLES, Permission, roles_with
from ledger.core.text import SLUG_PATTERN
from ledger.errors import Conflict, Denied, FieldError, Invalid, NotFound
from ledger.models import Team, User
from ledger.services.audit import AuditObject, AuditWriter, checked_text

MAX_TEAM_NAME_CHARS = 120
MAX_TEAM_MEMBERS = 500
RESERVED_TEAM_SLUGS = frozenset({"new"})


@transaction.atomic
def team_create(*, slug: str, name: str, members: Collection[str] = (), acting_user: AbstractUser | None) -> Team:
    """Make a team of these people (user names). Raises Invalid, Conflict, Denied."""
    _require_manage(acting_user)
    if not SLUG_PATTERN.fullmatch(slug) or slug in RESERVED_TEAM_SLUGS:
        mend = "Use 1 to 64 lower-case letters, digits and single hyphens, such as night-shift."
        raise Invalid.field("slug", f"{slug[:80]!a} cannot be a slug.", mend, code="bad_slug")
    name = checked_text("name", name, max_chars=MAX_TEAM_NAME_CHARS, is_required=True)
    people = _people(members)
    try:
        with transaction.atomic():
            team = Team.objects.create(slug=slug, name=name)
    except IntegrityError as error:
        raise Conflict(f'There is a team "{slug}" already. Choose another short name.', code="slug_taken") from error
    team.members.set(people)
    _audit(team, "team.created", acting_user, after={"slug": slug, "name": name, "members": _names(people)})
    return team


@transaction.atomic
def team_update(
    *,
    team: Team,
    name: str | None = None,
    members: Collection[str] | None = None,
    add: Collection[str] = (),
    remove: Collection[str] = (),
    acting_user: AbstractUser | None,
) -> Team:
    """Rename a team, make it of exactly these `members` (None: as they are), then `add` and `remove` people; all by user name.

    Raises Invalid, Denied, NotFound.
    """
    _require_manage(acting_user)
    locked = team_hold(team=team)
    before: dict[str, object] = {}
    after: dict[str, object] = {}
    if name is not None:
        name = checked_text("name", name, max_chars=MAX_TEAM_NAME_CHARS, is_required=True)
        if name != locked.name:
            before["name"], after["name"] = locked.name, name
            locked.name = name
            locked.save(update_fields=["name"])
    current = list(locked.members.order_by("username"))
    kept = current if members is None else _people(members)
    people = {person.pk: person for person in [*kept, *_people(add)] if person.username not in set(remove)}
    if set(people) != {person.pk for person in current}:
        if len(people) > MAX_TEAM_MEMBERS:
            raise _too_many(len(people))
        before["members"], after["members"] = _names(current), sorted(_names(people.values()))
        locked.members.set(people.values())
    if after:
        _audit(locked, "team.updated", acting_user, before=before, after=after)
    return locked


@transaction.atomic
def team_delete(*, team: Team, acting_user: AbstractUser | None, reason: str = "") -> None:
    """Remove a team. Raises Denied, NotFound, and Conflict where it still has a role somewhere: nobody loses one unseen."""
    _require_manage(acting_user)
    locked = Team.objects.select_for_update().filter(pk=team.pk).first()
    if locked is None:
        raise NotFound(f"There is no team {team.slug!a}.")
    if uses := ports.team_uses(locked.pk):
        shown = ", ".join(uses[:5]) + (f" and {len(uses) - 5} more" if len(uses) > 5 else "")
        raise Conflict(
            f'The team "{locked.name}" still has a role in {shown}. Take it out there first, so that each place shows who left.',
            code="team_in_use",
        )
    before: dict[str, object] = {
        "slug": locked.slug,
        "name": locked.name,
        "members": _names(locked.members.order_by("username")),
    }
    _audit(locked, "team.deleted", acting_user, before=before, reason=reason)
    locked.delete()


def team_hold(*, team: Team) -> Team:
    """Keep a team from being deleted until the transaction at work ends: for whoever gives it a role. Raises NotFound."""
    held = Team.objects.select_for_update(no_key=True).filter(pk=team.pk).first()
    if held is None:
        raise NotFound(f"There is no team {team.slug!a}.")
    return held


def _require_manage(acting_user: AbstractUser | None) -> None:
    if acting_user is None or acting_user.has_perm(Permission.MANAGE_TEAMS):
        return
    roles = ", ".join(sorted(ROLE_TITLES[role] for role in roles_with(Permission.MANAGE_TEAMS)))
    raise Denied(f"You may not make or change teams. It takes one of these roles: {roles}.")


def _people(usernames: Collection[str]) -> list[User]:
    """The active users of these names. Raises Invalid, naming each that is none."""
    wanted = sorted(set(usernames))
    if len(wanted) > MAX_TEAM_MEMBERS:
        raise _too_many(len(wanted))
    storable = [name for name in wanted if "\x00" not in name]
    people = list(User.objects.filter(username__in=storable, is_active=True).order_by("username"))
    known = {person.username for person in people}
    if unknown := [name for name in wanted if name not in known]:
        errors = [
            FieldError("members", f"There is no active user {name[:80]!a}.", "Check the user name.", "unknown_user")
            for name in unknown[:20]
        ]
        raise Invalid(" ".join(error.message for error in errors), field_errors=errors)
    return people


def _too_many(count: int) -> Invalid:
    message = f"{count:,} people are too many; the limit is {MAX_TEAM_MEMBERS:,}."
    return Invalid.field("members", message, "Make more than one team.", code="too_many")


def _names(people: Iterable[User]) -> list[str]:
    return [person.username for person in people]


def _audited(team: Team) -> AuditObject:
    return AuditObject("team", team.pk, team.slug)


_audit = AuditWriter(_audited)
