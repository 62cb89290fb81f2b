// Boxes vote: scores added up here, in the same order and numbers as in `predict`.

const MOST_LISTED = 30;
const OWN_DIGITS = 9;
const FEWEST_DIGITS = 6;
const MOST_CATEGORIES = 4;
const learned = "model" in report.editing ? unpackVotes(report.editing.model) : null;

function unpackVotes(model) {
  const packed = ["lower", "upper", "weights", "intercept", "missingScores", "shift"].map((name) => [name, unpack(model[name])]);
  const starts = [0];
  for (const conditions of report.boxes.conditions) {
    starts.push(starts.at(-1) + conditions.length);
  }
  return { ...model, ...Object.fromEntries(packed), starts };
}

function votesFor(box) {
  return learned.weights.subarray(box * report.nClasses, (box + 1) * report.nClasses);
}

/** Which part of its votes a box adds: 1, 0 or, where values are missing, less than 1. */
function partOf(box, values) {
  return report.boxes.conditions[box].reduce((part, [feature], place) => {
    const at = learned.starts[box] + place;
    const value = values[feature];
    const isMet = learned.lower[at] <= value && value <= learned.upper[at];
    return part * (Number.isNaN(value) ? learned.missingShares[at] : Number(isMet));
  }, 1);
}

function addVotes(parts) {
  const scores = [...learned.intercept];
  for (const [box, part] of parts) {
    votesFor(box).forEach((vote, code) => {
      scores[code] += part * vote;
    });
  }
  return scores;
}

/** How many features in conditions are missing, and how far that moves the scores to the classes' shares. */
function weighUnknown(values) {
  const nUnknown = learned.used.filter((feature) => Number.isNaN(values[feature])).length;
  const part = nUnknown / Math.max(learned.used.length, 1);
  return [nUnknown, part * part * (part * part)];
}

function softmax(scores) {
  const top = Math.max(...scores);
  const odds = scores.map((score) => Math.exp(score - top));
  const total = odds.reduce((sum, part) => sum + part, 0);
  return odds.map((part) => part / total);
}

/** A value in few digits if it has no more, else with enough to see that it lies between two others. */
function valueBetween(value, low, high) {
  if (Number(value.toPrecision(OWN_DIGITS)) === value) {
    return String(value);
  }
  for (let digits = FEWEST_DIGITS; digits < 17; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (low <= short && short <= high) {
      return String(short);
    }
  }
  return String(value);
}

/** The whole numbers in an interval: "2 or more", "at most 5", "2 to 5" or "2". */
function wholeBetween(low, high) {
  const [first, last] = [Math.ceil(low), Math.floor(high)];
  if (!Number.isFinite(low) || !Number.isFinite(high)) {
    return Number.isFinite(low) ? `${first} or more` : `at most ${last}`;
  }
  return first === last ? String(first) : `${first} to ${last}`;
}

/** A category, and what else lies inside or outside of an interval: "employed (not unemployed)". */
function categoryBetween(feature, value, low, high) {
  const own = formatNumber(feature, value);
  const held = categoriesHeld(feature, low, high);
  const others = report.features[feature].categories.map(([name]) => name).filter((name) => !held.includes(name));
  const more = held.filter((name) => !categoriesHeld(feature, value, value).includes(name));
  if (others.length === 0 || more.length === 0) {
    return own;
  }
  const [word, names] = others.length <= more.length ? ["not", others] : ["or", more];
  const nMore = names.length - MOST_CATEGORIES;
  const shown = nMore > 1 ? [...names.slice(0, MOST_CATEGORIES), `${nMore} more`] : names;
  return `${own} (${word} ${shown.join(", ")})`;
}

/** A condition of a box with the value that meets it. */
function metCondition(box, place, values) {
  const [feature] = report.boxes.conditions[box][place];
  const { name, categories } = report.features[feature];
  const value = values[feature];
  const at = learned.starts[box] + place;
  if (Number.isNaN(value)) {
    const share = learned.missingShares[at];
    return share === 1 ? `${name} missing` : `${name} missing (counts ${share})`;
  }
  const [low, high] = [learned.lower[at], learned.upper[at]];
  if (categories) {
    return `${name} = ${categoryBetween(feature, value, low, high)}`;
  }
  if (learned.isWhole[feature] && Number.isInteger(value) && (Number.isFinite(low) || Number.isFinite(high))) {
    return `${name} = ${value} (${wholeBetween(low, high)})`;
  }
  const [below, last] = [learned.below[at], learned.last[at]];
  const middle = `${name} = ${valueBetween(value, low, high)}`;
  if (below === null && last === null) {
    return `${middle} is not missing`;
  }
  if (below !== null && last !== null) {
    return `${below} < ${middle} <= ${last}`;
  }
  return below === null ? `${middle} <= ${last}` : `${middle} > ${below}`;
}

/** The boxes that hold a sample, those that add the most first. */
function boxesByVote(parts) {
  const size = (box) => parts.get(box) * Math.max(...[...votesFor(box)].map(Math.abs));
  return [...parts.keys()].sort((a, b) => size(b) - size(a) || a - b);
}

/** A sample with other values, explained like those that came with the page; NaN is a missing value. */
function explainValues(original, values) {
  const parts = new Map([...report.boxes.index.keys()].map((box) => [box, partOf(box, values)]).filter(([, part]) => part > 0));
  const sums = addVotes(parts);
  const [nUnknown, weight] = weighUnknown(values);
  const scores = sums.map((sum, code) => sum + weight * (learned.missingScores[code] - sum));
  const memberships = softmax(scores.map((score, code) => score - learned.shift[code]));
  const predicted = scores.indexOf(Math.max(...scores));
  const ordered = boxesByVote(parts);
  const listed = ordered.slice(0, MOST_LISTED);
  const rest = new Array(report.nClasses).fill(0);
  for (const box of ordered.slice(MOST_LISTED)) {
    votesFor(box).forEach((vote, code) => {
      rest[code] += parts.get(box) * vote;
    });
  }
  const nInside = [...parts.values()].filter((part) => part === 1).length;
  const contain = nInside === 1 ? "contains" : "contain";
  const partly = nInside < parts.size ? `, ${parts.size - nInside} in part` : "";
  const probability = formatDegree(memberships[predicted]);
  return {
    row: original.row,
    true: original.true,
    predicted,
    memberships,
    scores,
    nHeld: parts.size,
    held: listed.map((box) => ({
      box,
      part: parts.get(box),
      conditions: report.boxes.conditions[box].map((_, place) => metCondition(box, place, values)),
    })),
    rest,
    baseline: learned.intercept.map((start, code) => start + (scores[code] - sums[code])),
    why: `${labelName(predicted)}, probability ${probability}: ${nInside || "none"} of ${report.nBoxes} ${report.nBoxes === 1 ? "box" : "boxes"} ${contain} the sample${partly}.`,
    tie: weight > 0 ? `Unknown are ${nUnknown} of the ${learned.used.length} features in conditions: the intercept includes a move of the scores towards the classes' shares.` : "",
  };
}

/** The features to change: those that boxes have conditions on, the most important first. */
function editableFeatures() {
  return report.editing.order;
}
