// The choice of models, k and the threshold, kept in step with the address.

import { byId, make } from "./elements.js";
import { readView, writeView } from "./view.js";

export class Controls {
  #models = [];
  #onChange;

  /** The current choice: {model, other, k, threshold}. */
  view = null;

  /** `onChange(view, before)` is called when anything is chosen. */
  constructor(onChange) {
    this.#onChange = onChange;
    byId("model").addEventListener("change", ({ target }) => {
      const model = this.#named(target.value);
      this.#change({ model, other: this.view.other === model ? null : this.view.other });
    });
    byId("other").addEventListener("change", ({ target }) => this.#change({ other: this.#named(target.value) }));
    byId("k").addEventListener("input", ({ target }) => this.#change({ k: Number(target.value) }));
    byId("threshold").addEventListener("input", ({ target }) => this.#change({ threshold: target.value / 100 }));
    addEventListener("hashchange", () => this.view && this.#change(readView(this.#models)));
  }

  /** Choose among these models, first as the address has it. */
  offer(models) {
    this.#models = models;
    this.#change(readView(models));
  }

  #change(part) {
    const before = this.view;
    this.view = { ...before, ...part };
    this.#show();
    writeView(this.view);
    this.#onChange(this.view, before);
  }

  #show() {
    const { model, other, k, threshold } = this.view;
    byId("model").replaceChildren(...this.#models.map(({ name }) => choice(name, name, name === model.name)));
    const others = this.#models.filter(({ name }) => name !== model.name);
    byId("other-field").hidden = !others.length;
    byId("other").replaceChildren(
      choice("", "nothing", !other),
      ...others.map(({ name }) => choice(name, name, name === other?.name)),
    );
    byId("k").value = k;
    byId("k-value").textContent = k === 1 ? "1 tag" : `${k} tags`;
    byId("threshold").value = Math.round(100 * threshold);
    byId("threshold-value").textContent = `${Math.round(100 * threshold)} %`;
    byId("threshold").setAttribute("aria-valuetext", byId("threshold-value").textContent);
  }

  #named(name) {
    return this.#models.find((model) => model.name === name) ?? null;
  }
}

const choice = (value, text, selected) => make("option", { value, textContent: text, selected });
