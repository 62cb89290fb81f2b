"""Training and predicting on Dask: data that are too many for one process, or for one machine.

The functions take Dask arrays, data frames and delayed parts. What they train is the plain fitted
estimator, which predicts, explains and saves without Dask. They run on the given client, the
default one, or, where there is none, Dask's own scheduler in this process; no cluster is ever
started. The extra `dask` installs what it takes: ``pip install 'hyperboxes[dask]'``.
"""

from hyperboxes._extras import need

for _module in ("dask", "distributed"):
    need(_module, "dask", "hyperboxes.dask")  # names the extra that installs it

from hyperboxes.dask._fit import fit, partial_fit  # noqa: E402
from hyperboxes.dask._predict import apply, predict, predict_proba  # noqa: E402

__all__ = ["apply", "fit", "partial_fit", "predict", "predict_proba"]
