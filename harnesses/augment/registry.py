"""All train families in one table. What is not in it is no transform."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from harnesses.augment import hooks, prompts, renames, skills, tools
from harnesses.augment.transform import Transform, both, split
from harnesses.core.families import FAMILY_TITLES

_SHARE: Final = both("some", "all")
_HEADINGS: Final = ("markdown", "plain", "numbered", "bracketed")

_ALL: Final = (
    Transform(
        "S1",
        1,
        "Rename skills",
        {
            "style": split(("synonym", "opaque", "namespaced"), ("synonym", "opaque", "joined", "prefix")),
            "share": _SHARE,
        },
        renames.rename_skills,
    ),
    Transform("S2", 1, "Paraphrase skill descriptions", {"share": _SHARE}, skills.paraphrase_descriptions),
    Transform(
        "S3",
        1,
        "Rewrite skill bodies",
        {"form": split(("bullets", "words", "terse", "sections"), ("prose", "words", "long", "numbered"))},
        skills.rewrite_bodies,
    ),
    Transform("S4", 1, "Reorder skills", {}, skills.reorder_skills),
    Transform("S5", 1, "Add distractor skills", {"count": both(1, 2, 3)}, skills.distractor_skills),
    Transform(
        "T1",
        1,
        "Rename tools",
        {
            "style": split(
                ("synonym", "opaque", "camel", "namespaced"),
                ("synonym", "opaque", "pascal", "screaming", "kebab", "prefix"),
            ),
            "share": _SHARE,
        },
        renames.rename_tools,
    ),
    Transform("T2", 1, "Paraphrase tool and parameter descriptions", {"share": _SHARE}, tools.paraphrase_tools),
    Transform(
        "T3",
        1,
        "Rename parameters",
        {
            "style": split(("synonym", "opaque", "camel"), ("synonym", "opaque", "pascal", "screaming", "prefix")),
            "share": _SHARE,
        },
        renames.rename_tool_parameters,
    ),
    Transform(
        "T4", 1, "Reorder tools and parameters", {"what": both("tools", "parameters", "both")}, tools.reorder_tools
    ),
    Transform(
        "T5",
        1,
        "Recode listed values",
        {"style": split(("letters", "upper", "synonym"), ("numbers", "camel", "synonym")), "share": _SHARE},
        tools.recode_values,
    ),
    Transform(
        "T6",
        1,
        "Add or drop optional parameters",
        {"what": both("add", "add", "drop"), "count": both(1, 2), "share": _SHARE},
        tools.optional_parameters,
    ),
    Transform("T7", 1, "Add distractor tools", {"count": both(3, 10)}, tools.distractor_tools),
    Transform("T8", 1, "Strip descriptions", {"share": _SHARE}, tools.strip_descriptions),
    Transform(
        "T9",
        1,
        "Rename result keys",
        {"style": split(("synonym", "camel"), ("synonym", "pascal", "kebab", "screaming")), "share": _SHARE},
        renames.rename_result_keys,
    ),
    Transform("P1", 1, "Reorder prompt sections", {}, prompts.reorder_sections),
    Transform("P2", 1, "Restyle headings", {"style": both(*_HEADINGS)}, prompts.restyle_headings),
    Transform(
        "P3",
        1,
        "Paraphrase prompt sections",
        {"rules": both("kept")},
        prompts.paraphrase_sections,
        {"rules": ("reviewed",)},
    ),
    Transform("P4", 1, "Persona and tone", {"place": both("own_section", "in_section")}, prompts.set_persona),
    Transform("P5", 1, "Verbosity", {"length": both("terse", "long")}, prompts.set_verbosity, {"length": ("plain",)}),
    Transform(
        "H1",
        1,
        "Rename hooks",
        {"style": split(("synonym", "opaque"), ("synonym", "opaque", "prefix")), "share": _SHARE},
        renames.rename_hooks,
    ),
    Transform("H2", 1, "Reword hook texts", {"share": _SHARE}, hooks.reword_hooks),
    Transform("H3", 1, "Move hook texts", {"share": _SHARE}, hooks.move_texts),
    Transform(
        "H4",
        1,
        "Wrap hook texts",
        {"wrapper": both("none", "tag", "bracket", "quote"), "share": _SHARE},
        hooks.wrap_texts,
    ),
    Transform(
        "H5", 1, "Reorder hooks, or add one without effect", {"what": both("order", "idle_hook")}, hooks.reorder_hooks
    ),
)

TRANSFORMS: Final[Mapping[str, Transform]] = MappingProxyType({item.id: item for item in _ALL})
"""Every train family by its id, which is also the family that risk knows it by."""
assert len(TRANSFORMS) == len(_ALL)
assert set(TRANSFORMS) <= set(FAMILY_TITLES)
