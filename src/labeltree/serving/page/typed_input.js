// Turns the typed text into an input of the API: a text, or features with values for models without texts.

const SYNTAX = {
  text: { hint: "", placeholder: "Type or paste a text: tags appear as you type." },
  features: {
    hint: "This model takes features by name: name:value, separated by spaces. A name alone counts 1.",
    placeholder: "red:1 height:0.5",
  },
  row: {
    hint: "This model takes numbers: index:value, separated by spaces. An index alone counts 1.",
    placeholder: "3:0.5 17:1 204:0.25",
  },
};

export const kindOf = (model) => (model.takes_text ? "text" : model.takes_features ? "features" : "row");

/** How to type it: {hint, placeholder}. */
export const syntaxOf = (model) => SYNTAX[kindOf(model)];

/** Return {text}, {features} or {row}, as the model expects; throw an Error if the text is invalid. */
export function parse(model, typed) {
  const kind = kindOf(model);
  if (kind === "text") return { text: typed.toWellFormed() };
  const pairs = typed.trim().split(/\s+/).filter(Boolean).map(pairOf);
  if (kind === "features") return { features: Object.fromEntries(pairs) };
  return { row: rowOf(pairs) };
}

function pairOf(word) {
  const colon = word.lastIndexOf(":");
  if (colon < 0) return [word, 1];
  const [name, digits] = [word.slice(0, colon), word.slice(colon + 1)];
  const value = Number(digits);
  if (!name || !digits || !Number.isFinite(value)) throw new Error(`Expected a pair like 3:0.5, got ${word}`);
  return [name, value];
}

function rowOf(pairs) {
  const sorted = pairs.map(([name, value]) => [Number(name), value]).sort(([a], [b]) => a - b);
  const wrong = pairs.find(([name]) => !/^\d+$/.test(name));
  if (wrong) throw new Error(`Expected the index of a feature, a whole number from 0, got ${wrong[0]}`);
  const twice = sorted.find(([index], at) => at > 0 && index === sorted[at - 1][0]);
  if (twice) throw new Error(`Feature ${twice[0]} is there twice.`);
  return { indices: sorted.map(([index]) => index), values: sorted.map(([, value]) => value) };
}
