// How does the page get its elements? Only from here: text becomes text nodes, so that nothing that a peer chose is read as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** An HTML element. Attributes that begin with `on` are handlers. */
export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** An SVG element. */
export function s(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

const HANDLERS = ["onclick", "onsubmit", "onkeydown", "onpointermove", "onpointerleave", "onchange"];

/** Makes what is there like `wanted`. Elements that stay keep focus, selection and what was typed. */
export function morph(there, wanted) {
  if (there.nodeType !== wanted.nodeType || there.nodeName !== wanted.nodeName || keyOf(there) !== keyOf(wanted)) {
    there.replaceWith(wanted);
    return;
  }
  if (there.nodeType === Node.TEXT_NODE) {
    if (there.data !== wanted.data) there.data = wanted.data;
    return;
  }
  // What its user opened stays open.
  const own = there.nodeName === "DETAILS" ? ["open"] : [];
  for (const { name } of [...there.attributes]) {
    if (!wanted.hasAttribute(name) && !own.includes(name)) there.removeAttribute(name);
  }
  for (const { name, value } of [...wanted.attributes]) {
    if (there.getAttribute(name) !== value) there.setAttribute(name, value);
  }
  for (const handler of HANDLERS) {
    if (there[handler] !== wanted[handler]) there[handler] = wanted[handler];
  }
  morphChildren(there, [...wanted.childNodes]);
}

/** Makes the children of `parent` like `wanted`. */
export function morphChildren(parent, wanted) {
  const there = [...parent.childNodes];
  wanted.forEach((node, i) => (i < there.length ? morph(there[i], node) : parent.append(node)));
  there.slice(wanted.length).forEach((node) => node.remove());
}

function keyOf(node) {
  return node.nodeType === Node.ELEMENT_NODE ? node.getAttribute("data-key") : null;
}
