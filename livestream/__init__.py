"""The world the agent acts in: shops, rooms and the operations a tool can stand for. Plain Python, no framework."""
