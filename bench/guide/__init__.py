"""The efficiency guide: learned from the days of verified results."""
