"""How sure an answer is depends on whether the words of a question stand together more often than chance brings them together."""

from __future__ import annotations

from pathlib import Path

from fdc_packs.research.answering.found import NONE, Found, find_places
from fdc_packs.research.explore.code_search import BLOCK, Tree
from fdc_packs.research.explore.mapped import searched
from fdc_toolchain.tools.files.documents import scan

ONE = (
    "def refuse(order):\n    # the bell rings when a parcel is late\n    return order.parcel.late\n"
)
QUESTION = "Where does the bell ring for a late parcel?"


def ask(folder: Path, blocks: list[str]) -> Found:
    """The answer over a file of blocks of lines, and one place that has all words of the question."""
    padded = ["\n".join([text, *["x = 1"] * (BLOCK - 1)]) for text in blocks]
    folder.mkdir()
    (folder / "shop.py").write_text("\n".join(padded))
    (folder / "orders.py").write_text(ONE)
    scanned = scan(str(folder), code=True)
    tree = Tree(scanned, scanned.documents)
    return find_places(tree, searched(tree, QUESTION), QUESTION)


def test_words_that_meet_in_one_place_only_do_not_answer(tmp_path: Path) -> None:
    """The same place answers where its words meet elsewhere, too. It answered in both trees."""
    words = ["# the bell", "# a ring", "# is late", "# the parcel"]
    apart = ask(tmp_path / "apart", words * 40)
    together = ask(tmp_path / "together", [" ".join(words), *["x = 2"] * 3] * 40)
    assert "orders.py" == apart.places[0].path == together.places[0].path
    assert apart.sure == NONE != together.sure


def test_in_two_small_files_words_answer_that_meet(tmp_path: Path) -> None:
    """The example of docs/explore.md: by chance all words meet in so few lines."""
    (tmp_path / "stock.py").write_text(
        'def reserve(basket):\n    """Reserves stock for an order."""\n'
    )
    (tmp_path / "orders.py").write_text(
        "def place_order(basket):\n    release(basket)  # an order that is refused gives its stock back\n"
    )
    scanned = scan(str(tmp_path), code=True)
    tree, question = (
        Tree(scanned, scanned.documents),
        "What happens to the stock when an order is refused?",
    )
    assert find_places(tree, searched(tree, question), question).sure != NONE


def test_in_a_small_tree_a_question_finds_add_where_it_says_added(tmp_path: Path) -> None:
    """The stemmer cuts `added` to `ad`: fdc said that no file has `added`."""
    (tmp_path / "cart.py").write_text(
        "class Cart:\n    def add(self, item):\n        self.items += [item]\n"
    )
    (tmp_path / "main.py").write_text("cart = Cart()\n")
    scanned = scan(str(tmp_path), code=True)
    tree, question = Tree(scanned, scanned.documents), "Where are items added to the cart?"
    found = find_places(tree, searched(tree, question), question)
    assert found.sure != NONE and "Cart.add" == found.places[0].name
