"""Real data sets, made from public sources on first use: texts with labels."""
