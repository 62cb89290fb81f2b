// What pages on boxes that vote share: conditions in words, and bars.

const BAR_WIDTH = 70;
const BAR_HEIGHT = 8;

function conditionsOf(box) {
  return report.boxes.conditions[box];
}

function roleOfLabel(sample, code) {
  if (code === sample.predicted) {
    return "winning";
  }
  return code === sample.true && code >= 0 ? "true" : "other";
}

function voteBar(vote, largest, role) {
  const width = Math.max((Math.abs(vote) / largest) * (BAR_WIDTH - 2), 1).toFixed(1);
  const kind = vote < 0 ? `hollow ${role}` : role;
  const bar = svg("rect", { class: kind, x: 1, y: 1, width, height: BAR_HEIGHT - 2 });
  return svg("svg", { width: BAR_WIDTH, height: BAR_HEIGHT, "aria-hidden": "true" }, bar);
}

function startExplanations() {}
