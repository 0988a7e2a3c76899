"""Reports on workers across question sets, as plain records."""
