"""The scripted stream on loopback."""
