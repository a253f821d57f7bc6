"""The HTML pages, one module per area: a view parses the request, calls a service or selector, and renders."""
