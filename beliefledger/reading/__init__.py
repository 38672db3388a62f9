"""Questions about what is believed, by the tables of the views and the words of the log."""
