"""From bytes to a model and back: records, sources, sinks, the state folder, learner, predictor."""
