// The amounts of the characters of a text, as pieces that do not overlap.

/**
 * Pieces {text, amount} that together are the text. Where highlights overlap (a word is also part of a pair of words)
 * their amounts are added. Offsets count characters as Python does: code points, not UTF-16 units.
 */
export function pieces(text, highlights) {
  const characters = Array.from(text);
  const found = [];
  let at = 0;
  let amount = 0;
  let open = 0;
  const cut = (end) => {
    if (end > at) found.push({ text: characters.slice(at, end).join(""), amount });
    at = Math.max(at, end);
  };
  for (const edge of edges(highlights)) {
    cut(Math.min(edge.at, characters.length));
    open += edge.step;
    amount = open ? amount + edge.amount : 0; // exactly 0 outside, in spite of rounding
  }
  cut(characters.length);
  return found;
}

const edges = (highlights) =>
  highlights
    .flatMap(({ begin, end, amount }) => [
      { at: begin, amount, step: 1 },
      { at: end, amount: -amount, step: -1 },
    ])
    .sort((a, b) => a.at - b.at);
