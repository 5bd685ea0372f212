"""Many runs: studies and searches, on this machine or on a cluster, each job seen to its end."""
