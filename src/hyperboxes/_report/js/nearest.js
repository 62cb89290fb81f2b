// Nearest boxes decide: predictions made here, in the very steps and numbers of `predict`.

const MOST_SHARES = 10;
const FARTHEST = 1e300; // larger distances are the same for probabilities
const NOISE = 1e-9; // what rounding errors may make of no difference between memberships
const learned = "model" in report.editing ? unpackBoxes(report.editing.model) : null;

function unpackBoxes(model) {
  const packed = ["low", "span", "gamma", "lower", "upper"].map((name) => [name, unpack(model[name])]);
  return { ...model, ...Object.fromEntries(packed) };
}

/** The larger number; the second if one of them is not known. */
function larger(a, b) {
  return a > b ? a : b;
}

function smaller(a, b) {
  return a < b ? a : b;
}

/** The ends of a sample in the units of the model. */
function scaleSample(low, high) {
  const scale = (values) => values.map((value, j) => (value - learned.low[j]) / learned.span[j]);
  return { low: scale(low), high: scale(high) };
}

/** How far outside of a box a sample is in a feature, in the units of the model. */
function gapFrom(point, box, feature) {
  const at = box * learned.gamma.length + feature;
  return larger(point.high[feature] - learned.upper[at], learned.lower[at] - point.low[feature]);
}

function distanceTo(point, box) {
  const nFeatures = learned.gamma.length;
  let largest = 0;
  let near = 0;
  let far = 0;
  for (let j = 0; j < nFeatures; j += 1) {
    const gap = larger(gapFrom(point, box, j) * learned.gamma[j], 0);
    largest = larger(gap, largest);
    near += smaller(gap, 1);
    far += gap;
  }
  if (!learned.isMean) {
    return largest;
  }
  return near < nFeatures ? near / nFeatures : larger(far / nFeatures, 1);
}

/** The membership, and beyond its reach, where it is 0, minus the distance. */
function closenessTo(point, box) {
  const distance = distanceTo(point, box);
  return distance < 1 ? 1 - distance : -distance;
}

/** The closest boxes of each class: how close, and which. */
function closestOfClasses(ranks) {
  const classes = Array.from({ length: report.nClasses }, () => ({ best: -Infinity, boxes: [] }));
  report.boxes.label.forEach((label, box) => {
    if (label >= 0 && ranks[box] > classes[label].best) {
      classes[label] = { best: ranks[box], boxes: [box] };
    } else if (label >= 0 && ranks[box] === classes[label].best) {
      classes[label].boxes.push(box);
    }
  });
  return classes;
}

/** Of boxes the one that is first by some numbers, the oldest of equals. */
function firstBy(boxes, number) {
  return boxes.reduce((first, box) => (number(box) > number(first) ? box : first));
}

function countOf(box) {
  return report.boxes.count[box];
}

/** Whether both a sample and a box have values in all features. */
function areComplete(point, box) {
  const start = box * learned.gamma.length;
  return !learned.compared.some((j) => Number.isNaN(point.low[j] + learned.lower[start + j]));
}

/** The box that decides, and whether classes tie. */
function decidingBox(point, classes) {
  const top = Math.max(...classes.map(({ best }) => best));
  const tied = classes.filter(({ best }) => best === top);
  const isTie = tied.length > 1;
  const singles = tied
    .flatMap(({ boxes }) => boxes)
    .filter((box) => countOf(box) === 1 && areComplete(point, box));
  if (isTie && top === 1 && singles.length > 0) {
    return { box: Math.min(...singles), isTie, bySingle: true };
  }
  const votes = ({ boxes }) => boxes.reduce((sum, box) => sum + countOf(box), 0);
  return { box: firstBy(firstBy(tied, votes).boxes, countOf), isTie, bySingle: false };
}

function competingBox(ranks, winning) {
  const { label } = report.boxes;
  const rivals = [...label.keys()].filter((box) => label[box] >= 0 && label[box] !== label[winning]);
  if (rivals.length === 0) {
    return null;
  }
  const best = rivals.reduce((top, box) => larger(ranks[box], top), -Infinity);
  return firstBy(rivals.filter((box) => ranks[box] === best), countOf);
}

/** How far outside of a box a sample is, as a share of the range; 0 where that takes no membership. */
function shareOutside(point, box, feature) {
  const gap = gapFrom(point, box, feature);
  const slope = gap * learned.gamma[feature];
  return slope > 0 && 1 - slope < 1 && closenessTo(point, box) < 1 ? gap : Math.min(gap, 0);
}

/** The same in the units of the data; null if it is not known. */
function learnedDistance(sample, box, feature) {
  const share = shareOutside(sample.scaled, box, feature);
  return Number.isNaN(share) ? null : share * learned.span[feature];
}

/** What a box loses by each feature. */
function missesOf(point, box, isReached) {
  return [...learned.gamma].map((gamma, j) => {
    const miss = gamma * larger(shareOutside(point, box, j), 0);
    return learned.isMean && isReached ? Math.min(miss, 1) : miss;
  });
}

/** Where the largest number stands, the first of equals. */
function placeOfLargest(numbers) {
  return firstBy([...numbers.keys()], (place) => numbers[place]);
}

/** Which features weigh: the deciding one, the one that fits worst, and all in their order. */
function weighFeatures(point, winning, competing, memberships) {
  const isReached = memberships[report.boxes.label[winning]] > 0;
  const own = missesOf(point, winning, isReached);
  const others = competing === null ? own.map(() => 0) : missesOf(point, competing, isReached);
  const separation = competing === null ? others : others.map((miss, j) => miss - own[j]);
  const deciding = decidingFeature(point, winning, competing, memberships, others, separation);
  const boxes = competing === null ? [winning] : [winning, competing];
  const outside = own.map((_, j) => learned.gamma[j] * Math.max(...boxes.map((box) => larger(shareOutside(point, box, j), 0))));
  const weight = (j) => (j === deciding ? Infinity : Math.abs(separation[j]));
  const weighty = [...own.keys()].filter((j) => outside[j] > 0);
  weighty.sort((a, b) => compare(weight(a), weight(b), true) || outside[b] - outside[a] || a - b);
  return { deciding, worst: own.some((miss) => miss > 0) ? placeOfLargest(own) : null, weighty };
}

