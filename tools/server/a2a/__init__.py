"""The door by the Agent2Agent protocol: tasks of agents, on record and kept in the log."""
