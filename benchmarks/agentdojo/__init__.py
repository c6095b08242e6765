"""AgentDojo's tasks and injections as plans: what is proved without a person, and what an obedient model gets through."""
