// The plane of two features: boxes, samples and the chosen sample. A click chooses a sample.

const MARGIN = { left: 58, right: 14, top: 12, bottom: 44 };
const NEAR_ENOUGH = 16; // pixels from a click
const LEAST_SIDE = 7; // pixels of the winning and the competing box, which may be flat
const LEAST_BETWEEN_TICKS = 0.12; // of categories, as a part of the axis
const STEPS = [0.7548776662466927, 0.5698402909980532]; // multiples of these, less whole numbers, fill a square evenly
const AUTOMATIC = "";
const planeState = { x: AUTOMATIC, y: AUTOMATIC, sample: null };

/** The two features to draw: the user's, or those that weigh most for the sample. */
function planeFeatures(sample) {
  const order = featureOrder(sample);
  const chosen = [planeState.x, planeState.y].map((value) => (value === AUTOMATIC ? null : Number(value)));
  const x = chosen[0] ?? order.find((j) => j !== chosen[1]);
  const y = chosen[1] ?? order.find((j) => j !== x) ?? x;
  return [x, y];
}

/** The places of a feature's categories, in order; those that the model does not distinguish are one. */
function placesOf(feature) {
  return [...new Set(report.features[feature].categories.map(([, place]) => place))];
}

/** Where a value is on an axis, from 0 to 1. Categories stand side by side. */
function placeOnAxis(feature, value) {
  if (!report.features[feature].categories) {
    return 0.03 + 0.94 * placeInRange(feature, value);
  }
  const places = placesOf(feature);
  return (places.findIndex((place) => place >= value - SAME_PLACE) + 0.5) / places.length;
}

/** Functions from values to pixels. */
function planeScales(x, y, width, height) {
  const across = width - MARGIN.left - MARGIN.right;
  const up = height - MARGIN.top - MARGIN.bottom;
  return {
    x: (value) => MARGIN.left + placeOnAxis(x, value) * across,
    y: (value) => MARGIN.top + up - placeOnAxis(y, value) * up,
    left: MARGIN.left,
    right: width - MARGIN.right,
    top: MARGIN.top,
    bottom: height - MARGIN.bottom,
  };
}

/** Four to eight round numbers in the range of a feature, each with its text. */
function ticksOf(feature) {
  const { low, high, categories } = report.features[feature];
  const span = high - low;
  if (categories) {
    return categoryTicks(feature);
  }
  if (!(span > 0 && Number.isFinite(span))) {
    return [...new Set([low, high])].map((value) => [value, formatNumber(feature, value)]);
  }
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const step = [5, 2, 1].map((factor) => factor * power).find((size) => span / size >= 3.5) ?? power;
  const first = Math.ceil(low / step);
  const number = Math.floor(high / step) - first + 1;
  const values = Array.from({ length: Math.min(number, 12) }, (_, k) => Number(((first + k) * step).toPrecision(12)));
  return values.map((value) => [value, tickText(value, step)]);
}

/** Categories that have room for their names, from one end to the other. */
function categoryTicks(feature) {
  const places = placesOf(feature);
  const every = Math.ceil(LEAST_BETWEEN_TICKS * places.length);
  return places.filter((_, k) => k % every === 0).map((place) => [place, shorten(formatNumber(feature, place), 12)]);
}

