"""What the streamer says, from captions that they already have. Nothing here listens to a microphone."""
