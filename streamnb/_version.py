"""The version, stated once: the build, the command line and `streamnb.__version__` read it here."""

__version__ = "0.1.0"
