"""What the machine computed: grades, exemplary answers, scores, and the methods behind them."""
