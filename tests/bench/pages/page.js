// Runs the script of a report with a small document: node page.js REPORT.html. Prints what it made, as JSON.
"use strict";
const text = require("fs").readFileSync(process.argv[2], "utf8");
class Element {
  constructor(name) { this.name = name; this.children = []; this.attributes = {}; this.dataset = {}; this.classList = {add() {}, remove() {}}; this.textContent = ""; this.hidden = false; }
  setAttribute(k, v) { this.attributes[k] = String(v); }
  getAttribute(k) { return k in this.attributes ? this.attributes[k] : null; }
  removeAttribute(k) { delete this.attributes[k]; }
  append(e) { this.children.push(e); }
  replaceChildren() { this.children = []; }
  click() { this.onclick(); }
  all(name) { return this.children.flatMap(c => [...(c.name === name ? [c] : []), ...c.all(name)]); }
}
const page = new Element("div"), body = new Element("body"), content = new Element("script");
content.textContent = text.match(/<script id="content" type="application\/json">([\s\S]*?)<\/script>/)[1];
globalThis.document = {
  getElementById: id => ({page, content})[id], createElement: n => new Element(n), createElementNS: (_, n) => new Element(n), body,
};
const began = Date.now();
new Function(text.match(/<script>([\s\S]*?)<\/script>/)[1])();
const took = Date.now() - began;
const rowsOf = t => t.all("tbody")[0].children.map(r => r.children.map(c => c.textContent));
const tables = page.all("table"), last = tables[tables.length - 1], heads = last.all("th"), input = page.all("input")[0];
const sorted = (k, times) => { for (let n = 0; n < times; n++) heads[k].click(); return rowsOf(last).map(r => r[k]); };
const found = {
  ready: body.dataset.ready, seconds: took / 1000, tables: tables.map(t => t.all("th").map(h => h.textContent)), methods: rowsOf(tables[0]),
  charts: page.all("svg").map(s => s.attributes["aria-label"]), bad: page.all("path").filter(p => /NaN|undefined|Infinity/.test(p.attributes.d)).length,
  runs: rowsOf(last).length, up: sorted(4, 1).slice(0, 3), down: sorted(4, 1).slice(0, 3), pre: page.all("pre")[0].textContent,
};
input.value = "b failed"; input.oninput(); found.filtered = rowsOf(last).map(r => [r[0], r[1], r[3]]);
const problems = tables[tables.length - 2].all("tbody")[0].children;
problems[problems.length - 1].onclick(); found.picked = page.all("svg").map(s => s.attributes["aria-label"]).slice(-2)[0];
console.log(JSON.stringify(found));
