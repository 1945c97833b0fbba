"""Tier 2: windows of chat become summaries; recaps, a digest and briefs are made from them."""
