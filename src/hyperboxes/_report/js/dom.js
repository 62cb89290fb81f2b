// Small helpers to build the page. Texts always become text nodes, so names need no escaping.

const SVG = "http://www.w3.org/2000/svg";

function byId(id) {
  return document.getElementById(id);
}

function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** A picture with a text for those who cannot see it. */
function picture(width, height, label, ...children) {
  const box = { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label };
  return svg("svg", box, ...children);
}

/** Fill a drop-down list with pairs of value and text. */
function setOptions(select, pairs) {
  select.replaceChildren(...pairs.map(([value, text]) => element("option", { value }, text)));
}

/** Whether so many items are not all shown at once; one more is no reason to hide it. */
function isLong(items, most) {
  return items.length > most + 1;
}

/** The first items of a list, and a last one with a button that brings the rest. */
function clipped(items, most) {
  if (!isLong(items, most)) {
    return items;
  }
  const rest = items.slice(most);
  const button = element("button", { type: "button" }, `${rest.length} more`);
  button.addEventListener("click", () => {
    rest[0].tabIndex = -1;
    button.parentElement.replaceWith(...rest);
    rest[0].focus();
  });
  return [...items.slice(0, most), element("li", {}, button)];
}
