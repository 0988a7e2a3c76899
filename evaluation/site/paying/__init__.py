"""Pages of the payment desk: who is paid, why not, bonuses, and the lists that panels take."""
