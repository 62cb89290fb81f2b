// The data of the page, and texts about boxes and samples.

const report = JSON.parse(byId("data").textContent);
const NO_LABEL = "(no label)";

function labelName(code) {
  return code < 0 ? NO_LABEL : report.labels[code];
}

/** What a box is called: a number, or that of its member and its own. */
function boxName(box) {
  return report.boxes.name?.[box] ?? String(report.boxes.index[box]);
}

function boxTitle(box) {
  return `box ${boxName(box)}, ${labelName(report.boxes.label[box])}`;
}

function boxEnds(box, feature) {
  return [report.boxes.lower[box][feature], report.boxes.upper[box][feature]];
}

function valueEnds(sample, feature) {
  return [sample.lower[feature], (sample.upper ?? sample.lower)[feature]];
}

/** How far outside of a box a sample is in a feature, below 0 inside; null if that is not known. */
function distanceFrom(sample, box, feature) {
  if (sample.scaled) {
    return learnedDistance(sample, box, feature);
  }
  const [low, high] = boxEnds(box, feature);
  const [first, last] = valueEnds(sample, feature);
  return low === null || first === null ? null : Math.max(last - high, low - first);
}

function isOutside(sample, box, feature) {
  return (distanceFrom(sample, box, feature) ?? 0) > 0;
}

/** How far the predicted class is ahead of the next. */
function leadOf(sample) {
  const others = sample.memberships.filter((_, code) => code !== sample.predicted);
  return sample.memberships[sample.predicted] - Math.max(0, ...others);
}

function isWrong(sample) {
  return sample.true >= 0 && sample.true !== sample.predicted;
}

/** Where a value lies in the range of a feature, from 0 to 1. Halves: the whole may overflow. */
function placeInRange(feature, value) {
  const { low, high } = report.features[feature];
  const span = high / 2 - low / 2;
  return span > 0 ? Math.min(Math.max((value / 2 - low / 2) / span, 0), 1) : 0.5;
}

/** Numbers that were packed, eight bytes each. */
function unpack(text) {
  return new Float64Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
}
