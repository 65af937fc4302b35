"""Names that the program, its completion and its exit share."""

PROGRAM = "day1"
COMPLETION_VARIABLE = "_DAY1_COMPLETE"  # a shell's script calls the program with it
OK, FAILED, USAGE, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141  # exit statuses
FILTER_PREFIX = "filter_"  # begins the parameters of filters where tests/site/cli_commands.json names them so
