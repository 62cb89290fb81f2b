"""The learning algorithms as jobs, in slices of work that callbacks hear of."""
