// What of a text is not in another one, word by word, as page parts: for looking at two people's changes beside what was before.
import { h } from "./dom.js";

const MAX_CELLS = 400_000;

const words = (text) => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) || [];

// Which of `now`'s words are kept from `old`, by the longest common subsequence.
function keptWords(old, now) {
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = now.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        old[row] === now[column]
          ? lengths[(row + 1) * width + column + 1] + 1
          : Math.max(lengths[(row + 1) * width + column], lengths[row * width + column + 1]);
    }
  }
  const kept = new Array(now.length).fill(false);
  for (let row = 0, column = 0; row < old.length && column < now.length; ) {
    if (old[row] === now[column]) {
      kept[column] = true;
      row += 1;
      column += 1;
    } else if (lengths[(row + 1) * width + column] >= lengths[row * width + column + 1]) row += 1;
    else column += 1;
  }
  return kept;
}

// `text` with what is new against `before` marked.
export function marked(before, text) {
  const [old, now] = [words(before), words(text)];
  if (old.length * now.length > MAX_CELLS) return [text];
  const kept = keptWords(old, now);
  const pieces = [];
  for (let index = 0; index < now.length; ) {
    let end = index;
    while (end < now.length && kept[end] === kept[index]) end += 1;
    const piece = now.slice(index, end).join("");
    pieces.push(kept[index] || !piece.trim() ? piece : h("mark", {}, piece));
    index = end;
  }
  return pieces;
}
