"""Tier 3: what is proposed, believed, told and corrected about people and the channel."""
