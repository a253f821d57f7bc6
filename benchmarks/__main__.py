"""All benchmarks, one after the other; the figures go to `docs/performance.md` with command, machine and date."""

from __future__ import annotations

from pathlib import Path

from benchmarks import core, editor, reply_path, resolve

TARGET = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
HEAD = """# Performance

Written by `make bench` beside a running `make up`; each table names its machine and day. Both figures of a ratio come from one run.
"""


def main() -> None:
    """Run all and write the page."""
    rules = core.main()
    typing = editor.main()
    labels = resolve.main()
    replies = reply_path.main()
    TARGET.write_text(
        f"{HEAD}\n## Rules (`python -m benchmarks.core`)\n\n{rules}\n\n"
        f"## Editor (`python -m benchmarks.editor`)\n\n{typing}\n\n"
        f"## Labels (`python -m benchmarks.resolve`)\n\n{labels}\n\n"
        f"## Reply path (`python -m benchmarks.reply_path`)\n\n{replies}\n"
    )


if __name__ == "__main__":
    main()
