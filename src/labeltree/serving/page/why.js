// The card with the explanation of a label. It follows the text while it is open.

import { isAbort, Latest } from "./api.js";
import { byId, make, named } from "./elements.js";
import { explained, spoken, tellAbout } from "./explanation.js";
import { parse } from "./typed_input.js";

/** Number of features at each step. */
const N_FEATURES = 10;

export class Why {
  #api;
  #pagesOf;
  #onNode;
  #onChange;
  #latest = new Latest();

  /** The explained label as {model, label}, or null. */
  subject = null;

  /**
   * `pagesOf(model)` gives the nodes of its trees; `onNode(model)` what to call with (tree, label, node) to show one of
   * them, if anything; `onChange(subject, hadFocus)` is called when another label is explained, or none.
   */
  constructor(api, { pagesOf, onNode, onChange }) {
    this.#api = api;
    this.#pagesOf = pagesOf;
    this.#onNode = onNode;
    this.#onChange = onChange;
    byId("why-close").addEventListener("click", () => this.close());
  }

  /** Explain a label for what was typed; resolves to a line to be read out, or to "". */
  async open(model, label, typed) {
    const card = byId("why");
    const wasHidden = card.hidden;
    this.subject = { model, label };
    byId("why-title").replaceChildren("Why ", named(label, "label"));
    card.hidden = false;
    if (wasHidden) byId("why-body").replaceChildren(make("p", { class: "hint", textContent: "Looking …" }));
    this.#onChange(this.subject);
    const line = await this.update(typed);
    if (this.subject) toView(card);
    return line;
  }

  /** Explain the same label for another text. */
  async update(typed) {
    const { model, label } = this.subject;
    const signal = this.#latest.next();
    const body = byId("why-body");
    try {
      const input = parse(model, typed);
      const answer = await this.#api.explain(model, input, label, N_FEATURES, signal);
      byId("why-title").replaceChildren("Why ", named(label, "label", answer.name));
      const onNode = this.#onNode(model);
      const opened = [...body.querySelectorAll("details")].map((details) => details.open);
      body.replaceChildren(...explained(answer, model, input.text, onNode));
      [...body.querySelectorAll("details")].forEach((details, i) => (details.open = opened[i] ?? details.open));
      const pages = this.#pagesOf(model);
      tellAbout(body, (tree, node) => pages.examples(tree, node)).catch(() => {}); // the path says enough without
      return spoken(answer);
    } catch (error) {
      if (!isAbort(error)) body.replaceChildren(make("p", { class: "problem", role: "alert", textContent: error.message }));
      return "";
    }
  }

  close() {
    if (!this.subject) return;
    this.#latest.stop();
    const hadFocus = byId("why").contains(document.activeElement);
    this.subject = null;
    byId("why").hidden = true;
    this.#onChange(null, hadFocus);
  }
}

/** On a small screen the card is below what was clicked. */
function toView(card) {
  if (card.getBoundingClientRect().top < innerHeight - 120) return;
  const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
  card.scrollIntoView({ block: "start", behavior });
}
