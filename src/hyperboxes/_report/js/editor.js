// A sample is changed in the page: fields for its values, and what the model predicts for them.

const MOST_FIELDS = 12;
const MOST_RESULT_BARS = 3;
const SHORT = 9; // characters of a number that is shown in full
const HAIR = 1e-6; // of a step of a slider
const UNKNOWN = ""; // what a list of categories has for a missing value
const CAN_EDIT = "model" in report.editing;
const givenEnds = CAN_EDIT ? ["lower", "upper"].map((end) => unpack(report.editing[end] ?? report.editing.lower)) : null;
const editState = { sample: null, ends: null, changed: new Set(), all: false };

/** Both ends of a sample as they were given. */
function endsAsGiven(sample) {
  const start = report.samples.indexOf(sample) * report.features.length;
  return givenEnds.map((ends) => ends.slice(start, start + report.features.length));
}

/** Begin with a sample as it is, if it is another than before. */
function editSample(sample) {
  if (CAN_EDIT && sample !== editState.sample) {
    Object.assign(editState, { sample, ends: endsAsGiven(sample), changed: new Set() });
    showFields();
  }
}

/** A sample as it is shown: with what was changed. */
function currentSample(sample) {
  if (editState.changed.size === 0) {
    return sample;
  }
  return { ...explainValues(sample, ...editState.ends), true: -1, original: sample };
}

/** Give a feature of the sample another value; NaN if it is missing. */
function changeValue(feature, value) {
  for (const ends of editState.ends) {
    ends[feature] = value;
  }
  noteChange(feature);
}

function resetValue(feature) {
  endsAsGiven(editState.sample).forEach((given, end) => {
    editState.ends[end][feature] = given[feature];
  });
  noteChange(feature);
}

function noteChange(feature) {
  const isSame = endsAsGiven(editState.sample).every((given, end) => Object.is(given[feature], editState.ends[end][feature]));
  editState.changed[isSame ? "delete" : "add"](feature);
}

function refresh() {
  showExplanation(currentSample(editState.sample));
}

/** What of a sample was changed, feature by feature. */
function changesMade() {
  const given = endsAsGiven(editState.sample);
  const text = ([low, high], j) => (Number.isNaN(low[j]) ? "missing" : low[j] === high[j] ? valueText(j, low[j]) : `${valueText(j, low[j])} to ${valueText(j, high[j])}`);
  return [...editState.changed].sort((a, b) => a - b).map((j) => [j, text(given, j), text(editState.ends, j)]);
}

function valueText(feature, value) {
  return report.features[feature].categories ? formatNumber(feature, value) : numberText(value);
}

/** A number to type: in full if it is short, else with digits enough. */
function numberText(value) {
  const text = String(value);
  return text.length <= SHORT || Number.isInteger(value) ? text : String(Number(value.toPrecision(7)));
}

function showEdits(sample) {
  if (!CAN_EDIT) {
    return;
  }
  const { original } = sample;
  const title = element("p", { class: "answer" }, "Prediction: ", element("b", {}, labelName(sample.predicted)));
  if (original !== undefined) {
    const before = original.predicted === sample.predicted ? "as before" : `before: ${labelName(original.predicted)}`;
    title.append(` (${before})`);
  }
  const bars = membershipBars(sample).slice(0, MOST_RESULT_BARS);
  byId("edit-result").replaceChildren(title, ...bars);
  byId("edit-reset").disabled = editState.changed.size === 0;
  for (const field of byId("edit-fields").children) {
    const isChanged = editState.changed.has(Number(field.dataset.feature));
    field.classList.toggle("changed", isChanged);
    field.querySelector("button").disabled = !isChanged;
  }
}

/** Fields for the features, of many those that matter most. */
function showFields() {
  const features = editableFeatures(editState.sample);
  const hasMore = isLong(features, MOST_FIELDS);
  const shown = hasMore && !editState.all ? features.slice(0, MOST_FIELDS) : features;
  byId("edit-fields").replaceChildren(...shown.map(makeField));
  const nUnused = report.features.length - features.length;
  byId("edit-note").textContent = nUnused > 0 ? `${plural(nUnused, "feature is", "features are")} in no condition: they change nothing.` : "";
  const button = byId("edit-more");
  button.hidden = !hasMore;
  button.textContent = editState.all ? "Show fewer features" : `Show all ${features.length} features`;
}

function makeField(feature) {
  const { name, categories } = report.features[feature];
  const id = `edit-${feature}`;
  const parts = categories ? [categoryList(feature, id)] : numberFields(feature, id);
  const undo = element("button", { type: "button", title: `Reset ${name}`, "aria-label": `Reset ${name}` }, "↺");
  const field = element("div", { class: "field", "data-feature": feature }, element("label", { for: id }, name), ...parts, undo);
  undo.addEventListener("click", () => {
    resetValue(feature);
    field.replaceWith(makeField(feature));
    refresh();
    byId(id).focus();
  });
  return field;
}

