"""What people decide about their data: requests, erasure, forgetting one fact, and what is never mentioned."""
