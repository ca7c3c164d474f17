"""Entities and relations: which candidates are people, places and organisations, and how they are related."""
