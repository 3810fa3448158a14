"""Who may call and what they did: tokens, sessions, node tokens, roles, audit rows."""
