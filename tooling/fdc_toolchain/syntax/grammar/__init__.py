"""How the grammar is read: the tables that Lark makes of it, and the loop that runs them."""
