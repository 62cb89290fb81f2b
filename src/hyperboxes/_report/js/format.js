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

function formatNumber(feature, value, more = 0) {
  return writeNumber(value, report.features[feature].places + more);
}

/** A distance of a sample from a box, which is shown even if it is tiny. */
function formatDistance(feature, distance) {
  const text = formatNumber(feature, distance);
  return Number(text) === 0 ? String(Number(distance.toPrecision(1))) : text;
}

/** How many digits beyond the usual tell two lists of values apart. */
function digitsApart(feature, some, others) {
  const write = (values, more) => values.map((value) => formatNumber(feature, value, more)).join();
  let more = 0;
  while (more < MORE_DIGITS && write(some, more) === write(others, more)) {
    more += 1;
  }
  return more;
}

/** "= 3" for a point, else both ends, with decimals that tell them apart. */
function formatInterval(feature, low, high, more = 0) {
  if (low === high) {
    return `= ${formatNumber(feature, low, more)}`;
  }
  const digits = Math.max(more, digitsApart(feature, [low], [high]));
  return `${formatNumber(feature, low, digits)} to ${formatNumber(feature, high, digits)}`;
}

/** The values of a sample in a feature: a number, the ends of an interval, or "missing". */
function formatValue(sample, feature) {
  return formatEnds(feature, ...valueEnds(sample, feature));
}

function formatEnds(feature, low, high, more = 0) {
  if (low === null) {
    return "missing";
  }
  return low === high ? formatNumber(feature, low, more) : formatInterval(feature, low, high, more);
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
