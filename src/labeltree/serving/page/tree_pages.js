// Nodes of a model's trees, loaded once: the label tree and the explanations both need them.

/** Number of children in a page. */
const LIMIT = 50;

export class TreePages {
  #api;
  #model;
  #pages = new Map();

  constructor(api, model) {
    this.#api = api;
    this.#model = model;
  }

  /** A node and a page of its children, as /tree answers. */
  page(tree, node, offset = 0) {
    const key = `${tree} ${node} ${offset}`;
    if (!this.#pages.has(key)) {
      const answer = this.#api.tree(this.#model, { tree, node, offset, limit: LIMIT });
      answer.catch(() => this.#pages.delete(key)); // so that it can be asked for again
      this.#pages.set(key, answer);
    }
    return this.#pages.get(key);
  }

  /** The nodes from the root to a label. */
  path(tree, label) {
    return this.#api.path(this.#model, tree, label);
  }

  /** The names of a few labels below a node, one of each of its largest children. */
  async examples(tree, node) {
    const { children } = await this.page(tree, node);
    return children
      .slice(0, 4)
      .map((child) => child.name ?? labelOf(child) ?? child.example_names?.[0] ?? child.examples[0]);
  }
}

/** The label of a leaf; null of other nodes. */
export const labelOf = (node) => node.label ?? null;
