"""The dispatchers that [Bridi2018, 4] used in production: the scheduling cycle on a CP model, and the portfolio."""
