"""Published lists of words and categories, as plain facts, with where they come from."""

from __future__ import annotations

LEIPZIG_JAKARTA = frozenset(
    """fire nose go water mouth tongue blood bone root come breast rain name louse wing flesh meat arm hand fly night ear neck
    far do make house stone rock bitter say tooth hair big one hit beat leg foot horn fish yesterday drink black navel stand
    bite back wind smoke child egg give new burn good know knee sand laugh hear soil leaf red liver hide skin suck carry ant
    heavy take old eat thigh thick long blow wood run fall eye ash tail dog cry weep tie see sweet rope shade shadow bird salt
    small wide star hard crush grind""".split()
)
"""The words that 41 languages borrowed least (Tadmor, Haspelmath and Taylor 2010), but for pronouns and question words;
held in November 2026 against the copy of a linguistic database. Where a gloss has two words, both stand here."""

SWADESH = tuple(
    """all and animal ash at back bad bark because belly berry big bird bite black blood blow bone breathe burn child cloud
    cold come count cut day die dig dirty dog drink dry dull dust ear earth eat egg eye fall far fat father fear feather
    few fight fire fish five float flow flower fly fog foot four freeze give good grass green gut hair hand he head hear
    heart heavy here hit hold how hunt husband i ice if in kill know lake laugh leaf left leg lie live liver long louse
    man many meat mother mountain mouth name narrow near neck new night nose not old one other person play pull push rain
    red right right river road root rope rotten rub salt sand say scratch sea see seed sew sharp short sing sit skin sky
    sleep small smell smoke smooth snake snow some spit split squeeze stab stand star stick stone straight suck sun swell
    swim tail that there they thick thin think this thou three throw tie tongue tooth tree turn two vomit walk warm wash
    water we wet what when where white who wide wife wind wing wipe with woman woods worm ye year yellow""".split()
)
"""The 200 basic meanings of Swadesh (1952), in English words, as plain facts; held in November 2026 against Concepticon's
`Swadesh-1952-200` (CC BY 4.0). `right` stands for the correct one and for the hand. No proposer and no critic looks at it: it is
what an alphabet is measured by that was not made with the list in view."""

Entry = tuple[str, str, str]
"""An item of an inventory: its name, the labels that are the same, and labels that are near (our reading, not theirs)."""

NSM: tuple[Entry, ...] = (
    ("I", "i self", "person"), ("YOU", "you", "person"), ("SOMEONE", "someone person", "human people"),
    ("SOMETHING~THING", "something thing", "object entity substance"), ("PEOPLE", "people", "person human group society"),
    ("BODY", "body", "organism matter"), ("KIND", "kind", "category class genus form"),
    ("PART", "part", "piece portion whole"),
    ("THIS", "this", "specific"), ("THE SAME", "same identity", "equal identical similar"),
    ("OTHER~ELSE", "other else", "different separate"), ("ONE", "one", "unit single"), ("TWO", "two", "pair double"),
    ("SOME", "some", "several quantity"), ("ALL", "all", "whole every"), ("MUCH~MANY", "much many", "several quantity large"),
    ("LITTLE~FEW", "little few", "small"), ("GOOD", "good", "value desirable"), ("BAD", "bad", "evil undesirable"),
    ("BIG", "big large", "great size"), ("SMALL", "small little", "short size"), ("THINK", "think", "consider mind thought"),
    ("KNOW", "know", "knowledge information mind"), ("WANT", "want", "desire purpose need"),
    ("DON'T WANT", "", "want desire"),
    ("FEEL", "feel", "feeling emotion sense"), ("SEE", "see", "sense perceive"), ("HEAR", "hear", "sound sense perceive"),
    ("SAY", "say", "express speak word"), ("WORDS", "word words", "name language"), ("TRUE", "true truth", "fact"),
    ("DO", "do", "act action make"), ("HAPPEN", "happen", "occur event change"), ("MOVE", "move motion", "come go"),
    ("BE (SOMEWHERE)", "", "place exist position"), ("THERE IS", "exist existence", "being"),
    ("BE (SOMEONE/SOMETHING)", "be being", "exist identity"), ("(IS) MINE", "mine", "possess own hold property"),
    ("LIVE", "live life", "living organism"), ("DIE", "die death", "end live"), ("WHEN~TIME", "time when", "period"),
    ("NOW", "now", "present"), ("BEFORE", "before", "past precede order"), ("AFTER", "after", "future follow order"),
    ("A LONG TIME", "", "long time period"), ("A SHORT TIME", "", "short time"),
    ("FOR SOME TIME", "", "time period duration"),
    ("MOMENT", "moment instant", "minute point time"), ("WHERE~PLACE", "place where", "space location area"),
    ("HERE", "here", "place near"), ("ABOVE", "above", "high top"), ("BELOW", "below", "low bottom"),
    ("FAR", "far", "distant distance"),
    ("NEAR", "near", "close"), ("SIDE", "side", "edge surface"), ("INSIDE", "inside", "contain interior"),
    ("TOUCH", "touch contact", "surface"), ("NOT", "not negation", "lack different"),
    ("MAYBE", "maybe", "possible possibility"),
    ("CAN", "can able", "capable possible power"), ("BECAUSE", "because cause", "produce effect"), ("IF", "if", "condition"),
    ("VERY", "very", "degree great"), ("MORE", "more", "increase degree"),
    ("LIKE~WAY", "like way", "similar resemble manner"),
)  # fmt: skip
"""The 65 semantic primes of the Natural Semantic Metalanguage (Goddard and Wierzbicka 2014), held against the table of 2014
that their project publishes."""

