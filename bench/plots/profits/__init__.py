"""Charts of profit problems: schedules over time, profits of the methods, cooling."""
