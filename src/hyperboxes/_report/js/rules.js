// The table of rules: search, filter by class, sort, and turn pages.

const MOST_CONDITIONS = 6;
const ruleState = { query: "", label: "", key: byId("rule-sort").value, descending: true, size: 25, page: 0 };
const ruleTexts = new Map(); // what is searched, written when it is first needed

function ruleText(box) {
  if (!ruleTexts.has(box)) {
    const conditions = conditionsOf(box).map(([j, text]) => `${report.features[j].name} ${text}`);
    ruleTexts.set(box, `${boxTitle(box)} ${conditions.join(" ")}`.toLowerCase());
  }
  return ruleTexts.get(box);
}

function matchingRules() {
  const words = ruleState.query.toLowerCase().split(/\s+/).filter(Boolean);
  const { key, descending, label } = ruleState;
  const values = key === "label" ? report.boxes.label.map(labelName) : report.boxes[key];
  return [...report.boxes.index.keys()]
    .filter((box) => label === "" || report.boxes.label[box] === Number(label))
    .filter((box) => words.every((word) => ruleText(box).includes(word)))
    .sort((a, b) => compare(values[a], values[b], descending) || a - b);
}

/** Order two values; what is not known comes last either way. */
function compare(a, b, descending) {
  if (a === null || b === null) {
    return (a === null) - (b === null);
  }
  const order = typeof a === "string" ? a.localeCompare(b) : a - b;
  return descending ? -order : order;
}

/** Conditions in words; of many, the last come at the press of a button. */
function conditionList(box) {
  const conditions = conditionsOf(box);
  if (conditions.length === 0) {
    return element("span", {}, "always");
  }
  const items = conditions.map(([j, text]) =>
    element("li", {}, report.features[j].name, " ", element("b", {}, text)),
  );
  const nNeeded = report.boxes.needed?.[box].length || MOST_CONDITIONS;
  const most = isLong(items, MOST_CONDITIONS) ? nNeeded : MOST_CONDITIONS;
  return element("ul", { class: "conditions" }, ...clipped(items, most));
}

function ruleRow(box) {
  const { label } = report.boxes;
  const cell = (name, ...children) => element("td", { "data-name": name }, ...children);
  return element(
    "tr",
    {},
    element("th", { scope: "row", "data-name": "Box" }, boxName(box)),
    cell("Class", labelName(label[box])),
    ...ruleCells(box).map(([name, text]) => cell(name, text)),
    cell("Conditions", conditionList(box)),
  );
}

function showRules() {
  const rules = matchingRules();
  const { size, key, descending } = ruleState;
  const nPages = Math.max(Math.ceil(rules.length / size), 1);
  ruleState.page = Math.min(Math.max(ruleState.page, 0), nPages - 1);
  const start = ruleState.page * size;
  const table = byId("rule-table");
  table.tBodies[0].replaceChildren(...rules.slice(start, start + size).map(ruleRow));
  for (const header of table.querySelectorAll("th[data-key]")) {
    const order = descending ? "descending" : "ascending";
    header.ariaSort = header.dataset.key === key ? order : "none";
  }
  byId("rule-sort").value = key;
  byId("rule-summary").textContent = ruleSummary(rules.length);
  byId("rule-page").textContent = `page ${formatCount(ruleState.page + 1)} of ${formatCount(nPages)}`;
  byId("rule-previous").disabled = ruleState.page === 0;
  byId("rule-next").disabled = ruleState.page === nPages - 1;
}

function ruleSummary(nFound) {
  const nShown = report.boxes.index.length;
  const found = `${formatCount(nFound)} of ${plural(nShown, "rule", "rules")}`;
  if (nShown === report.nBoxes) {
    return `${found}.`;
  }
  const nLeft = plural(report.nBoxes - nShown, "rule", "rules");
  return `${found}. The model has ${nLeft} more, of small ${byId("rule-sort").options[0].text}, which are left out of this page.`;
}

function changeRules(change) {
  Object.assign(ruleState, { page: 0 }, change);
  showRules();
}

/** Sort by a column, the other way round if that is done already. */
function sortRules(key) {
  const isSame = ruleState.key === key;
  changeRules({ key, descending: isSame ? !ruleState.descending : !["index", "label"].includes(key) });
}

function startRules() {
  const present = [...new Set(report.boxes.label)].sort((a, b) => a - b);
  setOptions(byId("rule-class"), [["", "all"], ...present.map((code) => [code, labelName(code)])]);
  byId("rule-controls").addEventListener("submit", (event) => event.preventDefault());
  byId("rule-query").addEventListener("input", (event) => changeRules({ query: event.target.value }));
  byId("rule-class").addEventListener("change", (event) => changeRules({ label: event.target.value }));
  byId("rule-sort").addEventListener("change", (event) => sortRules(event.target.value));
  byId("rule-size").addEventListener("change", (event) => changeRules({ size: Number(event.target.value) }));
  byId("rule-previous").addEventListener("click", () => changeRules({ page: ruleState.page - 1 }));
  byId("rule-next").addEventListener("click", () => changeRules({ page: ruleState.page + 1 }));
  for (const header of byId("rule-table").querySelectorAll("th[data-key]")) {
    header.firstElementChild.addEventListener("click", () => sortRules(header.dataset.key));
  }
  showRules();
}
