"""Tasks of agents: a branch for each task and each agent, objectives, and how the work comes together."""
