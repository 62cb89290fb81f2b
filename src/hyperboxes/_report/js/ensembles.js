// Ensembles: boxes of members, and explanations by contributions of features and boxes.

/** What the table of rules shows of a box between its class and its conditions. */
function ruleCells(box) {
  const { count, coverage, precision } = report.boxes;
  return [
    ["Holds", formatCount(count[box])],
    ["Coverage", formatShare(coverage[box])],
    ["Precision", formatShare(precision[box])],
  ];
}

function isInNoBox(sample) {
  return !sample.isHeld;
}

function tableRow(kind, ...cells) {
  return element("tr", {}, ...cells.map((cell) => element(kind, {}, ...[cell].flat())));
}

function formatSigned(number) {
  return (number < 0 ? "−" : "+") + Math.abs(number).toFixed(4);
}

/** What each feature contributes: bars are hollow if it is the runner-up. */
function featureTable(sample) {
  if (sample.rival < 0) {
    return [element("p", {}, "There is no other class.")];
  }
  const largest = Math.max(...sample.features.map(([, , number]) => Math.abs(number))) || 1;
  const rows = sample.features.map(([j, value, number]) =>
    tableRow("td", report.features[j].name, value, [formatSigned(number), voteBar(number, largest, "winning")]),
  );
  if (sample.nMore > 0) {
    rows.push(tableRow("td", plural(sample.nMore, "other", "others"), "", formatSigned(sample.rest)));
  }
  const header = element("thead", {}, tableRow("th", "Feature", "Value", `${labelName(sample.rival)} is farther by`));
  return [element("table", { class: "numbers" }, header, element("tbody", {}, ...rows))];
}

function explainSample(sample) {
  byId("share-features").replaceChildren(...featureTable(sample));
  const rows = sample.boxes.map(([box, share]) =>
    tableRow("td", boxName(box), labelName(report.boxes.label[box]), formatShare(share), conditionList(box)),
  );
  byId("share-table").tBodies[0].replaceChildren(...rows);
}
