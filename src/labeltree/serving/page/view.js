// The shareable part of a view is in the address after #: the models, k and the threshold, never the text.

/** Read {model, other, k, threshold} from the address, each within its range. */
export function readView(models) {
  const given = new URLSearchParams(location.hash.slice(1));
  const model = models.find(({ name }) => name === given.get("model")) ?? models[0];
  const other = models.find(({ name }) => name === given.get("other") && name !== model?.name) ?? null;
  const k = within(given.get("k"), 1, 30, 8);
  const threshold = Math.round(100 * within(given.get("threshold"), 0, 1, 0)) / 100;
  return { model, other, k: Math.round(k), threshold };
}

/** Write a view into the address; the back button still leaves the page. */
export function writeView({ model, other, k, threshold }) {
  const view = new URLSearchParams({ model: model.name });
  if (other) view.set("other", other.name);
  view.set("k", k);
  view.set("threshold", threshold);
  history.replaceState(null, "", `#${view}`);
}

function within(text, least, most, fallback) {
  const number = text === null || text === "" ? NaN : Number(text);
  return Number.isFinite(number) ? Math.min(most, Math.max(least, number)) : fallback;
}
