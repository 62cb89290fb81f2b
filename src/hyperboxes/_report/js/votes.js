// Boxes that vote: their rules, and explanations by what each box adds to the scores.

const MOST_CLASSES = 5;
const MOST_VOTES = 5;

function formatVote(vote) {
  return (vote < 0 ? "−" : "+") + Math.abs(vote).toFixed(2);
}

/** The votes of a box that weigh most, the largest first. */
function votesOf(box) {
  const votes = [...report.boxes.votes[box]].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  if (votes.length === 1) {
    return formatVote(votes[0][1]);
  }
  const shown = isLong(votes, MOST_VOTES) ? votes.slice(0, MOST_VOTES) : votes;
  const texts = shown.sort((a, b) => b[1] - a[1]).map(([code, vote]) => `${formatVote(vote)} ${labelName(code)}`);
  const nSmaller = votes.length - shown.length;
  return [...texts, ...(nSmaller > 0 ? [`${nSmaller} smaller`] : [])].join("\n");
}

/** What the table of rules shows of a box between its class and its conditions. */
function ruleCells(box) {
  const { count, share, coverage, precision } = report.boxes;
  return [
    ["Weight", votesOf(box)],
    ["Samples", formatCount(count[box])],
    ["Share", formatShare(share[box])],
    ["Coverage", formatShare(coverage[box])],
    ["Precision", formatShare(precision[box])],
  ];
}

function isInNoBox(sample) {
  return sample.nHeld === 0;
}

function changeLines(sample) {
  return [element("p", {}, sample.change), ...tryButton(sample.moves)];
}

/** The classes with the largest scores, the predicted one first. */
function shownClasses(sample) {
  const rank = (code) => (code === sample.predicted ? Infinity : sample.scores[code]);
  return [...sample.scores.keys()].sort((a, b) => rank(b) - rank(a) || a - b).slice(0, MOST_CLASSES);
}

function voteRow(sample, classes, name, votes, largest) {
  const cells = classes.map((code) =>
    votes[code]
      ? element("td", {}, formatVote(votes[code]), voteBar(votes[code], largest, roleOfLabel(sample, code)))
      : element("td"),
  );
  return element("tr", {}, element("th", { scope: "row" }, ...name), ...cells);
}

function numberRow(name, classes, write) {
  return element("tr", { class: "total" }, element("th", { scope: "row" }, name), ...classes.map((code) => element("td", {}, write(code))));
}

function explainSample(sample) {
  const classes = shownClasses(sample);
  const rows = [[["intercept"], sample.baseline]];
  for (const { box, conditions, part } of sample.held) {
    const votes = Object.fromEntries(report.boxes.votes[box].map(([code, vote]) => [code, part * vote]));
    if (classes.some((code) => votes[code])) {
      rows.push([[element("b", {}, `box ${report.boxes.index[box]} `), conditions.join(" and ")], votes]);
    }
  }
  const nMore = sample.nHeld - sample.held.length;
  if (nMore > 0) {
    rows.push([[plural(nMore, "more box", "more boxes")], sample.rest]);
  }
  const largest = Math.max(...rows.flatMap(([, votes]) => classes.map((code) => Math.abs(votes[code] ?? 0)))) || 1;
  const header = ["", ...classes.map(labelName)].map((name) => element("th", { scope: "col" }, name));
  const table = byId("vote-table");
  table.tHead.replaceChildren(element("tr", {}, ...header));
  table.tBodies[0].replaceChildren(
    ...rows.map(([name, votes]) => voteRow(sample, classes, name, votes, largest)),
    numberRow("score", classes, (code) => sample.scores[code].toFixed(2)),
    numberRow("probability", classes, (code) => formatDegree(sample.memberships[code])),
  );
}
