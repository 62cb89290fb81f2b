// Feature by feature: a strip with the range, the two boxes' parts of it and the sample's value.

const STRIP_WIDTH = 220;
const STRIP_HEIGHT = 22;
const MOST_STRIPS = 10;
const stripState = { all: false };

/** Start and width of an interval on a strip, wide enough to be seen. */
function stretch(feature, low, high) {
  const start = placeInRange(feature, low) * (STRIP_WIDTH - 2);
  const stop = placeInRange(feature, high) * (STRIP_WIDTH - 2);
  return { x: start.toFixed(1), width: (Math.max(stop - start, 0) + 2).toFixed(1) };
}

/** A cell for each category that the model distinguishes; the boxes' sets above and below the middle. */
function categoryStrip(sample, feature) {
  const places = [...new Set(report.features[feature].categories.map(([, place]) => place))];
  const width = STRIP_WIDTH / places.length;
  const value = valueEnds(sample, feature)[0];
  const isAt = (place, low, high) => low !== null && place >= low - SAME_PLACE && place <= high + SAME_PLACE;
  const cells = places.flatMap((place, k) => {
    const cell = { x: (k * width + 1).toFixed(1), width: Math.max(width - 2, 1).toFixed(1) };
    const sets = rolesOf(sample).map(([role, box], row) => {
      const kind = isAt(place, ...boxEnds(box, feature)) ? role : "cell";
      return svg("rect", { class: kind, y: row === 0 ? 3 : STRIP_HEIGHT / 2 + 1, height: 7, ...cell });
    });
    const mark = isAt(place, value, value) ? [svg("rect", { class: "chosen", y: 1, height: STRIP_HEIGHT - 2, ...cell })] : [];
    return [svg("g", {}, svg("title", {}, formatNumber(feature, place)), ...sets, ...mark)];
  });
  return picture(STRIP_WIDTH, STRIP_HEIGHT, stripInWords(sample, feature), ...cells);
}

function strip(sample, feature) {
  if (report.features[feature].categories) {
    return categoryStrip(sample, feature);
  }
  const middle = STRIP_HEIGHT / 2;
  const shapes = [svg("path", { class: "axis", d: `M0 ${middle}H${STRIP_WIDTH}` })];
  rolesOf(sample).forEach(([role, box], place) => {
    const [low, high] = boxEnds(box, feature);
    if (low !== null) {
      const y = place === 0 ? middle - 8 : middle + 1;
      shapes.push(svg("rect", { class: role, y, height: 7, ...stretch(feature, low, high) }));
    }
  });
  const [low, high] = valueEnds(sample, feature);
  if (low !== null) {
    const kind = low === high ? "value" : "value interval";
    shapes.push(svg("rect", { class: kind, y: 0, height: STRIP_HEIGHT, ...stretch(feature, low, high) }));
  }
  return picture(STRIP_WIDTH, STRIP_HEIGHT, stripInWords(sample, feature), ...shapes);
}

function stripInWords(sample, feature) {
  const boxes = rolesOf(sample).map(([, box]) => `${boxTitle(box)} ${formatBounds(box, feature)}`);
  const { low, high, categories } = report.features[feature];
  const range = categories ? `one of ${categories.length}` : `range ${formatInterval(feature, low, high)}`;
  return `sample ${formatValue(sample, feature)}; ${boxes.join("; ")}; ${range}`;
}

/** The boxes of an explanation with their roles. */
function rolesOf(sample) {
  const roles = [["winning", sample.winning]];
  return sample.competing === null ? roles : [...roles, ["competing", sample.competing]];
}

function formatBounds(box, feature) {
  const [low, high] = boxEnds(box, feature);
  return low === null ? "any" : formatInterval(feature, low, high);
}

/** On which side of a box's bounds the sample lies, and how far. */
function position(sample, box, feature) {
  const distance = distanceFrom(sample, box, feature);
  if (distance === null) {
    return "";
  }
  if (distance <= 0) {
    return "inside";
  }
  if (report.features[feature].categories) {
    return "outside";
  }
  const [low, high] = boxEnds(box, feature);
  const [first, last] = valueEnds(sample, feature);
  const side = last > high && first < low ? "outside" : last > high ? "above" : "below";
  return `${formatDistance(feature, distance)} ${side}`;
}

function stripRow(sample, feature) {
  const decides = sample.deciding === feature;
  const name = [report.features[feature].name];
  if (decides) {
    name.push(" ", element("span", { class: "tag" }, report.roleOfDeciding));
  }
  if (sample.worst === feature && report.features.length > 1) {
    name.push(" ", element("span", { class: "tag quiet" }, "fits worst"));
  }
  const cells = rolesOf(sample).map(([role, box]) =>
    element(
      "td",
      { "data-name": boxTitle(box) },
      formatBounds(box, feature),
      " ",
      element("small", { class: isOutside(sample, box, feature) ? `${role} out` : "" }, position(sample, box, feature)),
    ),
  );
  const value = formatValue(sample, feature);
  return element(
    "tr",
    decides ? { class: "decides" } : {},
    element("th", { scope: "row" }, ...name),
    element("td", { "data-name": "sample", class: value === "missing" ? "missing" : "" }, value),
    element("td", { class: "strip" }, strip(sample, feature)),
    ...cells,
  );
}

/** The weightiest features first, then those in which both boxes contain the sample. */
function featureOrder(sample) {
  const weighty = new Set(sample.weighty);
  return [...weighty, ...[...report.features.keys()].filter((j) => !weighty.has(j))];
}

function showStrips(sample) {
  const features = featureOrder(sample);
  const hasMore = isLong(features, MOST_STRIPS);
  const shown = hasMore && !stripState.all ? features.slice(0, MOST_STRIPS) : features;
  const titles = rolesOf(sample).map(([role, box]) =>
    element("th", { scope: "col" }, element("span", { class: `key ${role}` }), " ", boxTitle(box)),
  );
  const header = ["Feature", "Sample", "In the feature's range"].map((text) => element("th", { scope: "col" }, text));
  const table = byId("strip-table");
  table.tHead.replaceChildren(element("tr", {}, ...header, ...titles));
  table.tBodies[0].replaceChildren(...shown.map((j) => stripRow(sample, j)));
  byId("strip-legend").replaceChildren(...stripLegend(sample));
  const button = byId("strip-more");
  button.hidden = !hasMore;
  button.textContent = stripState.all ? "Show fewer features" : `Show all ${features.length} features`;
}

function stripLegend(sample) {
  const parts = rolesOf(sample).flatMap(([role, box]) => [
    element("span", { class: `key ${role}` }),
    ` ${role} ${boxTitle(box)} `,
  ]);
  const nInside = report.features.length - sample.weighty.length;
  const hold = sample.competing === null ? "the box contains" : "both boxes contain";
  const inside = nInside > 0 ? ` In ${plural(nInside, "feature", "features")} ${hold} the sample, as far as is known.` : "";
  return [...parts, element("span", { class: "key value" }), ` the sample.${inside}`];
}

function startStrips(redraw) {
  byId("strip-more").addEventListener("click", () => {
    stripState.all = !stripState.all;
    redraw();
  });
}
