"""Facts: rules, writes, verdicts, links, evidence, import and export."""
