// Text that could not be taken over yet, kept as typed in this browser: per draft and place, until it is taken over or discarded.
const PREFIX = "tackroom:typed:";

const keyOf = (store, place) => `${PREFIX}${store.meta.slug}:${store.meta.draftId}:${place}`;

// {text, base, at}: what was typed, over what (the text it started from), when (ms). A full or closed storage keeps nothing and says so.
export function keep(store, place, text, base = "") {
  try {
    localStorage.setItem(keyOf(store, place), JSON.stringify({ text, base, at: Date.now() }));
    return true;
  } catch {
    return false;
  }
}

export function kept(store, place) {
  try {
    const found = JSON.parse(localStorage.getItem(keyOf(store, place)) || "null");
    return found && typeof found.text === "string" ? found : null;
  } catch {
    return null;
  }
}

export function discard(store, place) {
  try {
    localStorage.removeItem(keyOf(store, place));
  } catch {
    // Nothing is kept where there is no storage.
  }
}
