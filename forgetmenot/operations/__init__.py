"""Everything that can be asked of the bot: the table, permissions, policy and execution."""
