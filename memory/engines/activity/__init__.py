"""Events and contributors, read from commits and the audit trail."""
