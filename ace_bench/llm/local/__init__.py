"""A language model on this machine: a server as a child process, started at the first call and shared by all cells."""
