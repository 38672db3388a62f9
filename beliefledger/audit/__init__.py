"""What an auditor asks: replay, counts, calibration, the checklist."""
