"""What the operator decides, and no plan and no file of the workspace can."""

from __future__ import annotations

import os
from typing import Literal

from ..named_tuples import NamedTuple

Tier = Literal["bubblewrap", "landlock", "none"]
TIERS: tuple[Tier, ...] = ("bubblewrap", "landlock", "none")

APPROVALS = {"plan": "record_user_approval_for_plan"}
"""What may be approved in advance, and the tool that would ask."""


class Operator(NamedTuple):
    """Whether commands may run without a sandbox or reach the network, and which model answers ("" for none).

    `approved`: tools whose question for an approval is answered with yes, in advance. `web`: fdc's own tools may search
    the web and read pages, as they may where `network` is given; `private`: hosts (`HOST` or `HOST:PORT`) that they may
    reach although these have addresses of a private network. `asks`: how the model is asked where the workspace's
    settings say nothing, by the names of `tools.model.messages_api.Choice`. `weak`: commands may run in a sandbox that lacks
    something (`sandbox.lacking`).
    """

    unsandboxed: bool = False
    network: bool = False
    model: str = ""
    tiers: tuple[Tier, ...] = TIERS
    approved: tuple[str, ...] = ()
    web: bool = False
    private: tuple[str, ...] = ()
    asks: tuple[tuple[str, float], ...] = ()
    weak: bool = False

    @classmethod
    def of_environment(
        cls,
        unsandboxed: bool = False,
        network: bool = False,
        model: str | None = None,
        approved: tuple[str, ...] = (),
        web: bool = False,
        weak: bool = False,
    ) -> Operator:
        """Options, or the variables that say the same: FDC_ALLOW_UNSANDBOXED, FDC_ALLOW_WEAK_SANDBOX, FDC_ALLOW_NETWORK,
        FDC_ALLOW_WEB, FDC_MODEL; FDC_WEB_PRIVATE lists hosts."""
        return cls(
            unsandboxed or os.environ.get("FDC_ALLOW_UNSANDBOXED") == "1",
            network or os.environ.get("FDC_ALLOW_NETWORK") == "1",
            os.environ.get("FDC_MODEL", "") if model is None else model,
            approved=approved,
            web=web or os.environ.get("FDC_ALLOW_WEB") == "1",
            weak=weak or os.environ.get("FDC_ALLOW_WEAK_SANDBOX") == "1",
            private=tuple(os.environ.get("FDC_WEB_PRIVATE", "").lower().replace(",", " ").split()),
        )


OPERATOR = Operator()
"""Allows nothing and names no model."""
