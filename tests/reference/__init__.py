"""A second opinion: plans read and run by a program that was written from `docs/language.md` alone.

`parse` reads texts, `conditions` decides, `values` fills templates, `automata` follows cycles, `tools` works on a real
folder, `world` answers for everything else, `interpret` runs a plan, `runs` lists all runs of a small plan set, `generate`
makes plan sets. Nothing here imports anything of fdc, and nothing here is to be mended by looking at what fdc does: where
the two differ, `docs/language.md` says who is right, and where it does not say, the page is mended first.
"""
