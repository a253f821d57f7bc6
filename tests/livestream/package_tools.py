"""The package's own retail tools, loaded for comparison only.

Their module imports the rest of the package, whose requirements are not installed; three small stand-ins take its place while the
two files are read. Nothing of this is used outside tests.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from types import ModuleType
from typing import Any
from unittest import mock

from pydantic import BaseModel

from livestream.retail.data import PACKAGE


@contextmanager
def _stand_ins() -> Iterator[dict[str, ModuleType]]:
    modules = {
        name: ModuleType(name)
        for name in (
            "tau2", "tau2.environment", "tau2.environment.db", "tau2.environment.toolkit", "tau2.domains",
            "tau2.domains.retail", "tau2.domains.retail.utils", "tau2.domains.retail.data_model",
        )
    }  # fmt: skip
    modules["tau2.environment.db"].DB = BaseModel  # type: ignore[attr-defined]
    modules["tau2.domains.retail.utils"].RETAIL_DB_PATH = None  # type: ignore[attr-defined]
    toolkit: Any = modules["tau2.environment.toolkit"]
    toolkit.ToolKitBase = type("ToolKitBase", (), {"__init__": lambda self, db: setattr(self, "db", db)})
    toolkit.ToolType = mock.Mock()
    toolkit.is_tool = lambda _kind: lambda function: function
    with mock.patch.dict(sys.modules, modules):
        yield modules


def load() -> tuple[Any, Any]:
    """The package's data-model module and its `RetailTools` class."""
    folder = metadata.distribution(PACKAGE).locate_file("tau2/domains/retail")
    with _stand_ins() as modules:
        model = modules["tau2.domains.retail.data_model"]
        _run(str(folder / "data_model.py"), model)
        tools = ModuleType("package_retail_tools")
        _run(str(folder / "tools.py"), tools)
    return model, tools.RetailTools


def _run(path: str, module: ModuleType) -> None:
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)  # noqa: S102 - the installed package's own source
