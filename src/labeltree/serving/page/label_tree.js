// The label tree: nodes are loaded when they are opened; keys as in the WAI-ARIA tree pattern.

import { make } from "./elements.js";
import { Group } from "./tree_items.js";

export class LabelTree {
  #box;
  #onLabel;
  #onProblem;
  #source = null;
  #root = null;

  /** `onLabel(label)` is called for a label that is chosen, `onProblem(error)` with an error or null. */
  constructor(box, { onLabel, onProblem }) {
    this.#box = box;
    this.#onLabel = onLabel;
    this.#onProblem = onProblem;
    box.addEventListener("click", ({ target }) => {
      const element = target.closest("[role=treeitem]");
      element?.focus();
      if (element) this.#activate(element.line);
    });
    box.addEventListener("keydown", (event) => this.#key(event));
    box.addEventListener("focusin", ({ target }) => this.#makeStop(target));
  }

  /** Show a tree from its root. */
  async show(pages, tree) {
    const source = (this.#source = { pages, tree });
    const element = make("ul", { role: "tree", "aria-labelledby": "labels-title" });
    const root = new Group(source, 0, 1, element);
    await this.#try(() => root.next());
    if (this.#source !== source) return; // another tree was chosen meanwhile
    this.#root = root;
    this.#box.replaceChildren(element);
    this.#makeStop(this.#elements()[0]);
  }

  /** Open the path to a label, as far as a node if one is given, and move the focus there. */
  reveal(label, node = null) {
    const { pages, tree } = this.#source;
    return this.#try(async () => {
      const [root, ...below] = await pages.path(tree, label);
      let line = this.#root;
      if (node === root && below.length) return this.#elements()[0]?.focus();
      for (const next of below.length ? below : [root]) {
        line = await line.lineOf(next);
        if (next === node) break;
      }
      this.#box.querySelector(".sought")?.classList.remove("sought");
      line.element.classList.add("sought");
      line.element.focus();
      line.element.firstChild.scrollIntoView({ block: "nearest" });
    });
  }

  /** Report an error instead of throwing it. */
  async #try(action) {
    try {
      await action();
      this.#onProblem(null);
    } catch (error) {
      this.#onProblem(error);
    }
  }

  #activate(line) {
    if (line.label !== null) this.#onLabel(line.label);
    else if (line.isOpen) line.close();
    else this.#try(() => line.open());
  }

  /** The lines that can be seen, from top to bottom. */
  #elements() {
    const all = [...this.#box.querySelectorAll("[role=treeitem]")];
    return all.filter((element) => !element.closest("[hidden]"));
  }

  /** Tab comes to one line only; the arrows go on from there. */
  #makeStop(target) {
    if (!target?.matches("[role=treeitem]")) return;
    for (const other of this.#box.querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
    target.tabIndex = 0;
  }

  #key(event) {
    const { key, target } = event;
    if (event.altKey || event.ctrlKey || event.metaKey || !target.line) return;
    const action = this.#actions(target)[key] ?? (/^[^\s/]$/u.test(key) ? () => this.#findByLetter(target, key) : null);
    if (!action) return;
    event.preventDefault();
    action()?.focus();
  }

  /** The action of each key; it returns the element to focus, if any. */
  #actions(target) {
    const elements = this.#elements();
    const at = elements.indexOf(target);
    const { line } = target;
    const parent = target.parentElement.closest("[role=treeitem]");
    const activate = () => this.#activate(line);
    return {
      ArrowDown: () => elements[at + 1],
      ArrowUp: () => elements[at - 1],
      Home: () => elements[0],
      End: () => elements.at(-1),
      ArrowRight: () => {
        if (line.isOpen) return elements[at + 1];
        if (line.canOpen) this.#activate(line);
        return null;
      },
      ArrowLeft: () => {
        if (!line.isOpen) return parent;
        line.close();
        return null;
      },
      Enter: activate,
      " ": activate,
    };
  }

  #findByLetter(target, letter) {
    const elements = this.#elements();
    const at = elements.indexOf(target);
    const isIt = ({ line }) => line.name.toLowerCase().startsWith(letter.toLowerCase());
    return [...elements.slice(at + 1), ...elements.slice(0, at)].find(isIt);
  }
}
