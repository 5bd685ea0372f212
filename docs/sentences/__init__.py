"""What the pages say of results, worked out from the runs as the tables are: no prose is changed by hand."""
