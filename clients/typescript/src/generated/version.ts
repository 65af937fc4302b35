// Written by `python -m clients.generate_typescript`; do not edit.

export const VERSION = "0.1.0";
