"""The efficiency guide of ``bench guide``, learned from the days of verified schedules."""
