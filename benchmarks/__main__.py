"""All benchmarks, one after the other; the figures go to `docs/performance.md` with command, machine and date."""

from __future__ import annotations

from pathlib import Path

from benchmarks import core, editor, grading, pages, reply_path, resolve, variants

TARGET = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
HEAD = """# Performance

Written by `make bench` beside a running `make up`; each table names its machine and day. Both figures of a ratio come from one run.
"""


def main() -> None:
    """Run all and write the page."""
    sections = [
        ("Rules", "core", core.main()),
        ("Variants", "variants", variants.main()),
        ("Tasks and grading", "grading", grading.main()),
        ("Editor", "editor", editor.main()),
        ("Pages at size", "pages", pages.main()),
        ("Labels", "resolve", resolve.main()),
        ("Reply path", "reply_path", reply_path.main()),
    ]
    texts = [f"## {title} (`python -m benchmarks.{module}`)\n\n{table}\n" for title, module, table in sections]
    TARGET.write_text(f"{HEAD}\n" + "\n".join(texts))


if __name__ == "__main__":
    main()
