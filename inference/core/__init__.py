"""Rules of serving: what can be stored, how tokens are counted, what a turn tells its listeners. Plain Python."""
