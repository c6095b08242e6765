"""Of the pack alphabet: lexicon."""
