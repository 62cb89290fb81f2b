// Numbers as people read them. Those of the data are what is to be written: they have been rounded.

const MOST_DECIMALS = 9;
const MOST_DIGITS = 15;
const TINY = 1e-4;

// Places of categories lie farther apart than this, which bounds may be off.
const SAME_PLACE = 1e-11;

/** The categories between two places. */
function categoriesHeld(feature, low, high) {
  const isHeld = ([, place]) => place >= low - SAME_PLACE && place <= high + SAME_PLACE;
  return report.features[feature].categories.filter(isHeld).map(([name]) => name);
}

/** "= a", "in {a, b}" or, if few are left out, "not in {c}". */
function formatSet(feature, low, high) {
  const held = categoriesHeld(feature, low, high);
  const others = report.features[feature].categories.map(([name]) => name).filter((name) => !held.includes(name));
  if (held.length === 1) {
    return `= ${held[0]}`;
  }
  if (others.length === 1 && held.length > 2) {
    return `!= ${others[0]}`;
  }
  const isShorter = others.length > 0 && 3 * others.length < held.length;
  return `${isShorter ? "not in" : "in"} {${(isShorter ? others : held).sort().join(", ")}}`;
}

/** A number of the data in full, with as many decimals as the feature has at least. */
function formatNumber(feature, value) {
  if (report.features[feature].categories) {
    return categoriesHeld(feature, value, value).join(" or ") || "a value that is not known";
  }
  const size = Math.abs(value);
  if (size < 10 ** MOST_DIGITS) {
    const most = size < TINY ? MOST_DECIMALS : 2 * MOST_DECIMALS;
    for (let decimals = Math.max(report.features[feature].places, 0); decimals <= most; decimals += 1) {
      const text = value.toFixed(decimals);
      if (Number(text) === value) {
        return value === 0 ? text.replace("-", "") : text;
      }
    }
  }
  return value === 0 ? "0" : value.toExponential();
}

/** A distance of a sample from a box, which is shown even if it is tiny. */
function formatDistance(feature, distance) {
  const { places } = report.features[feature];
  const text = places <= MOST_DECIMALS && distance < 10 ** MOST_DIGITS ? distance.toFixed(Math.max(places, 0)) : distance.toPrecision(3);
  return Number(text) === 0 ? String(Number(distance.toPrecision(1))) : text;
}

/** "= 3" for a point, else both ends. */
function formatInterval(feature, low, high) {
  if (report.features[feature].categories) {
    return formatSet(feature, low, high);
  }
  return low === high ? `= ${formatNumber(feature, low)}` : `${formatNumber(feature, low)} to ${formatNumber(feature, high)}`;
}

/** The values of a sample in a feature: a number, the ends of an interval, or "missing". */
function formatValue(sample, feature) {
  return formatEnds(feature, ...valueEnds(sample, feature));
}

function formatEnds(feature, low, high) {
  if (low === null) {
    return "missing";
  }
  return low === high ? formatNumber(feature, low) : formatInterval(feature, low, high);
}

/** A membership that shows 1 and 0 only where it is that. */
function formatDegree(degree) {
  const text = degree.toFixed(3);
  if (degree < 1 && text === "1.000") {
    return "0.999+";
  }
  return degree > 0 && text === "0.000" ? "<0.001" : text;
}

function formatShare(share) {
  return share === null ? "–" : `${(100 * share).toFixed(1)}%`;
}

function formatCount(count) {
  return count.toLocaleString("en");
}

function plural(count, one, several) {
  return `${formatCount(count)} ${count === 1 ? one : several}`;
}
