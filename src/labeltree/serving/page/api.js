// The server's API: requests and answers in JSON, and the token that some servers need.

const TOKEN = "labeltree-token";

/** The error that the server answered with, or that it did not answer. */
export class ApiError extends Error {
  constructor(code, message) {
    super(message);
    this.name = "ApiError";
    this.code = code;
  }
}

/** Keeps only the latest of several requests: the signal of the next one aborts the previous one. */
export class Latest {
  #controller = null;

  next() {
    this.stop();
    this.#controller = new AbortController();
    return this.#controller.signal;
  }

  stop() {
    this.#controller?.abort();
  }
}

/** Whether an error only says that the request was aborted. */
export const isAbort = (error) => error.name === "AbortError";

export class Api {
  #askForToken;
  #asking = null;

  /** `askForToken(message)` resolves to a token, or to null if the person has none. */
  constructor(askForToken) {
    this.#askForToken = askForToken;
  }

  async models(signal) {
    return (await this.#ask("v1/models", { signal })).models;
  }

  /** The labels of an input, a list of {label, probability}, and the version of the model. */
  async predict(model, input, { k, threshold }, signal) {
    const body = { ...several(input), k, threshold };
    const { version, predictions } = await this.#ask(`${address(model)}/predict`, { body, signal });
    return { version, tags: predictions[0] };
  }

  explain(model, input, label, n_features, signal) {
    return this.#ask(`${address(model)}/explain`, { body: { ...input, label, n_features }, signal });
  }

  labels(model, query, limit, signal) {
    return this.#ask(`${address(model)}/labels?${new URLSearchParams({ query, limit })}`, { signal });
  }

  tree(model, { tree, node, limit, offset = 0 }, signal) {
    return this.#ask(`${address(model)}/tree?${new URLSearchParams({ tree, node, limit, offset })}`, { signal });
  }

  async path(model, tree, label, signal) {
    const answer = await this.#ask(`${address(model)}/tree/path?${new URLSearchParams({ tree, label })}`, { signal });
    return answer.nodes;
  }

  async #ask(path, { body, signal }) {
    for (;;) {
      const token = sessionStorage.getItem(TOKEN);
      const response = await this.#fetch(path, body, token, signal);
      if (response.ok) return readJson(await response.text());
      const error = await problem(response);
      if (response.status !== 401) throw error;
      if (!(await this.#newToken(token, error.message))) throw error;
    }
  }

  async #fetch(path, body, token, signal) {
    const headers = {};
    if (token) headers.Authorization = `Bearer ${token}`;
    if (body) headers["Content-Type"] = "application/json";
    try {
      return await fetch(path, { method: body ? "POST" : "GET", headers, body: body && writeJson(body), signal });
    } catch (error) {
      if (isAbort(error)) throw error;
      throw new ApiError("no_answer", "The server does not answer.");
    }
  }

  /** Whether there is another token than the refused one; all waiting requests share one dialog. */
  async #newToken(refused, message) {
    if (sessionStorage.getItem(TOKEN) !== refused) return true;
    this.#asking ??= this.#askForToken(message).finally(() => (this.#asking = null));
    const token = await this.#asking;
    if (token) sessionStorage.setItem(TOKEN, token);
    return Boolean(token);
  }
}

const address = (model) => `v1/models/${encodeURIComponent(model.name)}`;

function several(input) {
  if ("row" in input) return { rows: [input.row] };
  return "features" in input ? { features: [input.features] } : input;
}

async function problem(response) {
  const { code, message } = await response.json().then(
    (answer) => answer.error ?? {},
    () => ({}), // a proxy may answer something else
  );
  return new ApiError(code ?? "error", message ?? `The server answered with status ${response.status}.`);
}

// Labels may be integers that JavaScript's numbers cannot hold: they are kept as they are written.
const readJson = (text) =>
  JSON.parse(text, (_key, value, context) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
      ? BigInt(context.source)
      : value,
  );
const writeJson = (body) =>
  JSON.stringify(body, (_key, value) => (typeof value === "bigint" ? JSON.rawJSON(String(value)) : value));