function decidingFeature(point, winning, competing, memberships, others, separation) {
  if (competing === null || !others.some((miss) => miss > 0)) {
    return null;
  }
  const feature = placeOfLargest(learned.isMean ? separation : others);
  const isAhead = closenessTo(point, winning) > closenessTo(point, competing);
  return separation[feature] > NOISE && isAhead ? feature : null;
}

function headlineOf(box, membership) {
  const { inside, near, far } = learned.places;
  const place = membership === 1 ? inside : membership === 0 ? far : near;
  const { index, label } = report.boxes;
  const samples = countOf(box) === 1 ? "1 training sample" : `${countOf(box)} training samples`;
  return `${labelName(label[box])}: box ${index[box]} (${samples}) ${place}.`;
}

function sumOf(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** The probabilities where several boxes of each class decide, and what each of these adds. */
function decideTogether(point, ranks, classes) {
  const { nNeighbors, width, offset, slope, power, prior, shares } = learned.together;
  const { label, index } = report.boxes;
  const distances = index.map((_, box) => distanceTo(point, box));
  const nearer = (a, b) => ranks[b] - ranks[a] || countOf(b) - countOf(a) || a - b;
  const nearest = shares.map((_, code) => [...label.keys()].filter((box) => label[box] === code).sort(nearer).slice(0, nNeighbors));
  const nearness = nearest.map((boxes) => boxes.map((box) => Math.exp((distances[boxes[0]] - distances[box]) / width)));
  const soft = nearest.map((boxes, code) => (boxes.length === 0 ? Infinity : distances[boxes[0]] - width * Math.log(sumOf(nearness[code]) / nNeighbors)));
  const scores = soft.map((gap) => (gap < 1 ? 1 - gap : -gap));
  const logs = scores.map((score) => -Math.log(Math.min(score > 0 ? 1 - score : -score, FARTHEST) + offset));
  const odds = logs.map((log) => Math.exp(slope * (log - Math.max(...logs))));
  const unknown = learned.compared.filter((j) => Number.isNaN(point.low[j])).length / Math.max(learned.compared.length, 1);
  const isTied = scores.map((score) => unknown > 0 && score === Math.max(...scores));
  const counts = classes.map(({ boxes }, code) => (isTied[code] ? sumOf(boxes.map(countOf)) : 0));
  const pool = sumOf(odds.filter((_, code) => isTied[code]));
  const part = prior + (1 - prior) * (unknown > 0 ? unknown ** power : 0);
  const byDistance = odds.map((own, code) => ((1 - part) * (isTied[code] ? (pool * counts[code]) / sumOf(counts) : own)) / sumOf(odds));
  const added = nearest.flatMap((boxes, code) => boxes.map((box, k) => [box, (byDistance[code] * nearness[code][k]) / sumOf(nearness[code])]));
  added.sort((a, b) => b[1] - a[1] || distances[a[0]] - distances[b[0]] || a[0] - b[0]);
  return { memberships: byDistance.map((own, code) => own + part * shares[code]), added };
}

/** What `explainValues` gives where several boxes of each class decide. */
function explainTogether(point, ranks, classes) {
  const { memberships, added } = decideTogether(point, ranks, classes);
  const predicted = memberships.indexOf(Math.max(...memberships));
  const boxOf = (isOne) => added.find(([box]) => isOne(report.boxes.label[box]))?.[0] ?? null;
  const weights = [...learned.gamma].map((_, j) => sumOf(added.map(([box, share]) => share * larger(missesOf(point, box, false)[j], 0))));
  return {
    predicted,
    memberships,
    winning: boxOf((code) => code === predicted),
    competing: boxOf((code) => code !== predicted),
    shares: added.slice(0, MOST_SHARES),
    weighty: [...weights.keys()].filter((j) => weights[j] > 0).sort((a, b) => weights[b] - weights[a] || a - b),
    why: `${labelName(predicted)}, probability ${formatDegree(memberships[predicted])}: ${learned.together.why}.`,
    tie: "",
  };
}

/** A sample with other values, explained like those that came with the page; NaN is a missing value. */
function explainValues(original, low, high) {
  const point = scaleSample(low, high);
  const ranks = report.boxes.index.map((_, box) => closenessTo(point, box));
  const classes = closestOfClasses(ranks);
  const plain = (values) => [...values].map((value) => (Number.isNaN(value) ? null : value));
  const given = { row: original.row, true: original.true, lower: plain(low), upper: plain(high), scaled: point };
  if (learned.together !== null) {
    return { ...given, ...explainTogether(point, ranks, classes) };
  }
  const { box: winning, isTie, bySingle } = decidingBox(point, classes);
  const competing = competingBox(ranks, winning);
  const memberships = classes.map(({ best }) => larger(best, 0));
  const predicted = report.boxes.label[winning];
  const largest = memberships[predicted];
  return {
    ...given,
    predicted,
    memberships,
    winning,
    competing,
    ...weighFeatures(point, winning, competing, memberships),
    why: headlineOf(winning, largest),
    tie: isTie && largest > 0 ? (bySingle ? learned.tieOfSingle : learned.tie) : "",
  };
}

/** The features to change, those that weigh most for a sample first. */
function editableFeatures(sample) {
  return featureOrder(sample);
}
