// The few icons of the editor, drawn in the colour of the text around them.
const PATHS = {
  up: "M8 12V4M4 8l4-4 4 4",
  down: "M8 4v8M4 8l4 4 4-4",
  plus: "M8 3v10M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M6 6h7v7H6zM3 10V3h7",
  trash: "M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5M6.8 7v4M9.2 7v4",
  undo: "M6 3L3 6l3 3M3 6h6.5a3.5 3.5 0 010 7H7",
  redo: "M10 3l3 3-3 3M13 6H6.5a3.5 3.5 0 000 7H9",
  search: "M7 11.5a4.5 4.5 0 100-9 4.5 4.5 0 000 9zM10.3 10.3L14 14",
  play: "M5 3.5v9l7-4.5z",
  compare: "M6 3v10M3 6l3-3M10 13V3M13 10l-3 3",
  keys: "M2 4.5h12v7H2zM4.5 7h.01M7 7h.01M9.5 7h.01M11.5 7h.01M5 9.3h6",
  grip: "M6 4h.01M6 8h.01M6 12h.01M10 4h.01M10 8h.01M10 12h.01",
  more: "M4 8h.01M8 8h.01M12 8h.01",
  warn: "M8 2.5l6 10.5H2zM8 6.5v3M8 11.5h.01",
};
const SVG = "http://www.w3.org/2000/svg";

export function icon(name) {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", "0 0 16 16");
  drawing.setAttribute("aria-hidden", "true");
  drawing.classList.add("icon", `icon--${name}`);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name] || PATHS.more);
  drawing.append(path);
  return drawing;
}
