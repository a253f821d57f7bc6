"""The model engine: how it is configured, started, watched and stood in for.

Only modules here may load model libraries, and only in child processes; importing this package loads none.
"""
