// The lines of the label tree. A line's element has the line as `line`.

import { count, counted, make, named, nameOf } from "./elements.js";
import { labelOf } from "./tree_pages.js";

/** The children of a node, page by page. */
export class Group {
  #source;
  #node;
  #level;
  #lines = new Map();
  #n_listed = 0;
  #more;

  /** `source` is {pages, tree}; show the first page with `next`. */
  constructor(source, node, level, element) {
    this.#source = source;
    this.#node = node;
    this.#level = level;
    this.#more = new MoreLine(this, level);
    this.element = element;
    element.append(this.#more.element);
  }

  /** Add the next page; the focus goes on to it from the line that offered it. */
  async next() {
    const { pages, tree } = this.#source;
    const page = await pages.page(tree, this.#node, this.#n_listed);
    const children = labelOf(page) === null ? page.children : [page]; // the root of a tree with one label is a leaf
    const lines = children.map((child) => this.#add(child));
    lines.forEach(({ element }, i) => {
      element.setAttribute("aria-setsize", page.total);
      element.setAttribute("aria-posinset", this.#n_listed + i + 1);
    });
    this.#n_listed += children.length;
    if (this.#more.element === document.activeElement) lines[0]?.element.focus();
    this.#more.offer(page.total - this.#n_listed);
  }

  /** The line of a child, also if it is on a page that was not asked for yet. */
  async lineOf(node) {
    const known = this.#lines.get(node);
    if (known) return known;
    const { pages, tree } = this.#source;
    const examples = await pages.examples(tree, node);
    return this.#add({ ...(await pages.page(tree, node)), examples });
  }

  #add(child) {
    const line = this.#lines.get(child.node) ?? new NodeLine(this.#source, child, this.#level);
    this.#lines.set(child.node, line);
    this.#more.element.before(line.element);
    return line;
  }
}

/** A node: a label, or several that can be opened. */
export class NodeLine {
  #source;
  #child;
  #level;
  #group = null;

  constructor(source, child, level) {
    this.#source = source;
    this.#child = child;
    this.#level = level;
    this.label = labelOf(child);
    this.element = make("li", { role: "treeitem", tabIndex: -1, "aria-level": level }, this.#content());
    if (this.canOpen) this.element.setAttribute("aria-expanded", "false");
    this.element.line = this;
  }

  get canOpen() {
    return this.label === null;
  }

  get isOpen() {
    return this.element.getAttribute("aria-expanded") === "true";
  }

  get name() {
    return this.element.querySelector(".name").textContent;
  }

  /** Show the children, which are asked for the first time. */
  async open() {
    if (!this.#group) {
      const group = new Group(this.#source, this.#child.node, this.#level + 1, make("ul", { role: "group" }));
      this.element.setAttribute("aria-busy", "true");
      await group.next().finally(() => this.element.removeAttribute("aria-busy"));
      if (!this.#group) this.element.append(group.element);
      this.#group ??= group;
    }
    this.#group.element.hidden = false;
    this.element.setAttribute("aria-expanded", "true");
  }

  close() {
    this.#group.element.hidden = true;
    this.element.setAttribute("aria-expanded", "false");
  }

  /** The line of a child. */
  async lineOf(node) {
    await this.open();
    return this.#group.lineOf(node);
  }

  #content() {
    const { examples, example_names, name, n_labels, count: times } = this.#child;
    const content = make("div", { class: "node" });
    content.append(make("span", { class: "twist", "aria-hidden": "true" }, this.canOpen ? "›" : ""));
    if (this.canOpen) {
      const names = (example_names ?? examples).map(nameOf).join(", ") + (n_labels > examples.length ? " …" : "");
      content.append(
        make("span", { class: "name several", dir: "auto", textContent: names }),
        make("span", { class: "size", textContent: counted(n_labels, "label") }),
      );
    } else {
      content.append(named(this.label, "name", name));
    }
    const title = `given ${counted(times, "time")}`;
    content.append(make("span", { class: "count", title, textContent: count(times) }));
    return content;
  }
}

/** The offer of the next page. */
class MoreLine {
  label = null;
  isOpen = false;
  canOpen = true;
  name = "";
  #group;

  constructor(group, level) {
    this.#group = group;
    this.element = make("li", { class: "more", role: "treeitem", tabIndex: -1, "aria-level": level });
    this.element.line = this;
  }

  offer(n_more) {
    this.element.hidden = n_more <= 0;
    this.element.textContent = `Show more of the other ${count(n_more)}`;
  }

  open() {
    return this.#group.next();
  }
}
