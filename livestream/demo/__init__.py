"""The demo shop and its harness: data files written for Tackroom, and their loader.

`shop.yaml` holds what belongs to the whole shop, `items/*.yaml` the items of each category in a compact form: a variant is a row of
option values, price in fen and stock, and a size chart is named, not repeated.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import yaml

from harnesses.core.jsonvalues import JsonObject
from harnesses.core.spec import HarnessSpec
from harnesses.formats.folder import import_folder
from livestream.catalogue import CATEGORIES, Shop, slug


@cache
def demo_shop() -> Shop:
    """The demo shop, read and checked once."""
    return load_shop(resources.files(__name__))


@cache
def demo_harness() -> HarnessSpec:
    """The demo shop's harness, read once from the folder of documents it ships as. Raises FormatError."""
    return import_folder(harness_files())


def harness_files() -> dict[str, bytes]:
    """The documents of the demo harness by relative path."""
    return dict(_walk(resources.files(__name__) / "harness", ""))


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry.read_bytes()


def load_shop(folder: Traversable) -> Shop:
    """Read a shop folder: `shop.yaml` and `items/<category>.yaml`.

    Raises ValueError naming file and item for anything that is missing, misspelt or contradicts itself.
    """
    document = _read(folder / "shop.yaml", dict)
    charts = document.pop("size_charts", {})
    items = []
    for category in CATEGORIES:
        file = folder / "items" / f"{category}.yaml"
        items += [_item(row, category, charts, document["currency"], file.name) for row in _read(file, list)]
    coupons = [{"currency": document["currency"], **coupon} for coupon in document.pop("coupons", [])]
    return Shop.model_validate({**document, "items": items, "coupons": coupons})


def _read(file: Traversable, kind: type) -> Any:
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise ValueError(f"{file.name} cannot be read: {error}") from error
    if not isinstance(content, kind):
        raise ValueError(f"{file.name} must hold a {kind.__name__}, found {type(content).__name__}")
    return content


def _item(row: JsonObject, category: str, charts: JsonObject, currency: str, file: str) -> JsonObject:
    where = f"{file}, item {row.get('id', '?')}"
    item = {**row, "category": category}
    try:
        options = item.pop("options")
        variants = item.pop("variants")
    except KeyError as missing:
        raise ValueError(f"{where}: {missing} is missing") from missing
    item["variants"] = [_variant(str(row.get("id")), options, cells, currency, where) for cells in variants]
    chart = item.pop("size_chart", None)
    if chart is not None:
        if chart not in charts:
            raise ValueError(f"{where}: there is no size chart {chart}; there are {', '.join(charts)}")
        item["size_chart"] = [{"size": size, "measures": measures} for size, measures in charts[chart].items()]
    return item


def _variant(item_id: str, options: list[str], cells: list[Any], currency: str, where: str) -> JsonObject:
    if len(cells) != len(options) + 2:
        raise ValueError(f"{where}: a variant needs {', '.join(options)}, price and stock; found {cells}")
    *values, price_minor, stock = cells
    if wrong := [value for value in values if not isinstance(value, str)]:
        raise ValueError(f"{where}: option values are texts; put {wrong[0]!r} in quotes")
    return {
        "id": "-".join([item_id, *(slug(value) for value in values)]),
        "options": dict(zip(options, values, strict=True)),
        "price_minor": price_minor,
        "currency": currency,
        "stock": stock,
    }
