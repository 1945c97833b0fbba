"""What the dock reads, as it reads it."""
