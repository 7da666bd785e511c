/* Making elements and text. Nothing here or elsewhere parses HTML: what a guest named (kernels, files, source lines) only
 * ever becomes text. */
"use strict";

/* element("td", {class: "number"}, "text", child, ...): attributes that are null or false are left out. */
function element(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function drawing(tag, attributes, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

function byId(id) {
  return document.getElementById(id);
}

/* --- numbers -------------------------------------------------------------------------------------------------------- */

function known(value) {
  return typeof value === "number" && Number.isFinite(value);
}

/* "12,345"; "n/a". */
function count(value) {
  return known(value) ? Math.round(value).toLocaleString("en") : "n/a";
}

function decimal(value, digits) {
  return known(value) ? value.toFixed(digits) : "n/a";
}

/* A share of 1 as "12.3 %". */
function percent(value) {
  return known(value) ? (100 * value).toFixed(1) + " %" : "n/a";
}

/* 1234567 -> "1.23 M". */
function short(value, unit) {
  if (!known(value)) return "n/a";
  const steps = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  const [size, letter] = steps.find(([least]) => Math.abs(value) >= least) || [1, ""];
  const text = size === 1 && Number.isInteger(value) ? value : Number((value / size).toPrecision(3));
  return unit || letter ? text + " " + letter + (unit || "") : String(text);
}

function ratio(a, b) {
  return known(a) && known(b) && b !== 0 ? a / b : null;
}

function sum(list) {
  return list.reduce((total, value) => total + value, 0);
}

/* at(object, "a", "b"): object.a.b, or undefined on the way. */
function at(object, ...keys) {
  return keys.reduce((inside, key) => (inside === null || inside === undefined ? undefined : inside[key]), object);
}

/* "matmul" of "_Z6matmulPfS_i": the last component of a mangled name without templates; others as they are. */
function plainName(symbol) {
  let rest = /^_ZN?/.exec(symbol) ? symbol.replace(/^_ZN?K?/, "") : "", name = symbol;
  for (let part; (part = /^\d+/.exec(rest));) {
    const length = Number(part[0]);
    name = rest.substr(part[0].length, length);
    rest = rest.slice(part[0].length + length);
  }
  return name || symbol;
}

/* "grid 4 x 3, ..." */
function dims(list) {
  const last = list[2] > 1 ? 3 : list[1] > 1 ? 2 : 1;
  return list.slice(0, last).join(" × ");
}
