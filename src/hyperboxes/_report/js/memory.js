// Boxes of a stream: when they were last matched, and explanations by the boxes that voted.

function formatAge(age) {
  return age === 0 ? "by the last sample" : `${plural(age, "sample", "samples")} ago`;
}

/** What the table of rules shows of a box between its class and its conditions. */
function ruleCells(box) {
  const { count, age, coverage, precision } = report.boxes;
  return [
    ["Support", formatCount(count[box])],
    ["Matched", formatAge(age[box])],
    ["Coverage", formatShare(coverage[box])],
    ["Precision", formatShare(precision[box])],
  ];
}

function isInNoBox(sample) {
  return !sample.isHeld;
}

function roleOfLabel(sample, code) {
  if (code === sample.predicted) {
    return "winning";
  }
  return code === sample.true && code >= 0 ? "true" : "other";
}

/** Where a box lies in the features that weigh most, and on which side of it the sample. */
function whereItLies(sample, box) {
  const known = report.byWeight.filter((j) => boxEnds(box, j)[0] !== null);
  const items = known.map((j) =>
    element("li", {}, `${report.features[j].name} ${formatBounds(box, j)} `, element("small", {}, position(sample, box, j))),
  );
  return element("ul", { class: "conditions" }, ...items);
}

function voterRow(sample, box, share, largest) {
  const { index, label, count, age } = report.boxes;
  const cell = (name, ...children) => element("td", { "data-name": name }, ...children);
  const bar = shareBar(share, largest, roleOfLabel(sample, label[box]));
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, `box ${index[box]}`),
    cell("Class", labelName(label[box])),
    cell("Share", formatShare(share), bar),
    cell("Matched", formatAge(age[box])),
    cell("Support", formatCount(count[box])),
    cell("Where it lies", whereItLies(sample, box)),
  );
}

function shareBar(share, largest, role) {
  const width = Math.max((share / largest) * 70, 1).toFixed(1);
  return svg("svg", { width: 72, height: 8, "aria-hidden": "true" }, svg("rect", { class: role, x: 1, y: 1, width, height: 6 }));
}

function explainSample(sample) {
  const names = ["", "Class", "Share", "Matched", "Support", "Where it lies"];
  const table = byId("voter-table");
  const largest = Math.max(...sample.voters.map(([, share]) => share));
  const rows = sample.voters.map(([box, share]) => voterRow(sample, box, share, largest));
  const nMore = sample.nVoters - sample.voters.length;
  if (nMore > 0) {
    const name = element("th", { scope: "row", colspan: 2 }, plural(nMore, "more box", "more boxes"));
    rows.push(element("tr", {}, name, element("td", { colspan: 4 }, formatShare(sample.rest))));
  }
  table.tHead.replaceChildren(element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name))));
  table.tBodies[0].replaceChildren(...rows);
}

function startExplanations() {}
