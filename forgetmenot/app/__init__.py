"""The one place where everything is built and wired, and what keeps it going."""
