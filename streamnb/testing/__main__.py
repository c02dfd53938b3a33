"""Prepares this machine for brokers: `python -m streamnb.testing`; nothing where that is done."""

from streamnb.testing.broker import prepare
from streamnb.testing.jars import BrokerUnavailable

if __name__ == "__main__":
    try:
        prepare()
    except BrokerUnavailable as unavailable:
        raise SystemExit(f"streamnb: {unavailable}") from None
