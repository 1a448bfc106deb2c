"""Production features in a replay: reservations, stopped queues, changed, moved and deleted jobs [Bridi2018, 4]."""
