"""Forms of the pages, one module per area. They check shape; rules are the services', whose errors come back to the fields."""
