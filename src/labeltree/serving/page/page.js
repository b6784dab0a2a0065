// The page: connects the controls, the tags, the explanation and the label tree.

import { Api, isAbort, Latest } from "./api.js";
import { Controls } from "./controls.js";
import { byId, counted, later, make, nameOf, percent } from "./elements.js";
import { LabelSearch } from "./label_search.js";
import { LabelTree } from "./label_tree.js";
import { Tags } from "./tags.js";
import { askForToken } from "./token_dialog.js";
import { TreePages } from "./tree_pages.js";
import { kindOf, parse, syntaxOf } from "./typed_input.js";
import { Why } from "./why.js";

const HINTS = {
  empty: "Nothing yet.",
  none: "No tag is as probable as that.",
  some: "Choose a tag to see why: click it, or use the arrow keys and Enter.",
};

const text = byId("text");
const api = new Api(askForToken);
const latest = new Latest();
const controls = new Controls(onView);
const tags = new Tags(byId("tags"), explain);
const why = new Why(api, { pagesOf, onNode: (model) => model === controls.view.model && showNode, onChange: onExplained });
const tree = new LabelTree(byId("tree"), { onLabel: (label) => explain(controls.view.model, label), onProblem: onTreeProblem });
new LabelSearch(
  { input: byId("query"), box: byId("found-box"), list: byId("found"), total: byId("found-total") },
  {
    search: (query, limit, signal) => api.labels(controls.view.model, query, limit, signal),
    onChoose: (label) => controls.view.model.has_label_trees && tree.reveal(label),
  },
);
const pages = new Map();

/** The nodes of a model's trees, those of its latest version. */
function pagesOf(model) {
  if (pages.get(model.name)?.version !== model.version) {
    pages.set(model.name, { version: model.version, pages: new TreePages(api, model) });
  }
  return pages.get(model.name).pages;
}

async function start() {
  try {
    controls.offer(await api.models());
    showProblem(null);
  } catch (error) {
    showProblem(error);
  }
}

function onView(view, before) {
  if (view.model !== before?.model) {
    const { hint, placeholder } = syntaxOf(view.model);
    byId("input-title").textContent = kindOf(view.model) === "text" ? "Text" : "Features";
    byId("input-hint").textContent = hint;
    byId("input-hint").hidden = !hint;
    text.placeholder = placeholder;
    byId("labels-count").textContent = counted(view.model.n_labels, "label");
    offerTrees(view.model);
    if (view.model.has_label_trees) tree.show(pagesOf(view.model), 0);
  }
  const { subject } = why;
  if (subject && ![view.model, view.other].includes(subject.model)) why.close();
  askSoon();
}

function offerTrees({ n_trees, has_label_trees }) {
  byId("tree").hidden = !has_label_trees;
  byId("tree-field").hidden = n_trees < 2 || !has_label_trees;
  byId("tree-number").replaceChildren(
    ...Array.from({ length: n_trees }, (_, i) => make("option", { value: i, textContent: `${i + 1} of ${n_trees}` })),
  );
}

const askSoon = later(120, ask);

/** Ask all chosen models for the tags of the text. */
async function ask() {
  const { view } = controls;
  const typed = text.value;
  const signal = latest.next();
  byId("clear").hidden = !typed;
  if (!view) return;
  if (!typed.trim()) {
    why.close();
    show([], HINTS.empty, "");
    return;
  }
  const began = performance.now();
  const models = [view.model, view.other].filter(Boolean);
  byId("tags").setAttribute("aria-busy", "true");
  try {
    const answers = await Promise.all(models.map((model) => tagsOf(model, typed, view, signal)));
    const milliseconds = Math.max(1, Math.round(performance.now() - began));
    const n_tags = answers.reduce((sum, answer) => sum + (answer.tags?.length ?? 0), 0);
    show(answers, n_tags ? HINTS.some : HINTS.none, `${milliseconds} ms`);
    if (why.subject) why.update(typed);
    noteVersions(answers);
  } catch (error) {
    if (!isAbort(error)) throw error;
  }
}

async function tagsOf(model, typed, view, signal) {
  try {
    const { version, tags } = await api.predict(model, parse(model, typed), view, signal);
    return { model, version, tags };
  } catch (error) {
    if (isAbort(error)) throw error;
    return { model, error };
  }
}

function show(answers, hint, time) {
  const problem = answers.length && answers.every(({ error }) => error) ? answers[0].error : null;
  showProblem(problem);
  byId("tags").setAttribute("aria-busy", "false");
  tags.show(problem ? [] : answers);
  byId("tags-hint").textContent = problem ? "" : hint;
  byId("time").textContent = problem ? "" : time;
  if (answers.length && !problem) readOut(answers);
}

const noted = new Set();

/** Load the models again after a reload, which may change labels and trees. A model that learns changes all the time. */
function noteVersions(answers) {
  const reloaded = answers.filter(({ model, version }) => version && version !== model.version && !model.learns);
  const unknown = reloaded.filter(({ model, version }) => !noted.has(`${model.name} ${version}`));
  for (const { model, version } of unknown) noted.add(`${model.name} ${version}`);
  if (unknown.length) start();
}

function showProblem(error) {
  byId("problem").hidden = !error;
  byId("problem-message").textContent = error?.message ?? "";
}

function onTreeProblem(error) {
  byId("tree-problem").hidden = !error;
  byId("tree-problem").textContent = error?.message ?? "";
}

async function explain(model, label) {
  if (!text.value.trim()) {
    say("Type a text first to see why it has this label, or why not.");
    text.focus();
    return;
  }
  say(await why.open(model, label, text.value));
}

function onExplained(subject, hadFocus) {
  tags.press(subject);
  if (hadFocus && !tags.focus()) text.focus();
}

/** Show a node on the way to a label in the tree of labels. */
async function showNode(number, label, node) {
  if (!controls.view.model.has_label_trees) return;
  if (Number(byId("tree-number").value) !== number) await showTree(number);
  await tree.reveal(label, node);
}

async function showTree(number) {
  byId("tree-number").value = number;
  await tree.show(pagesOf(controls.view.model), number);
}

let spokenAnswers = [];

/** Announce a line to screen readers, and drop older announcements. */
function say(line) {
  byId("spoken").textContent = line;
  spokenAnswers = [];
}

const speakSoon = later(900, () => {
  if (!spokenAnswers.length) return;
  const lines = spokenAnswers.map(({ model, tags: found, error }) => {
    const names = found?.map(({ label, name, probability }) => `${nameOf(name ?? label)} ${percent(probability)}`).join(", ");
    const who = spokenAnswers.length > 1 ? `${model.name}: ` : "";
    return who + (error ? error.message : `${counted(found.length, "tag")}: ${names}`);
  });
  say(lines.join(". "));
});

/** Announce the tags, but not at every letter. */
function readOut(answers) {
  spokenAnswers = answers;
  speakSoon();
}

function isTyping(target) {
  return target.matches("textarea, select, input:not([type=range])");
}

text.addEventListener("input", askSoon);
byId("again").addEventListener("click", () => (controls.view ? ask() : start()));
byId("tree-number").addEventListener("change", ({ target }) => showTree(Number(target.value)));
byId("clear").addEventListener("click", () => {
  text.value = "";
  text.focus();
  ask();
});
byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the part of the address after # holds the view
  text.focus();
});
addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || byId("token-dialog").open) return;
  if (event.key === "Escape") why.close();
  if (event.key === "/" && !isTyping(event.target)) {
    event.preventDefault();
    byId("query").focus();
  }
});
start();
