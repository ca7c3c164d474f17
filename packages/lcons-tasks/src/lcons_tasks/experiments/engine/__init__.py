"""What every experiment shares: stages kept by content, jobs with progress, rows of results."""
