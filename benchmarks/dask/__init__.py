"""`make bench-dask`: partitions on workers beside one process, and a plan for many more."""
