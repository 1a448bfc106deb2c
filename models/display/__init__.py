"""What users see of a schedule: Gantt charts, rows of tables, HTML. Nothing here is needed to solve a problem."""
