"""Items: facts that stand under a namespace and a key."""
