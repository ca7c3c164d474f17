"""What every experiment shares: stages kept by content, jobs with progress, tables."""
