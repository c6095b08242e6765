"""The parser: the tables that Lark makes of the grammar, and the loop that runs them."""
