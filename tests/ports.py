"""Ports for the servers of tests."""

import random
import socket

# below those that a system gives to connections: Linux begins at 32768
PORTS = range(20_000, 32_000)


def unused_port() -> int:
    """Return a port of this machine that nothing uses.

    One that the system picks may be given to a connection of another test before the server here opens it.
    """
    chance = random.SystemRandom()
    while True:
        port = chance.choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
