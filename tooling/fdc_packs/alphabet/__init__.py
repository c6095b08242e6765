"""ALPHABETUM: a persistent alphabet of primitive concepts, and the calculus over it. Pure functions."""