function axes(x, y, scales) {
  const { left, right, top, bottom } = scales;
  const parts = [svg("rect", { class: "frame", x: left, y: top, width: right - left, height: bottom - top })];
  for (const [value, text] of ticksOf(x)) {
    parts.push(svg("path", { class: "axis", d: `M${scales.x(value)} ${bottom}v5` }));
    parts.push(svg("text", { x: scales.x(value), y: bottom + 18, "text-anchor": "middle" }, text));
  }
  for (const [value, text] of ticksOf(y)) {
    parts.push(svg("path", { class: "axis", d: `M${left} ${scales.y(value)}h-5` }));
    parts.push(svg("text", { x: left - 8, y: scales.y(value) + 4, "text-anchor": "end" }, text));
  }
  const middle = (top + bottom) / 2;
  parts.push(svg("text", { x: (left + right) / 2, y: bottom + 37, "text-anchor": "middle" }, shorten(report.features[x].name)));
  const turn = { x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` };
  parts.push(svg("text", turn, shorten(report.features[y].name)));
  return parts;
}

/** Short, but with the digits in which neighbours differ. */
function tickText(value, step) {
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-3 && size < 1e5)) {
    return String(value);
  }
  const digits = Math.ceil(Math.log10(size / step));
  return value.toExponential(Math.min(Math.max(digits, 1), 9));
}

function shorten(name, length = 36) {
  const end = Math.min(11, Math.floor(length / 3));
  return name.length <= length ? name : `${name.slice(0, length - end - 1)}…${name.slice(-end)}`;
}

/** The outline of a box as a path; where it has no bounds it reaches from side to side. */
function outline(box, x, y, scales, least = 0) {
  const [x0, x1] = intervalOf(box, x, scales.x, [scales.left, scales.right], least);
  const [y0, y1] = intervalOf(box, y, scales.y, [scales.bottom, scales.top], least);
  return `M${x0.toFixed(1)} ${y0.toFixed(1)}H${x1.toFixed(1)}V${y1.toFixed(1)}H${x0.toFixed(1)}z`;
}

/** Which pixels of an axis a box takes. */
function intervalOf(box, feature, toPixels, whole, least) {
  const [low, high] = boxEnds(box, feature);
  if (low === null) {
    return whole;
  }
  if (report.features[feature].categories) {
    return roomOf(box, feature, low, high, toPixels, whole);
  }
  const [first, last] = [toPixels(low), toPixels(high)].sort((a, b) => a - b);
  return widened(first, last, least);
}

/** The room of the categories that a box holds; boxes that hold the same end apart. */
function roomOf(box, feature, low, high, toPixels, whole) {
  const held = placesOf(feature).filter((place) => place >= low - SAME_PLACE && place <= high + SAME_PLACE).map(toPixels);
  const room = Math.abs(whole[1] - whole[0]) / placesOf(feature).length;
  const half = room * (0.24 + 0.18 * ((report.boxes.index[box] * STEPS[0]) % 1));
  return [Math.min(...held) - half, Math.max(...held) + half];
}

/** An interval of pixels, long enough to be seen. */
function widened(first, last, least) {
  const more = Math.max(least - (last - first), 0) / 2;
  return [first - more, last + more];
}

/** What a class is to the chosen sample, which gives its colour and marker. */
function roleOfLabel(sample, code) {
  if (code === sample.predicted) {
    return "winning";
  }
  if (sample.competing !== null && code === report.boxes.label[sample.competing]) {
    return "competing";
  }
  return code === sample.true && code >= 0 ? "true" : "other";
}

function backgroundBoxes(sample, x, y) {
  const which = byId("plane-boxes").value;
  if (which === "two") {
    return [];
  }
  const others = [...report.features.keys()].filter((j) => j !== x && j !== y);
  const fits = (box) => which === "all" || !others.some((j) => isOutside(sample, box, j));
  return [...report.boxes.index.keys()].filter(fits);
}

/** An empty list for each role, in the order of drawing. */
function listsByRole() {
  return { other: [], true: [], competing: [], winning: [] };
}

/** One path for all boxes of a role: thousands of boxes are a handful of shapes. */
function boxPaths(sample, x, y, scales) {
  const outlines = listsByRole();
  for (const box of backgroundBoxes(sample, x, y)) {
    outlines[roleOfLabel(sample, report.boxes.label[box])].push(outline(box, x, y, scales));
  }
  const paths = Object.entries(outlines).map(([role, all]) => svg("path", { class: `thin box ${role}`, d: all.join("") }));
  const main = rolesOf(sample).map(([role, box]) => svg("path", { class: `box ${role}`, d: outline(box, x, y, scales, LEAST_SIDE) }));
  return [...paths, ...main.reverse()];
}

const MARKERS = {
  winning: "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
  competing: "m0 -4.5l4.5 8h-9z",
  true: "m0 -5l5 5l-5 5l-5 -5z",
  other: "m-3 -3h6v6h-6z",
};

/** The middle of a sample in a feature, null if it is missing. */
function middleOf(sample, feature) {
  const [low, high] = valueEnds(sample, feature);
  return low === null ? null : low / 2 + high / 2;
}

function pointOf(sample, x, y, scales) {
  const [across, up] = [middleOf(sample, x), middleOf(sample, y)];
  return across === null || up === null ? null : [scales.x(across) + aside(sample, x, 0), scales.y(up) + aside(sample, y, 1)];
}

/** How many pixels next to its place a sample is drawn: those of one category would lie on one another. */
function aside(sample, feature, axis) {
  const reach = report.features[feature].categories ? 10 : 0;
  return reach * (2 * ((sample.row * STEPS[axis]) % 1) - 1);
}

function pointPaths(sample, x, y, scales) {
  const marks = listsByRole();
  for (const other of report.samples) {
    const point = pointOf(other, x, y, scales);
    if (point !== null && other !== sample) {
      const role = roleOfLabel(sample, other.true);
      marks[role].push(`M${point[0].toFixed(1)} ${point[1].toFixed(1)}${MARKERS[role]}`);
    }
  }
  return Object.entries(marks).map(([role, all]) => svg("path", { class: `point ${role}`, d: all.join("") }));
}

/** The chosen sample: a cross in a ring, a rectangle if it is an interval, lines where it is missing. */
function chosenMark(sample, x, y, scales) {
  const [left, right] = valueEnds(sample, x);
  const [bottom, top] = valueEnds(sample, y);
  const point = pointOf(sample, x, y, scales);
  const parts = [];
  if (point !== null) {
    const [cx, cy] = point.map((place) => place.toFixed(1));
    parts.push(svg("circle", { cx, cy, r: 9 }), svg("path", { d: `M${cx} ${cy}m-5 0h10m-5 -5v10` }));
  } else if (left !== null) {
    parts.push(svg("path", { d: `M${scales.x(left)} ${scales.top}V${scales.bottom}` }));
  } else if (bottom !== null) {
    parts.push(svg("path", { d: `M${scales.left} ${scales.y(bottom)}H${scales.right}` }));
  }
  if (point !== null && (left !== right || bottom !== top)) {
    const size = { width: scales.x(right) - scales.x(left), height: scales.y(bottom) - scales.y(top) };
    parts.push(svg("rect", { x: scales.x(left), y: scales.y(top), ...size }));
  }
  return svg("g", { class: "chosen" }, ...parts);
}

function showPlane(sample) {
  planeState.sample = sample;
  const place = byId("plane");
  if (report.features.length < 2) {
    byId("plane-figure").hidden = true;
    return;
  }
  const width = Math.max(Math.round(place.clientWidth), 240);
  const height = Math.round(Math.min(Math.max(0.75 * width, 240), 460));
  const [x, y] = planeFeatures(sample);
  const scales = planeScales(x, y, width, height);
  const label = `Samples and boxes by ${report.features[x].name} (across) and ${report.features[y].name} (up); the table below has the same in numbers`;
  const drawing = picture(
    width,
    height,
    label,
    ...axes(x, y, scales),
    ...boxPaths(sample, x, y, scales),
    ...pointPaths(sample, x, y, scales),
    chosenMark(sample, x, y, scales),
  );
  drawing.addEventListener("click", (event) => chooseNear(event, drawing, x, y, scales));
  place.replaceChildren(drawing);
  byId("plane-legend").replaceChildren(...planeLegend(sample, x, y));
}

function legendEntry(role, text) {
  const look = { class: "mark", width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" };
  const mark = svg("svg", look, svg("path", { class: `point ${role}`, d: `M0 0${MARKERS[role]}` }));
  return element("span", { class: "entry" }, mark, ` ${text}`);
}

function planeLegend(sample, x, y) {
  const codes = new Set([...report.samples.map((other) => other.true), sample.predicted]);
  const names = listsByRole();
  for (const code of codes) {
    names[roleOfLabel(sample, code)].push(labelName(code));
  }
  if (sample.competing !== null && names.competing.length === 0) {
    names.competing.push(labelName(report.boxes.label[sample.competing]));
  }
  const entries = Object.entries(names)
    .reverse()
    .filter(([, all]) => all.length > 0)
    .map(([role, all]) => legendEntry(role, all.length > 3 ? `${all.length} other classes` : all.join(", ")));
  const nLeft = report.samples.filter((other) => pointOf(other, x, y, { x: Number, y: Number }) === null).length;
  const left = nLeft > 0 ? ` ${plural(nLeft, "sample lacks", "samples lack")} one of the values.` : "";
  return [...entries, element("span", { class: "entry" }, `⊕ the chosen sample. Markers show true classes; click one to choose it.${left}`)];
}

function chooseNear(event, drawing, x, y, scales) {
  const frame = drawing.getBoundingClientRect();
  const [left, top] = [event.clientX - frame.left, event.clientY - frame.top];
  const near = report.samples
    .map((sample) => [sample, pointOf(sample, x, y, scales)])
    .filter(([, point]) => point !== null)
    .map(([sample, point]) => [sample, Math.hypot(point[0] - left, point[1] - top)])
    .sort((a, b) => a[1] - b[1]);
  if (near.length > 0 && near[0][1] <= NEAR_ENOUGH) {
    chooseSample(near[0][0]);
  }
}

function startPlane() {
  const features = report.features.map((feature, j) => [j, feature.name]);
  for (const axis of ["x", "y"]) {
    const select = byId(`plane-${axis}`);
    setOptions(select, [[AUTOMATIC, "what weighs most"], ...features]);
    select.addEventListener("change", () => {
      planeState[axis] = select.value;
      showPlane(planeState.sample);
    });
  }
  const boxes = byId("plane-boxes");
  boxes.value = report.features.length <= 2 ? "all" : "two";
  boxes.addEventListener("change", () => showPlane(planeState.sample));
  new ResizeObserver(() => planeState.sample && showPlane(planeState.sample)).observe(byId("plane-figure"));
}
