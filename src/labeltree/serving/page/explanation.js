// Why a label: the text with its words marked, the features that weighed most, the path through each tree.

import { counted, keyOf, make, named, nameOf, percent, signed } from "./elements.js";
import { pieces } from "./highlights.js";

/** Maximum number of features for all steps together. */
const MOST_FEATURES = 12;
const MOST_FEATURES_OF_STEP = 4;

/** An answer of /explain as elements; `text` is undefined for models without texts, `onNode(tree, label, node)` shows a node. */
export function explained(answer, model, text, onNode) {
  return [
    make(
      "p",
      { class: "verdict" },
      make("span", { class: "big", textContent: percent(answer.probability) }),
      ` by ${model.name}`,
    ),
    ...(text === undefined ? [] : markedText(text, answer.highlights)),
    ...weighedMost(answer, text !== undefined),
    ...(answer.classifier ? classifierOf(answer.classifier) : []),
    ...answer.paths.flatMap((steps, tree) => pathOf(steps, answer, tree, onNode)),
  ];
}

/** One line for screen readers: the label, its probability and the main features for it. */
export function spoken(answer) {
  const words = sums(answer)
    .filter(({ amount }) => amount > 0)
    .slice(0, 3)
    .map(({ feature }) => feature);
  const because = words.length ? `, for ${words.join(", ")}` : "";
  return `${nameOf(answer.name ?? answer.label)}: ${percent(answer.probability)}${because}`;
}

function markedText(text, highlights) {
  const found = pieces(text, highlights);
  const most = Math.max(...found.map(({ amount }) => Math.abs(amount)));
  const parts = found.map((piece) => {
    if (!piece.amount) return piece.text;
    const mark = make("mark", { textContent: piece.text, title: signed(piece.amount) });
    mark.classList.toggle("against", piece.amount < 0);
    mark.style.setProperty("--size", Math.abs(piece.amount) / most);
    return mark;
  });
  const box = make(
    "div",
    { class: "marked", role: "group", "aria-label": "The text with its words marked", dir: "auto", tabIndex: 0 },
    ...parts,
  );
  return [
    box,
    make(
      "p",
      { class: "legend" },
      make("span", { textContent: "speaks for it" }),
      make("span", { class: "against", textContent: "speaks against it" }),
    ),
  ];
}

function weighedMost(answer, isText) {
  const most = sums(answer).slice(0, MOST_FEATURES);
  if (!most.length) return [];
  return [make("h3", { textContent: isText ? "Words that weighed most" : "Features that weighed most" }), chips(most)];
}

/**
 * The total amount of each feature on the path, averaged over the trees, the largest first; if the classifier of the
 * label decides, the amounts there.
 */
function sums({ paths, classifier }) {
  if (classifier?.proposed) return classifier.contributions;
  const amounts = new Map();
  for (const { feature, amount } of paths.flat().flatMap((step) => step.contributions)) {
    const key = keyOf(feature);
    const sum = amounts.get(key) ?? { feature, amount: 0 };
    sum.amount += amount / paths.length;
    amounts.set(key, sum);
  }
  return [...amounts.values()].sort((a, b) => Math.abs(b.amount) - Math.abs(a.amount));
}

function chips(contributions) {
  const most = Math.max(...contributions.map(({ amount }) => Math.abs(amount)));
  const list = make("ul", { class: "words" });
  for (const { feature, amount } of contributions) {
    const chip = make(
      "li",
      { class: amount < 0 ? "word against" : "word" },
      named(feature),
      make("span", { class: "number", textContent: signed(amount) }),
    );
    chip.style.setProperty("--size", most ? Math.abs(amount) / most : 0);
    list.append(chip);
  }
  return list;
}

function classifierOf({ proposed, probability, contributions }) {
  const number = make("span", { class: "number", textContent: percent(probability) });
  const title = make("h3", {}, "Classifier of the label ", number);
  const aside = make("p", { textContent: "The tree does not propose this label, so its classifier does not count." });
  return [title, ...(proposed ? [] : [aside]), ...(contributions.length ? [chips(contributions)] : [])];
}

function pathOf(steps, answer, tree, onNode) {
  const title = answer.paths.length > 1 ? `Path through tree ${tree + 1}` : "Path through the tree";
  const list = make("ol", { class: "path" }, ...steps.map((step, depth) => stepOf(step, depth, answer, tree, onNode)));
  if (answer.paths.length === 1) return [make("h3", { textContent: title }), list];
  const end = make("span", { class: "number", textContent: percent(steps.at(-1).probability_so_far) });
  return [make("details", { open: tree === 0 }, make("summary", {}, title, " ", end), list)];
}

function stepOf(step, depth, answer, tree, onNode) {
  const isLeaf = depth === answer.paths[tree].length - 1;
  const name = isLeaf ? named(answer.label, "name", answer.name) : make("span", { class: "name" });
  if (!isLeaf) name.textContent = depth === 0 ? `All ${counted(step.n_labels, "label")}` : counted(step.n_labels, "label");
  const about = make("span", { class: "about", dir: "auto" });
  const where = onNode
    ? make("button", { type: "button", class: "where", title: "Show in the tree of labels" }, name, about)
    : make("span", { class: "where" }, name, about);
  if (onNode) where.addEventListener("click", () => onNode(tree, answer.label, step.node));
  const fill = make("span", { class: "fill" });
  fill.style.width = `${100 * step.probability}%`;
  const item = make(
    "li",
    { class: "step" },
    make(
      "div",
      { class: "what" },
      where,
      make("span", { class: "number", textContent: percent(step.probability) }),
    ),
    make("div", { class: "gauge", "aria-hidden": "true" }, fill),
  );
  if (step.contributions.length) item.append(chips(step.contributions.slice(0, MOST_FEATURES_OF_STEP)));
  item.dataset.node = step.node;
  item.dataset.tree = tree;
  return item;
}

/** Add labels to the nodes on the paths, once they are known: `examplesOf(tree, node)` resolves to labels. */
export async function tellAbout(box, examplesOf) {
  const steps = [...box.querySelectorAll(".step:not(:first-child, :last-child)")];
  await Promise.all(
    steps.map(async (step) => {
      const labels = await examplesOf(Number(step.dataset.tree), Number(step.dataset.node));
      step.querySelector(".about").textContent = labels.map(nameOf).join(", ");
    }),
  );
}
