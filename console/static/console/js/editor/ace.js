// Ace, set up for the console's content security policy: nothing inline, nothing from elsewhere, colours from our own style sheet.
// `loadAce()` resolves with the library or rejects; what uses it then falls back to a plain text area.

const BASE = new URL("../../../django_ace/ace/", import.meta.url).href;
const WAIT_MS = 10_000;
const SCRIPTS = ["ace.js", "mode-json.js", "ext-language_tools.js", "ext-searchbox.js"];

let loading = null;

function loadAce() {
  loading ||= load().catch((error) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function load() {
  await Promise.all([style(`${BASE}css/ace.css`), (async () => {
    for (const name of SCRIPTS) await script(BASE + name);
  })()]);
  const { ace } = window;
  ace.config.set("basePath", BASE);
  ace.config.set("loadWorkerFromBlob", false);
  ace.config.set("useStrictCSP", true); // no style elements: css/ace.css has them
  return ace;
}

function script(src) {
  return arrival(Object.assign(document.createElement("script"), { src }));
}

function style(href) {
  return arrival(Object.assign(document.createElement("link"), { rel: "stylesheet", href }));
}

function arrival(element) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("The source editor did not load in time.")), WAIT_MS);
    element.addEventListener("load", () => (clearTimeout(timer), resolve()));
    element.addEventListener("error", () => (clearTimeout(timer), element.remove(), reject(new Error("The source editor could not be loaded."))));
    document.head.append(element);
  });
}

// --- one way to use either editor --------------------------------------------------------------------------------------

// An editor of text in `host`: { getText, setText, onChange, caret, goTo, mark, focus, resize, destroy }. `complete(text, offset)` gives
// suggestions (Ace only). `problems` passed to mark(): [{ line, column, text, severity }], lines from 0.
export async function openEditor(host, { text, label, isReadOnly, complete }) {
  try {
    return aceEditor(await loadAce(), host, { text, label, isReadOnly, complete });
  } catch {
    return plainEditor(host, { text, label, isReadOnly });
  }
}

function aceEditor(ace, host, { text, label, isReadOnly, complete }) {
  const place = document.createElement("div");
  host.append(place);
  const editor = ace.edit(place, {
    mode: "ace/mode/json",
    theme: { cssClass: "ace-tackroom", isDark: false, cssText: "" },
    value: text,
    useWorker: false, // json_text.js reads the text: it also knows where each field stands
    tabSize: 2,
    useSoftTabs: true,
    minLines: 12,
    maxLines: 38,
    fontSize: "13px",
    showPrintMargin: false,
    wrap: true,
    readOnly: isReadOnly,
    enableBasicAutocompletion: true,
    enableLiveAutocompletion: true,
    enableKeyboardAccessibility: true,
    textInputAriaLabel: label,
    scrollPastEnd: 0,
  });
  editor.completers = [completer(ace, complete)];
  editor.session.setUndoManager(new ace.UndoManager());
  editor.commands.removeCommands(["showSettingsMenu", "openCommandPalette", "openCommandPallete"]);
  return {
    kind: "ace",
    getText: () => editor.getValue(),
    setText: (next) => replaceText(ace, editor, next),
    onChange: (listener) => editor.session.on("change", listener),
    caret: () => editor.session.doc.positionToIndex(editor.getCursorPosition()),
    goTo: (line, column) => {
      editor.gotoLine(line + 1, column, false);
      editor.focus();
    },
    mark: (problems) => editor.session.setAnnotations(problems.map((item) => ({ row: item.line, column: item.column, text: item.text, type: item.severity }))),
    focus: () => editor.focus(),
    resize: () => editor.resize(),
    destroy: () => {
      editor.destroy();
      place.remove();
    },
  };
}

// Puts another text in, changing only what differs: caret, scroll and Ace's own undo stay.
function replaceText(ace, editor, next) {
  const { doc } = editor.session;
  const now = doc.getValue();
  if (now === next) return;
  let start = 0;
  while (start < now.length && start < next.length && now[start] === next[start]) start += 1;
  let end = 0;
  while (end < now.length - start && end < next.length - start && now[now.length - 1 - end] === next[next.length - 1 - end]) end += 1;
  const Range = ace.require("ace/range").Range;
  doc.replace(Range.fromPoints(doc.indexToPosition(start), doc.indexToPosition(now.length - end)), next.slice(start, next.length - end));
}

function completer(ace, complete) {
  return {
    identifierRegexps: [/[\w.\-$]/],
    triggerCharacters: ['"'],
    getCompletions(editor, session, position, prefix, callback) {
      const text = session.getValue();
      const found = complete ? complete(text, session.doc.positionToIndex(position)) : [];
      callback(null, found.map((item, index) => ({ caption: item.value, value: item.value, meta: item.meta, score: 1000 - index, docText: item.note || undefined, item, completer: this })));
      // The list is read out through the editor itself; its own text area must not be a stop of the Tab key.
      requestAnimationFrame(() => editor.completer?.popup?.textInput?.getElement().setAttribute("tabindex", "-1"));
    },
    // Writes the suggestion out: quotes, a colon after a key, and how its value begins.
    insertMatch(editor, { item }) {
      const { session } = editor;
      const { row, column } = editor.getCursorPosition();
      const line = session.getLine(row);
      const before = /"?[\w.\-$]*$/.exec(line.slice(0, column))[0];
      const rest = line.slice(column);
      const after = /^[\w.\-$]*"?/.exec(rest)[0];
      const isQuoted = before.startsWith('"');
      const word = item.isKey || typeof item.json === "string" ? JSON.stringify(item.value) : String(item.json);
      const hasColon = /^\s*:/.test(rest.slice(after.length));
      const tail = item.isKey && !hasColon ? `: ${item.start || ""}` : "";
      const Range = ace.require("ace/range").Range;
      session.replace(new Range(row, column - before.length, row, column + (isQuoted ? after.length : /^[\w.\-$]*/.exec(rest)[0].length)), word + tail);
      const inside = /(""|\[\]|\{\})$/.test(tail) ? 1 : 0;
      editor.moveCursorTo(row, column - before.length + word.length + tail.length - inside);
      editor.clearSelection();
    },
  };
}

// The same on a plain text area.
function plainEditor(host, { text, label, isReadOnly }) {
  const area = document.createElement("textarea");
  Object.assign(area, { className: "mono source__plain", value: text, readOnly: isReadOnly, spellcheck: false, rows: 20 });
  area.setAttribute("aria-label", label);
  host.append(area);
  return {
    kind: "plain",
    getText: () => area.value,
    setText: (next) => {
      const caret = area.selectionStart;
      area.value = next;
      area.setSelectionRange(caret, caret);
    },
    onChange: (listener) => area.addEventListener("input", listener),
    caret: () => area.selectionStart,
    goTo: (line, column) => {
      const offset = area.value.split("\n").slice(0, line).reduce((sum, row) => sum + row.length + 1, 0) + column;
      area.focus();
      area.setSelectionRange(offset, offset);
      area.scrollTop = Math.max(0, line - 4) * parseFloat(getComputedStyle(area).lineHeight);
    },
    mark: () => {},
    focus: () => area.focus(),
    resize: () => {},
    destroy: () => area.remove(),
  };
}
