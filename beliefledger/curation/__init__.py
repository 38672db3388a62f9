"""Where people and models decide what is kept: review, types, consolidation, extraction."""
