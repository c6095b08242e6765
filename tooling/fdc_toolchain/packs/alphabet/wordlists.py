"""Published lists of words and categories, as plain facts, with where they come from."""

from __future__ import annotations

LEIPZIG_JAKARTA = frozenset(
    """fire nose go water mouth tongue blood bone root come breast rain name louse wing flesh meat arm hand fly night ear neck
    far do make house stone rock bitter say tooth hair big one hit beat leg foot horn fish yesterday drink black navel stand
    bite back wind smoke child egg give new burn good know knee sand laugh hear soil leaf red liver hide skin suck carry ant
    heavy take old eat thigh thick long blow wood run fall eye ash tail dog cry weep tie see sweet rope shade shadow bird salt
    small wide star hard crush grind""".split()
)
"""The words that 41 languages borrowed least (Tadmor, Haspelmath and Taylor 2010), but for pronouns and question words."""
