"""What the documentation tells people to type exists."""

from __future__ import annotations

import re
from pathlib import Path

from django.core.management import get_commands

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_SHELL_BLOCK = re.compile(r"^```(?:sh|shell|bash|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_TARGET = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)
_INLINE = re.compile(r"`(make [a-z][^`]*|(?:python )?manage\.py [a-z][^`]*)`")


def _commands() -> list[tuple[str, str]]:
    """Every command of shell blocks and inline code, with the document it stands in."""
    found = []
    for document in DOCUMENTS:
        text = document.read_text()
        lines = [line for block in _SHELL_BLOCK.findall(text) for line in block.splitlines()]
        found += [(document.name, line.strip().removeprefix("$ ")) for line in [*lines, *_INLINE.findall(text)]]
    return found


COMMANDS = _commands()
MAKE = sorted({command for _, command in COMMANDS if command.startswith("make ")})
MANAGE = sorted({command for _, command in COMMANDS if re.match(r"(\.venv/bin/)?(python )?manage\.py ", command)})


def test_there_are_commands_to_check():
    assert MAKE


def test_every_make_target_that_is_named_exists():
    targets = set(_TARGET.findall((ROOT / "Makefile").read_text()))
    for command in MAKE:
        words = [word for word in command.split("#")[0].split()[1:] if "=" not in word]
        assert set(words[:1]) <= targets, f"{command}: no such target"


def test_every_management_command_that_is_named_exists():
    names = {command.split("manage.py ", 1)[1].split()[0] for command in MANAGE}
    assert names - set(get_commands()) == set()


def test_every_target_of_the_makefile_that_people_use_is_described():
    text = (ROOT / "Makefile").read_text()
    phony = set(re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE).group(1).split())  # type: ignore[union-attr]
    described = set(re.findall(r"^([a-z]+):.*## ", text, re.MULTILINE))
    assert phony - described == {"base", "dev", "browser"}


def test_every_variable_that_is_read_stands_in_the_example_file():
    pattern = re.compile(r'(?:configured|read|read_bool|read_list)\(\s*"([A-Z_]+)"|_port\("([A-Z_]+)"')
    sources = [*(ROOT / "console").rglob("*.py"), *(ROOT / "inference").rglob("*.py")]
    read = {name for path in sources for pair in pattern.findall(path.read_text()) for name in pair if name}
    listed = set(re.findall(r"^# ?([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert read - listed == set()
