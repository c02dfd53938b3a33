"""Tests of the models: what they learn, answer and write, by the specification."""
