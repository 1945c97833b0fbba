"""Files with the chat of past streams: their forms, read as events."""
