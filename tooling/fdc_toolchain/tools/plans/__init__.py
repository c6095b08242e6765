"""Plans that did not exist when the plan that runs them was proved."""
