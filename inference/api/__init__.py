"""The REST resources of serving: sessions and turns."""
