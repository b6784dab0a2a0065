// Search for labels by name: a combobox with the labels that the server finds.

import { isAbort, Latest } from "./api.js";
import { count, later, make, named } from "./elements.js";

const LIMIT = 20;

export class LabelSearch {
  #input;
  #box;
  #list;
  #total;
  #search;
  #onChoose;
  #latest = new Latest();
  #labels = [];
  #active = -1;

  /** `search(query, limit, signal)` resolves to what /labels answers; `onChoose(label)` is called with the chosen one. */
  constructor({ input, box, list, total }, { search, onChoose }) {
    this.#input = input;
    this.#box = box;
    this.#list = list;
    this.#total = total;
    this.#search = search;
    this.#onChoose = onChoose;
    input.addEventListener("input", () => {
      if (!input.value) this.close();
    });
    input.addEventListener(
      "input",
      later(120, () => input.value && this.#find()),
    );
    input.addEventListener("keydown", (event) => this.#key(event));
    input.addEventListener("blur", () => this.close());
    box.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the field
    list.addEventListener("click", ({ target }) => this.#choose([...list.children].indexOf(target.closest("li"))));
  }

  close() {
    this.#latest.stop();
    this.#box.hidden = true;
    this.#input.setAttribute("aria-expanded", "false");
    this.#activate(-1);
  }

  get #isOpen() {
    return !this.#box.hidden;
  }

  async #find() {
    try {
      const { labels, total } = await this.#search(this.#input.value, LIMIT, this.#latest.next());
      if (document.activeElement === this.#input) this.#show(labels, total);
    } catch (error) {
      if (!isAbort(error)) this.#show([], 0, error.message);
    }
  }

  #show(labels, total, message = "No label has this in its name.") {
    this.#labels = labels.map(({ label }) => label);
    this.#list.replaceChildren(
      ...labels.map((found, i) =>
        make(
          "li",
          { role: "option", id: `found-${i}`, "aria-selected": "false" },
          named(found.label, "name", found.name),
          make("span", { class: "count", textContent: count(found.count) }),
        ),
      ),
    );
    this.#total.textContent = total ? `${count(labels.length)} of ${count(total)}` : message;
    this.#total.hidden = total > 0 && labels.length === total;
    this.#box.hidden = false;
    this.#input.setAttribute("aria-expanded", "true");
    this.#activate(labels.length ? 0 : -1);
  }

  #activate(at) {
    this.#active = at;
    [...this.#list.children].forEach((option, i) => option.setAttribute("aria-selected", String(i === at)));
    const option = this.#list.children[at];
    if (this.#isOpen && option) this.#input.setAttribute("aria-activedescendant", option.id);
    else this.#input.removeAttribute("aria-activedescendant");
    if (this.#isOpen) option?.scrollIntoView({ block: "nearest" });
  }

  #choose(at) {
    if (at < 0) return;
    const label = this.#labels[at];
    this.close();
    this.#onChoose(label);
  }

  #key(event) {
    const n = this.#labels.length;
    const move = (step) => (this.#isOpen && n ? this.#activate((this.#active + step + n) % n) : this.#find());
    const action = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      Enter: () => this.#isOpen && this.#choose(this.#active),
      Escape: () => {
        if (this.#isOpen) this.close();
        else this.#input.value = "";
        event.stopPropagation(); // keep the explanation open
      },
    }[event.key];
    if (!action || event.isComposing) return;
    event.preventDefault();
    action();
  }
}