ARISTOTLE: tuple[Entry, ...] = (
    ("substance (ousia)", "substance", "thing entity object exist matter"),
    ("quantity (poson)", "quantity", "number amount extent size"),
    ("quality (poion)", "quality", "characteristic property attribute"),
    ("relation (pros ti)", "relation relate", "similar equal different"),
    ("place (pou)", "place", "space location position"), ("time (pote)", "time", "period stage"),
    ("position (keisthai)", "position posture", "stand side place"), ("state (echein)", "state condition", "hold possess"),
    ("action (poiein)", "action act", "do make produce cause"),
    ("affection (paschein)", "affection passion", "feel receive change undergo"),
)  # fmt: skip
"""The ten categories (Categories 4, 1b25), held against two translations."""

WORDNET_TOP: tuple[Entry, ...] = (
    ("act, activity", "act activity action", "do make"), ("animal, fauna", "animal", "organism live life"),
    ("artifact", "artifact", "device instrument thing"),
    ("attribute, property", "attribute property", "quality characteristic"),
    ("body", "body", "organism"), ("cognition, knowledge", "cognition knowledge", "mind know consider"),
    ("communication", "communication", "express say language word"),
    ("event, happening", "event happening happen", "occur change"),
    ("feeling, emotion", "feeling emotion", "feel sense"), ("food", "food", "eat substance"),
    ("group, collection", "group collection", "order"),
    ("location, place", "location place", "space area"), ("motive", "motive motivation", "purpose want"),
    ("natural object", "object", "thing"), ("person, human being", "person human", "people"),
    ("natural phenomenon", "phenomenon", "process effect"), ("plant, flora", "plant", "organism live"),
    ("possession", "possession", "possess hold property"), ("process", "process", "change produce"),
    ("quantity, amount", "quantity amount", "number measure"), ("relation", "relation relate", "similar part"),
    ("shape", "shape", "form side"), ("state, condition", "state condition", "exist quality"),
    ("substance", "substance", "material matter liquid"), ("time", "time", "period"),
)  # fmt: skip
"""The 25 unique beginners of WordNet's nouns (Miller 1990); its lexicographers' files of nouns are named after them."""

CYC: tuple[Entry, ...] = (
    ("Thing", "thing", "entity exist"), ("Individual", "individual", "unit single thing"),
    ("Collection / SetOrCollection", "collection set", "group"),
    ("Intangible", "intangible", "abstract"), ("PartiallyTangible", "tangible", "physical material matter"),
    ("TemporalThing", "", "time period"), ("SpatialThing", "", "space place"), ("Event", "event", "happen occur change"),
    ("Situation", "situation", "state condition"), ("Action", "action act", "do make"),
    ("Agent-Generic", "agent", "person human"),
    ("Relation", "relation relate", "similar"), ("Predicate", "predicate", "property express"),
    ("Quantity", "quantity", "number amount"),
    ("AttributeValue", "attribute value", "quality property characteristic"), ("Role", "role", "function purpose"),
    ("Microtheory (context)", "context", "condition"),
)  # fmt: skip
"""Some terms of Cyc's upper ontology as it was published with OpenCyc, a choice and no list of theirs: Thing, Intangible,
PartiallyTangible, TemporalThing, SpatialThing, Predicate and Microtheory were held against what is published, the others are
from memory. Cyc as a whole is not public."""