/** A field to type a number into, and a slider where the feature varies. */
function numberFields(feature, id) {
  const [low, high] = editState.ends.map((ends) => ends[feature]);
  const input = element("input", { type: "number", id, step: "any", inputmode: "decimal", placeholder: "missing" });
  const isInterval = low !== high && !Number.isNaN(low);
  if (isInterval) {
    input.placeholder = `${numberText(low)} to ${numberText(high)}`;
  } else if (!Number.isNaN(low)) {
    input.value = numberText(low);
  }
  const slider = report.editing.sliders[feature] && makeSlider(feature, low / 2 + high / 2);
  input.addEventListener("input", () => {
    input.toggleAttribute("aria-invalid", input.validity.badInput);
    if (!input.validity.badInput) {
      input.placeholder = "missing";
      changeValue(feature, input.valueAsNumber);
      slider && setSlider(slider, feature, input.valueAsNumber);
      refresh();
    }
  });
  slider?.addEventListener("input", () => {
    const value = Number(`${slider.value}e${report.editing.sliders[feature][2]}`);
    input.value = numberText(value);
    slider.classList.remove("empty");
    changeValue(feature, value);
    refresh();
  });
  return slider ? [input, slider] : [input];
}

function makeSlider(feature, value) {
  const [min, max] = report.editing.sliders[feature];
  const slider = element("input", { type: "range", min, max, step: 1, "aria-label": report.features[feature].name });
  setSlider(slider, feature, value);
  return slider;
}

function setSlider(slider, feature, value) {
  const [min, max, power] = report.editing.sliders[feature];
  const place = Math.round(Number(`${value}e${-power}`) || value / 10 ** power);
  slider.value = Number.isNaN(value) ? Math.round(min / 2 + max / 2) : place;
  slider.classList.toggle("empty", Number.isNaN(value));
}

/** The categories that a feature may have; those that the model does not distinguish are one. */
function categoryList(feature, id) {
  const names = new Map();
  for (const [name, place] of report.features[feature].categories) {
    names.set(place, [...(names.get(place) ?? []), name]);
  }
  const select = element("select", { id });
  setOptions(select, [[UNKNOWN, "(missing or not known)"], ...[...names].map(([place, held]) => [place, held.join(" or ")])]);
  const value = editState.ends[0][feature];
  select.value = Number.isNaN(value) ? UNKNOWN : value;
  select.addEventListener("change", () => {
    changeValue(feature, select.value === UNKNOWN ? NaN : Number(select.value));
    refresh();
  });
  return select;
}

/** The next short number away from the given one, or after that; a hair's breadth beyond is no step. */
function shortNumber(feature, value, breadth) {
  const slider = report.editing.sliders[feature];
  const given = editState.ends[0][feature];
  if (!slider || report.features[feature].categories || Number.isNaN(given - value)) {
    return value;
  }
  const place = value / 10 ** slider[2];
  return Number(`${value > given ? Math.ceil(place - breadth) : Math.floor(place + breadth)}e${slider[2]}`);
}

/** The same change in short numbers, if the model predicts the same for them. */
function shortened(pairs) {
  const answer = (moves) => {
    const ends = endsAsGiven(editState.sample);
    for (const [feature, value] of moves) {
      ends.forEach((end) => {
        end[feature] = value;
      });
    }
    return explainValues(editState.sample, ...ends).predicted;
  };
  const short = [HAIR, 0].map((breadth) => pairs.map(([j, value]) => [j, shortNumber(j, value, breadth)]));
  return short.find((moves) => answer(moves) === answer(pairs)) ?? pairs;
}

/** Change several values at once: pairs of feature and value. */
function tryChange(pairs) {
  for (const [feature, value] of shortened(pairs)) {
    changeValue(feature, value);
  }
  byId("edit").open = true;
  showFields();
  refresh();
  byId("edit").scrollIntoView({ block: "nearest" });
}

/** A button that does what would change the prediction. */
function tryButton(pairs) {
  const button = element("button", { type: "button", class: "try" }, "Try it");
  button.addEventListener("click", () => tryChange(pairs));
  return CAN_EDIT && pairs.length > 0 ? [button] : [];
}

function editLines() {
  const items = changesMade().map(([j, from, to]) => element("li", {}, `${report.features[j].name} ${from} → `, element("b", {}, to)));
  return [element("ul", { class: "conditions" }, ...items)];
}

function startEditor() {
  byId("edit").hidden = !CAN_EDIT;
  byId("edit-refusal").hidden = CAN_EDIT;
  if (!CAN_EDIT) {
    byId("edit-refusal").textContent = `Values of samples cannot be changed in this page: ${report.editing.reason}`;
    return;
  }
  byId("edit-more").addEventListener("click", () => {
    editState.all = !editState.all;
    showFields();
    refresh();
  });
  byId("edit-reset").addEventListener("click", () => {
    Object.assign(editState, { ends: endsAsGiven(editState.sample), changed: new Set() });
    showFields();
    refresh();
  });
}
