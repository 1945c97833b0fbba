"""Tier 3: notes about viewers and the channel: proposed, merged, edited, explained."""
