"""Streams that drift: accuracy, speed and memory of ours and of river's learners."""
