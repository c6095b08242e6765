"""How many seeded faults `fdc fix` repairs without a model: public packages, their own tests, half of them held out."""
