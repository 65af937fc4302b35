"""The models that Day1 asks for vectors: one that runs here, and any server that speaks OpenAI's API."""
