"""Which adapter speaks with the server of a model: the model's name says it."""

from __future__ import annotations

from .wire import OPENAI, Server


def known_by(model: str) -> type[Server]:
    """The adapter for a model's name."""
    if model.startswith(OPENAI):
        from .chat_api import ChatServer

        return ChatServer
    from .messages_api import MessagesServer

    return MessagesServer
