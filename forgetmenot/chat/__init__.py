"""What happens with a line of chat."""
