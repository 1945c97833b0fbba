"""What the bot may do: grammar, policy, catalogue, execution."""
