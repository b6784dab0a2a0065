// The tags of one model, or of two side by side: a bar for each, the arrow keys among them.

import { keyOf, make, named, percent } from "./elements.js";

/** One model's tags. An element stays as long as its tag, so that bars move and the focus is kept. */
class Column {
  #items = new Map();
  #title = make("h3");
  #list = make("ul", { class: "tags" });
  #problem = make("p", { class: "problem", hidden: true });
  element = make("div", { class: "column" }, this.#title, this.#problem, this.#list);

  constructor(onExplain) {
    this.onExplain = onExplain;
  }

  /** The buttons, best tag first. */
  get buttons() {
    return [...this.#list.querySelectorAll("button")];
  }

  show({ model, tags = [], error }, isCompared, elsewhere) {
    this.model = model;
    this.#title.textContent = model.name;
    this.#title.hidden = !isCompared;
    this.#list.setAttribute("aria-label", `Tags by ${model.name}`);
    this.#problem.hidden = !error;
    this.#problem.textContent = error?.message ?? "";
    const before = this.#items;
    this.#items = new Map();
    for (const { label, name, probability } of tags) {
      const key = keyOf(label);
      const item = before.get(key) ?? this.#item(label, name);
      this.#items.set(key, item);
      before.delete(key);
      update(item, probability, elsewhere !== null && !elsewhere.has(key));
    }
    for (const item of before.values()) item.remove();
    [...this.#items.values()].forEach((item, at) => {
      if (this.#list.children[at] !== item) this.#list.insertBefore(item, this.#list.children[at] ?? null);
    });
  }

  press(key) {
    for (const [other, item] of this.#items) {
      item.firstChild.setAttribute("aria-expanded", String(other === key));
    }
  }

  #item(label, name) {
    const button = make(
      "button",
      { type: "button", class: "tag", tabIndex: -1, "aria-expanded": "false", "aria-controls": "why" },
      make("span", { class: "fill" }),
      named(label, "name", name),
      make("span", { class: "only", textContent: "only here", hidden: true }),
      make("span", { class: "number" }),
    );
    button.addEventListener("click", () => this.onExplain(this.model, label));
    return make("li", {}, button);
  }
}

function update(item, probability, isAlone) {
  const button = item.firstChild;
  button.querySelector(".fill").style.width = `${100 * Math.min(1, Math.max(0, probability))}%`;
  button.querySelector(".number").textContent = percent(probability);
  button.querySelector(".only").hidden = !isAlone;
  button.classList.toggle("alone", isAlone);
}

export class Tags {
  #box;
  #columns = [];
  #onExplain;
  #pressed = null;

  /** `onExplain(model, label)` is called for a tag that is chosen. */
  constructor(box, onExplain) {
    this.#box = box;
    this.#onExplain = onExplain;
    box.addEventListener("keydown", (event) => this.#move(event));
    box.addEventListener("focusin", (event) => this.#makeStop(event.target));
  }

  /** Show answers, one for each model: {model, tags} or {model, error}. */
  show(answers) {
    const focused = document.activeElement;
    const hadFocus = this.#box.contains(focused);
    const at = this.#buttons().indexOf(focused);
    while (this.#columns.length > answers.length) this.#columns.pop().element.remove();
    while (this.#columns.length < answers.length) {
      const column = new Column(this.#onExplain);
      this.#columns.push(column);
      this.#box.append(column.element);
    }
    const found = answers.map(({ tags, error }) => (error ? null : new Set(tags.map(({ label }) => keyOf(label)))));
    answers.forEach((answer, i) => this.#columns[i].show(answer, answers.length > 1, found[1 - i] ?? null));
    this.press(this.#pressed);
    const buttons = this.#buttons();
    if (hadFocus) (buttons.includes(focused) ? focused : buttons[Math.min(at, buttons.length - 1)])?.focus();
    if (!buttons.some((button) => button.tabIndex === 0) && buttons.length) buttons[0].tabIndex = 0;
  }

  /** Mark the tag that is explained, {model, label}, or none. */
  press(explained) {
    this.#pressed = explained;
    for (const column of this.#columns) {
      column.press(explained && column.model.name === explained.model.name ? keyOf(explained.label) : null);
    }
  }

  /** Move the focus to the tag that is explained, or to the first; false if there is none. */
  focus() {
    const target = this.#box.querySelector('[aria-expanded="true"]') ?? this.#buttons()[0];
    target?.focus();
    return Boolean(target);
  }

  #buttons() {
    return this.#columns.flatMap((column) => column.buttons);
  }

  /** Tab comes to one tag only; the arrows go on from there. */
  #makeStop(target) {
    const buttons = this.#buttons();
    if (buttons.includes(target)) for (const button of buttons) button.tabIndex = button === target ? 0 : -1;
  }

  #move(event) {
    const x = this.#columns.findIndex((column) => column.buttons.includes(event.target));
    if (x < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const buttons = this.#columns[x].buttons;
    const y = buttons.indexOf(event.target);
    const beside = (to) => this.#columns[to]?.buttons[Math.min(y, this.#columns[to].buttons.length - 1)];
    const target = {
      ArrowDown: () => buttons[y + 1],
      ArrowUp: () => buttons[y - 1],
      Home: () => buttons[0],
      End: () => buttons.at(-1),
      ArrowRight: () => beside(x + 1),
      ArrowLeft: () => beside(x - 1),
    }[event.key];
    if (!target) return;
    event.preventDefault();
    target()?.focus();
  }
}
