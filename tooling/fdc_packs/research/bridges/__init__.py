"""From the words of people to the names in code: phrases that have a word in code, and texts that name what they are about."""
