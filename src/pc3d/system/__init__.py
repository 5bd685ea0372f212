"""What everything stands on: errors, files, plain data, signals, threads, processes."""
