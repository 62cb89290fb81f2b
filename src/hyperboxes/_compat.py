"""Features of newer scikit-learn releases, replaced where the installed one lacks them."""

from contextlib import suppress
from importlib import import_module
from typing import Any

import sklearn

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """The base of estimators with callbacks, without them."""

        def set_callbacks(self, *callbacks: object) -> None:
            """Raise an error: this scikit-learn calls no callbacks."""
            raise ImportError(
                f"Callbacks need scikit-learn 1.9 or newer, but {sklearn.__version__} is "
                "installed: pip install 'scikit-learn>=1.9'"
            )


array_api_compat: Any = None
with suppress(ImportError):  # the package, for scikit-learn before 1.7
    array_api_compat = import_module("array_api_compat")
with suppress(ImportError):
    array_api_compat = import_module("sklearn.externals.array_api_compat")

__all__ = ["CallbackSupportMixin", "array_api_compat"]
