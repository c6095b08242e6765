"""Loops of just so many rounds, against going round one by one."""

from __future__ import annotations

from random import Random

from fdc_toolchain.rules.solver.rounds import shortest_after, states_after

STATES = 5


def test_states_after_are_those_of_going_round_one_by_one() -> None:
    for seed in range(300):
        rng = Random(seed)
        sink = rng.choice((0, 0b10000, 0b01100))
        turns = {1 << number: rng.randrange(1 << STATES) for number in range(STATES)}
        times, begin = rng.choice((0, 1, 2, 3, 7, 50)), rng.randrange(1, 1 << STATES)
        asked: list[int] = []

        def turn(bit: int, turns: dict[int, int] = turns, asked: list[int] = asked) -> int:
            asked.append(bit)
            return turns[bit]

        found = states_after(times, begin, sink, turn)
        mask = begin
        for _ in range(times):
            mask = mask & sink | sum_of(turns[bit] for bit in turns if bit & mask & ~sink)
        assert found == mask, seed
        assert len(asked) == len(set(asked)) and not any(bit & sink for bit in asked), seed


def sum_of(masks) -> int:
    out = 0
    for mask in masks:
        out |= mask
    return out


def test_the_shortest_ways_are_those_of_going_round_one_by_one() -> None:
    for seed in range(300):
        rng = Random(seed)
        turns = {
            state: {
                target: (rng.randrange(1, 9), f"{state}{target} ")
                for target in rng.sample(range(STATES), rng.randrange(STATES))
            }
            for state in range(STATES)
        }
        times, begin = rng.choice((0, 1, 2, 3, 6, 13)), rng.randrange(STATES)
        found = shortest_after(
            times, {begin: (0, "")}, lambda state, turns=turns: turns[state], lambda way, behind: way + behind
        )  # fmt: skip
        here = {begin: 0}
        for _ in range(times):
            ahead: dict[int, int] = {}
            for state, length in here.items():
                for target, (more, _) in turns[state].items():
                    ahead[target] = min(length + more, ahead.get(target, 10**9))
            here = ahead
        assert {state: length for state, (length, _) in found.items()} == here, seed
        for state, (length, way) in found.items():
            steps = way.split()
            ends = [begin, *(int(step[1]) for step in steps)]
            assert len(steps) == times and ends[-1] == state
            assert all(int(step[0]) == end for step, end in zip(steps, ends))
            assert length == sum(turns[int(step[0])][int(step[1])][0] for step in steps)
