"""The experiment on entities and relations: which candidates are people, places and organisations, and which
relations hold between them."""
