"""The REST resources of harnesses and their versions."""
