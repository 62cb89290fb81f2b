"""Ensembles as ONNX graphs: codes of values, votes of the members, and their calibration.

Distances are whole numbers and equal those of `_kernels/ensemble.py`. Votes are equal but for the
last digits: runtimes have exponentials of their own, and add up in another order.
"""

import numpy as np

from hyperboxes._files.onnx_additive import GraphParts, list_lengths, write_chunks
from hyperboxes._models.calibration import SMALLEST_VOTE
from hyperboxes._models.records import BoxEnsemble, EnsembleMember

# A code is the number of thresholds up to a value. A missing value has the largest code as its
# lower end and the smallest as its upper end, so it is inside every box.
_CODES = """chunk_shape = Shape (chunk)
    no_code = ConstantOfShape <value = float[1] {{0.0}}> (chunk_shape)
    code = Scan <num_scan_inputs = 1, body = compare (
        float[n_rows, {n_features}] old_code, double[{n_features}] threshold
    ) => (float[n_rows, {n_features}] new_code) {{
        is_reached = GreaterOrEqual (chunk, threshold)
        reached = Cast <to = 1> (is_reached)
        new_code = Add (old_code, reached)
    }}> (no_code, thresholds)
    is_missing = IsNaN (chunk)
    low_code = Where (is_missing, largest_code, code)
    low_columns = Transpose <perm = [1, 0]> (low_code)
    high_columns = Transpose <perm = [1, 0]> (code)
    n_rows = Slice (chunk_shape, start, next)
    of_rows = Concat <axis = 0> (n_rows, n_classes)
    votes_0 = ConstantOfShape <value = double[1] {{0.0}}> (of_rows)
    {members}
    votes = Div ({votes}, n_members)
    {calibrating}"""

# A loop over the members that combine gaps in one way, which differ in size: `ends` has those of
# their boxes one after the other, feature by feature, and boxes are sorted by class.
_MEMBERS = """{votes} = Scan <num_scan_inputs = 5, body = vote_{kind} (
        double[n_rows, {n_classes}] {kind}_old, int64[2] {kind}_of_features,
        int64[2] {kind}_of_ends, int64[{n_classes}, 1] {kind}_firsts,
        int64[{n_classes}, 1] {kind}_stops, double {kind}_scale
    ) => (double[n_rows, {n_classes}] {kind}_new) {{
        {kind}_first_feature = Slice ({kind}_of_features, start, next)
        {kind}_stop_feature = Slice ({kind}_of_features, next, two)
        {kind}_member_features = Slice ({kind}_features, {kind}_first_feature, {kind}_stop_feature)
        {kind}_n_features = Sub ({kind}_stop_feature, {kind}_first_feature)
        {kind}_ends_shape = Concat <axis = 0> ({kind}_n_features, last)
        {kind}_first_end = Slice ({kind}_of_ends, start, next)
        {kind}_stop_end = Slice ({kind}_of_ends, next, two)
        {kind}_lower_ends = Slice ({kind}_lower, {kind}_first_end, {kind}_stop_end)
        {kind}_upper_ends = Slice ({kind}_upper, {kind}_first_end, {kind}_stop_end)
        {kind}_lower_codes = Cast <to = 1> ({kind}_lower_ends)
        {kind}_upper_codes = Cast <to = 1> ({kind}_upper_ends)
        {kind}_lower_rows = Reshape ({kind}_lower_codes, {kind}_ends_shape)
        {kind}_upper_rows = Reshape ({kind}_upper_codes, {kind}_ends_shape)
        {kind}_low_rows = Gather <axis = 0> (low_columns, {kind}_member_features)
        {kind}_high_rows = Gather <axis = 0> (high_columns, {kind}_member_features)
        {kind}_lows = Unsqueeze ({kind}_low_rows, last)
        {kind}_highs = Unsqueeze ({kind}_high_rows, last)
        {kind}_both = Shape ({kind}_lower_rows)
        {kind}_n_boxes = Slice ({kind}_both, next, two)
        {kind}_pairs = Concat <axis = 0> (n_rows, {kind}_n_boxes)
        {kind}_together = ConstantOfShape <value = float[1] {{0.0}}> ({kind}_pairs)
        {kind}_distance = Scan <num_scan_inputs = 4, body = combine_{kind} (
            float[n_rows, n_boxes] {kind}_before, float[n_rows, 1] {kind}_low,
            float[n_rows, 1] {kind}_high, float[n_boxes] {kind}_v, float[n_boxes] {kind}_w
        ) => (float[n_rows, n_boxes] {kind}_after) {{
            {kind}_below = Sub ({kind}_v, {kind}_low)
            {kind}_above = Sub ({kind}_high, {kind}_w)
            {kind}_gap = Max ({kind}_below, {kind}_above, no_gap)
            {kind}_after = {combine} ({kind}_before, {kind}_gap)
        }}> ({kind}_together, {kind}_lows, {kind}_highs, {kind}_lower_rows, {kind}_upper_rows)
        {kind}_nearest = Scan <num_scan_inputs = 2, scan_output_axes = [1], body = find_{kind} (
            int64[1] {kind}_first, int64[1] {kind}_stop
        ) => (float[n_rows] {kind}_best) {{
            {kind}_of_class = Slice ({kind}_distance, {kind}_first, {kind}_stop, last)
            {kind}_best = ReduceMin <axes = [1], keepdims = 0> ({kind}_of_class)
        }}> ({kind}_firsts, {kind}_stops)
        {kind}_least = ReduceMin <axes = [1]> ({kind}_nearest)
        {kind}_beyond = Sub ({kind}_least, {kind}_nearest)
        {kind}_exact = Cast <to = 11> ({kind}_beyond)
        {kind}_exponent = Div ({kind}_exact, {kind}_scale)
        {kind}_weight = Exp ({kind}_exponent)
        {kind}_total = ReduceSum ({kind}_weight, last)
        {kind}_share = Div ({kind}_weight, {kind}_total)
        {kind}_new = Add ({kind}_old, {kind}_share)
    }}> ({before}, {kind}_feature_ranges, {kind}_end_ranges, {kind}_class_firsts,
         {kind}_class_stops, {kind}_scales)"""

