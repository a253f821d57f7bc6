"""Timed runs, none of them tests: each prints figures, and `docs/performance.md` holds the last with command and machine."""
