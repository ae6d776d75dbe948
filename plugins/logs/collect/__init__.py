"""Where log files come from: the drop folder, files read in place, the command line, connectors."""