_CALIBRATING = """is_unknown = IsNaN (chunk)
    unknown = Cast <to = 11> (is_unknown)
    unknown_part = MatMul (unknown, used_shares)
    moved_share_power = Mul (unknown_part, rest_of_share_power)
    full_share_power = Add (share_power, moved_share_power)
    raised_votes = Add (votes, smallest_vote)
    log_votes = Log (raised_votes)
    of_votes = Mul (power, log_votes)
    of_shares = Mul (full_share_power, log_shares)
    scores = Add (of_votes, of_shares)
    likely = Softmax <axis = 1> (scores)
    counted = Mul (likely, likely_weight)
    chunk_probability = Add (counted, weighted_shares)"""


def write_graph(record: BoxEnsemble) -> GraphParts:
    """Return the graph of an ensemble."""
    n_features, n_classes = len(record.quantizer.low), len(record.class_counts)
    constants = {
        **list_lengths(
            n_features,
            max(len(member.labels) for member in record.members),
            probability=[n_classes],
        ),
        "two": np.array([2]),
        "n_classes": np.array([n_classes]),
        "n_members": np.array(float(len(record.members))),
        "thresholds": np.ascontiguousarray(record.quantizer.thresholds.T),
        "largest_code": np.array(record.quantizer.n_bins, np.float32),
        "no_gap": np.array(0.0, np.float32),
    }
    loops, votes = [], "votes_0"
    for kind, combine in (("sum", "Add"), ("max", "Max")):
        members = [member for member in record.members if member.combine == kind]
        if members:
            names = {"kind": kind, "combine": combine, "before": votes, "votes": f"votes_{kind}"}
            loops.append(_MEMBERS.format(n_classes=n_classes, **names))
            constants |= _list_members(record, members, kind)
            votes = names["votes"]
    calibrating = _CALIBRATING if record.calibration else "chunk_probability = Identity (votes)"
    body = _CODES.format(
        n_features=n_features, members="\n    ".join(loops), votes=votes, calibrating=calibrating
    )
    chunks = write_chunks("X", n_features, body, {"probability": f"double[n_rows, {n_classes}]"})
    return GraphParts(
        f"double[n_samples, {n_classes}] probability",
        f"{chunks}\n    winner = ArgMax <axis = 1, keepdims = 0> (probability)",
        constants | _list_calibration(record),
    )


def _list_members(
    record: BoxEnsemble, members: list[EnsembleMember], kind: str
) -> dict[str, np.ndarray]:
    """Return the constants of some members, whose boxes are sorted by class."""
    orders = [np.argsort(member.labels, kind="stable") for member in members]
    classes = np.arange(len(record.class_counts) + 1)
    ends = np.array([np.searchsorted(np.sort(member.labels), classes) for member in members])
    # With a temperature of 0, only the nearest classes have a vote.
    temperature = record.temperature or 1e-9
    scales = [temperature * member.farthest(record.quantizer.n_bins) for member in members]
    constants = {
        "features": np.concatenate([member.features for member in members]).astype(np.int64),
        "feature_ranges": _ranges([len(member.features) for member in members]),
        "end_ranges": _ranges([member.lower.size for member in members]),
        "class_firsts": ends[:, :-1, None].astype(np.int64),
        "class_stops": ends[:, 1:, None].astype(np.int64),
        "scales": np.array(scales),
    }
    for name in ("lower", "upper"):
        pairs = zip(members, orders, strict=True)
        corners = [getattr(member, name)[order].T.ravel() for member, order in pairs]
        constants[name] = np.concatenate(corners).astype(np.uint8)
    return {f"{kind}_{name}": np.ascontiguousarray(array) for name, array in constants.items()}


def _ranges(sizes: list[int]) -> np.ndarray:
    """Return where pieces of these sizes begin and end, one after the other."""
    stops = np.cumsum(sizes)
    return np.stack([stops - sizes, stops], axis=1)


def _list_calibration(record: BoxEnsemble) -> dict[str, np.ndarray]:
    """Return the constants of the calibration, if there is one."""
    calibration = record.calibration
    if calibration is None:
        return {}
    shares = record.class_counts / record.class_counts.sum()
    is_used = np.isfinite(record.quantizer.thresholds).any(axis=1, keepdims=True)
    return {
        "used_shares": is_used / max(is_used.sum(), 1),
        "smallest_vote": np.array(SMALLEST_VOTE),
        "power": np.array(calibration.power),
        "share_power": np.array(calibration.share_power),
        "rest_of_share_power": np.array(1.0 - calibration.share_power),
        "log_shares": np.log(shares),
        "likely_weight": np.array(1.0 - calibration.prior_weight),
        "weighted_shares": calibration.prior_weight * shares,
    }
