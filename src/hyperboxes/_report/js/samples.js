// The samples: which are shown, which is chosen, and why the model predicts its class.

const MOST_BARS = 8;
const sampleState = { list: [], place: 0 };

const KINDS = {
  all: () => true,
  wrong: isWrong,
  uncertain: (sample) => leadOf(sample) < report.uncertain,
  outside: isInNoBox,
  shared: (sample) => sample.isShared === true,
  unlabelled: (sample) => sample.true < 0,
};

function matchingSamples() {
  const kind = KINDS[byId("sample-kind").value];
  const trueLabel = byId("sample-true").value;
  const predicted = byId("sample-predicted").value;
  const found = report.samples
    .filter(kind)
    .filter((sample) => trueLabel === "" || sample.true === Number(trueLabel))
    .filter((sample) => predicted === "" || sample.predicted === Number(predicted));
  if (byId("sample-order").value === "lead") {
    found.sort((a, b) => leadOf(a) - leadOf(b) || a.row - b.row);
  }
  return found;
}

/** List the samples that pass the filters, and keep the same one if it is among them. */
function filterSamples() {
  const chosen = sampleState.list[sampleState.place];
  sampleState.list = matchingSamples();
  sampleState.place = Math.max(sampleState.list.indexOf(chosen), 0);
  showSample();
}

function resetFilters() {
  byId("sample-kind").value = "all";
  byId("sample-true").value = "";
  byId("sample-predicted").value = "";
}

/** Choose a sample, without the filters if they leave it out. */
function chooseSample(sample) {
  if (!sampleState.list.includes(sample)) {
    resetFilters();
    sampleState.list = matchingSamples();
  }
  sampleState.place = sampleState.list.indexOf(sample);
  showSample();
}

function chooseRow(row) {
  const sample = report.samples.find((other) => other.row === row);
  if (sample !== undefined) {
    chooseSample(sample);
    return;
  }
  const exists = Number.isInteger(row) && row >= 1 && row <= report.nSamples;
  const reason = exists
    ? "is not among the samples that this page holds"
    : `does not exist: rows go from 1 to ${formatCount(report.nSamples)}`;
  announce(`Row ${Number.isNaN(row) ? "?" : row} ${reason}.`);
}

function announce(text) {
  const message = byId("sample-message");
  message.hidden = text === "";
  message.textContent = text;
}

function move(by) {
  sampleState.place += by;
  showSample();
}

function showSample() {
  const { list, place } = sampleState;
  const sample = list[place];
  announce(list.length === 0 ? "No sample in this page is like that: choose other filters." : "");
  byId("sample-previous").disabled = place <= 0;
  byId("sample-next").disabled = place >= list.length - 1;
  byId("sample-place").textContent = `${formatCount(list.length && place + 1)} of ${formatCount(list.length)}`;
  byId("sample").hidden = sample === undefined;
  if (sample === undefined) {
    return;
  }
  byId("sample-row").value = sample.row;
  editSample(sample);
  showExplanation(currentSample(sample));
}

/** Show why the model predicts the class of a sample, which may have been changed. */
function showExplanation(sample) {
  const isChanged = sample.original !== undefined;
  byId("sample-title").replaceChildren(...(isChanged ? changedTitle(sample) : sampleTitle(sample)));
  byId("sample-why").textContent = [sample.why, sample.tie].join(" ");
  byId("sample-memberships").replaceChildren(...membershipBars(sample));
  if (byId("sample-change") !== null) {
    byId("change-title").textContent = isChanged ? "What you have changed" : "What would change it";
    byId("sample-change").replaceChildren(...(isChanged ? editLines() : changeLines(sample)));
  }
  showEdits(sample);
  explainSample(sample);
}

function changedTitle(sample) {
  const { original, predicted } = sample;
  const title = [`Row ${sample.row}, changed: predicted `, element("b", {}, labelName(predicted))];
  return predicted === original.predicted ? [...title, " as before"] : [...title, ", before ", element("b", {}, labelName(original.predicted))];
}

