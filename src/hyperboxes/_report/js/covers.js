// Boxes that cover samples: their rules, and explanations by the box that wins and its rival.

const MOST_CHANGES = 12;

/** What the table of rules shows of a box between its class and its conditions. */
function ruleCells(box) {
  const { count, coverage, precision } = report.boxes;
  return [
    ["Support", formatCount(count[box])],
    ["Coverage", formatShare(coverage[box])],
    ["Precision", formatShare(precision[box])],
  ];
}

function isInNoBox(sample) {
  return sample.isHeld === undefined ? sample.memberships[sample.predicted] < 1 : !sample.isHeld;
}

/** What would give another prediction. */
function changeLines(sample) {
  const { change, competing } = sample;
  if (competing === null) {
    return [element("p", {}, "Nothing: there is no box of another class.")];
  }
  const holdsToo = !report.features.some((_, j) => isOutside(sample, competing, j));
  const lines = holdsToo ? [element("p", {}, `The competing ${boxTitle(competing)} also contains the sample.`)] : [];
  const note = sample.searchNote ?? "";
  if (change === null) {
    return [...lines, element("p", {}, `${report.noChange} ${note}`)];
  }
  const steps = change.features.map((j, place) =>
    element("li", {}, `${report.features[j].name} `, ...changeStep(j, valueEnds(sample, j), change.ends[place])),
  );
  const list = element("ul", { class: "conditions" }, ...clipped(steps, MOST_CHANGES));
  const isPoint = change.ends.every(([low, high]) => low === high);
  const pairs = change.features.map((j, place) => [j, change.ends[place][0] ?? NaN]);
  return [...lines, element("p", {}, change.title), list, ...(note ? [element("p", {}, note)] : []), ...(isPoint ? tryButton(pairs) : [])];
}

function changeStep(feature, from, to) {
  return [`${formatEnds(feature, ...from)} → `, element("b", {}, formatEnds(feature, ...to))];
}

function explainSample(sample) {
  showStrips(sample);
  showPlane(sample);
  const bars = (sample.shares ?? []).map(([box, share]) => degreeBar(boxTitle(box), roleOfLabel(sample, report.boxes.label[box]), share));
  byId("sample-shares")?.replaceChildren(...bars);
}

function startExplanations() {
  startStrips(showSample);
  startPlane();
}
