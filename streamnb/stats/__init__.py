"""What was seen: weights, means, sums of squares, and the algebra that joins them.

Nothing here knows a prior, a smoothing or a log-probability.
"""