function sampleTitle(sample) {
  const parts = [`Row ${sample.row}: predicted `, element("b", {}, labelName(sample.predicted))];
  if (sample.true < 0) {
    return [...parts, ", true class not known"];
  }
  const verdict = isWrong(sample) ? ["wrong", "✗ wrong"] : ["right", "✓ right"];
  return [...parts, ", true class ", element("b", {}, labelName(sample.true)), " ", element("span", { class: `verdict ${verdict[0]}` }, verdict[1])];
}

function membershipBars(sample) {
  const order = [...sample.memberships.keys()].sort((a, b) => sample.memberships[b] - sample.memberships[a] || (b === sample.predicted) - (a === sample.predicted));
  const bars = order.slice(0, MOST_BARS).map((code) => membershipBar(sample, code));
  const nMore = order.length - bars.length;
  if (nMore > 0) {
    const most = formatDegree(sample.memberships[order[MOST_BARS]]);
    bars.push(element("p", {}, `${plural(nMore, "more class", "more classes")} with at most ${most}.`));
  }
  return bars;
}

function membershipBar(sample, code) {
  const notes = [code === sample.predicted ? "predicted" : "", code === sample.true ? "true" : ""].filter(Boolean);
  const note = notes.length > 0 ? ` (${notes.join(", ")})` : "";
  return degreeBar(`${labelName(code)}${note}`, roleOfLabel(sample, code), sample.memberships[code]);
}

function degreeBar(name, role, degree) {
  const bar = svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
  bar.append(svg("rect", { class: "track", width: 100, height: 10 }));
  bar.append(svg("rect", { class: role, width: 100 * degree, height: 10 }));
  return element("div", { class: "bar" }, element("span", {}, name), bar, element("span", { class: "degree" }, formatDegree(degree)));
}

/** Show the samples of one cell of the confusion matrix. */
function showConfused(button) {
  byId("sample-kind").value = "all";
  byId("sample-true").value = button.dataset.true;
  byId("sample-predicted").value = button.dataset.predicted;
  filterSamples();
  byId("samples").scrollIntoView();
  byId("sample-next").focus({ preventScroll: true });
}

function sampleExtent() {
  const nShown = report.samples.length;
  if (nShown === report.nSamples) {
    return `All ${plural(nShown, "sample", "samples")} can be chosen.`;
  }
  return `${formatCount(nShown)} of ${plural(report.nSamples, "sample", "samples")} can be chosen: wrong predictions first, then others at regular distances.`;
}

function startSamples() {
  const labels = (codes) => [["", "all"], ...codes.map((code) => [code, labelName(code)])];
  const codes = [...report.labels.keys()];
  setOptions(byId("sample-true"), labels(codes));
  setOptions(byId("sample-predicted"), labels(codes.slice(0, report.nClasses)));
  for (const kind of ["shared", "unlabelled"]) {
    if (!report.samples.some(KINDS[kind])) {
      byId("sample-kind").querySelector(`[value="${kind}"]`).remove();
    }
  }
  byId("sample-extent").textContent = sampleExtent();
  byId("sample-row").max = report.nSamples;
  byId("sample-controls").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["sample-kind", "sample-true", "sample-predicted", "sample-order"]) {
    byId(id).addEventListener("change", filterSamples);
  }
  byId("sample-row").addEventListener("change", (event) => chooseRow(event.target.valueAsNumber));
  byId("sample-previous").addEventListener("click", () => move(-1));
  byId("sample-next").addEventListener("click", () => move(1));
  for (const button of document.querySelectorAll("#confusion button")) {
    button.addEventListener("click", () => showConfused(button));
  }
  startExplanations();
  startEditor();
  filterSamples();
  const [mistake] = report.samples.filter(isWrong).sort((a, b) => leadOf(b) - leadOf(a));
  if (mistake !== undefined) {
    chooseSample(mistake);
  }
}
