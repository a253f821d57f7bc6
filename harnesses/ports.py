"""What the harnesses app needs from the layers above it, wired by `console` when Django starts.

A harness names the *world* it is bound to (`demo-shop`); which operations that world has is known above this layer. Token
counting needs the tokenizer of the model in service. Both have a Null stand-in, so that nothing here breaks unwired.
"""

from __future__ import annotations

from collections.abc import Callable

from harnesses.core.operations import OperationCatalogue

CatalogueLoader = Callable[[], OperationCatalogue]
TokenCounter = Callable[[str], int]

_catalogue_loaders: dict[str, CatalogueLoader] = {}
_token_counter_loader: Callable[[], TokenCounter] | None = None


class UnknownWorldError(LookupError):
    """No world of that name is registered."""


def register_world(name: str, loader: CatalogueLoader) -> None:
    """Make a world's operation catalogue known under its name."""
    _catalogue_loaders[name] = loader


def world_names() -> tuple[str, ...]:
    return tuple(_catalogue_loaders)


def catalogue_of(world: str) -> OperationCatalogue:
    """The operations of a world. Raises UnknownWorldError."""
    if world not in _catalogue_loaders:
        raise UnknownWorldError(f'There is no world "{world}". Known: {", ".join(_catalogue_loaders) or "none"}.')
    return _catalogue_loaders[world]()


def register_token_counter(loader: Callable[[], TokenCounter]) -> None:
    """Set how tokens are counted: `loader` gives the counter of the model in service."""
    global _token_counter_loader
    _token_counter_loader = loader


def estimate_tokens(text: str) -> int:
    """A rough count where no tokenizer is at hand: 3.5 characters a token."""
    return -(-len(text) * 2 // 7)


def token_counter() -> TokenCounter:
    """The counter of the model in service, or the estimate."""
    return _token_counter_loader() if _token_counter_loader else estimate_tokens
