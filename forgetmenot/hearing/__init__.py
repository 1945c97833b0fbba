"""What the streamer says, from captions that they already have: no microphone is used."""
