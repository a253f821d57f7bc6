"""What every REST resource shares: authentication, permissions, strict parsing, problem documents."""
