// Numbers as people read them: as many decimals as the range of the feature asks for.

const MOST_DECIMALS = 9;
const MOST_DIGITS = 15;
const MORE_DIGITS = 4; // that the data has beyond those that are written

function writeNumber(value, places) {
  if (places <= MOST_DECIMALS && Math.abs(value) < 10 ** MOST_DIGITS) {
    const text = value.toFixed(Math.max(places, 0));
    return Number(text) === 0 ? text.replace("-", "") : text;
  }
  if (value === 0) {
    return "0";
  }
  const digits = Math.floor(Math.log10(Math.abs(value))) + places;
  return value.toExponential(Math.min(Math.max(digits, 2), 16));
}

function formatNumber(feature, value) {
  return writeNumber(value, report.features[feature].places);
}

/** A distance of a sample from a box, which is shown even if it is tiny. */
function formatDistance(feature, distance) {
  const text = formatNumber(feature, distance);
  return Number(text) === 0 ? String(Number(distance.toPrecision(1))) : text;
}

/** "= 3" for a point, else both ends, with decimals that tell them apart. */
function formatInterval(feature, low, high) {
  const places = report.features[feature].places;
  if (low === high) {
    return `= ${writeNumber(low, places)}`;
  }
  for (let more = 0; more <= MORE_DIGITS; more += 1) {
    const [first, last] = [writeNumber(low, places + more), writeNumber(high, places + more)];
    if (first !== last) {
      return `${first} to ${last}`;
    }
  }
  return `${low} to ${high}`;
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
