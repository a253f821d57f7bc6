// The playground's composer: sends one comment to every lane and shows what happens while it happens.
// Without this script the form posts and the page comes back with the turns.
import { localiseTimes } from "./times.js";

const form = document.querySelector("[data-composer]");
const lanes = [...document.querySelectorAll("[data-lane]")];

if (form) {
  const input = form.querySelector("textarea");
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(input);
  });
  input.focus({ preventScroll: true });
  const turns = document.querySelectorAll("[data-lane]:first-child .turn");
  if (turns.length > 1) turns[turns.length - 1].scrollIntoView({ block: "start" });
}

async function send(input) {
  const comment = input.value;
  if (!comment.trim()) return showProblem("Write a comment first.");
  const button = form.querySelector("button");
  button.disabled = true;
  showProblem("");
  input.value = "";
  const results = await Promise.all(lanes.map((lane) => takeTurn(lane, comment)));
  const problems = [...new Set(results.filter(Boolean))];
  if (problems.length) {
    if (!input.value && results.every(Boolean)) input.value = comment;
    showProblem(problems.join(" "));
  }
  button.disabled = false;
  input.focus();
}

function showProblem(text) {
  const place = form.querySelector("[data-composer-error]");
  place.textContent = text;
  place.hidden = !text;
}

// Takes one turn in one lane. Gives back what went wrong, or nothing.
async function takeTurn(lane, comment) {
  const live = new LiveTurn(lane, comment);
  try {
    const body = new FormData();
    body.set("comment", comment);
    const token = form.querySelector("[name=csrfmiddlewaretoken]").value;
    const response = await fetch(lane.dataset.stream, { method: "POST", body, headers: { "X-CSRFToken": token } });
    const type = response.headers.get("content-type") || "";
    if (type.startsWith("application/json")) throw new Error((await response.json()).detail);
    if (!type.startsWith("text/event-stream")) throw new Error("You are no longer signed in, or may not do this. Reload the page.");
    for await (const { name, data } of readEvents(response.body)) {
      if (name === "error") throw new Error(data.detail);
      live.hear(name, data);
    }
    if (!live.isDone) throw new Error("The connection broke before the reply was there. Send it again.");
    return "";
  } catch (error) {
    live.remove();
    return error instanceof TypeError ? "The server cannot be reached. Try again in a moment." : error.message;
  }
}

async function* readEvents(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    buffer += value;
    for (let end = buffer.indexOf("\n\n"); end >= 0; end = buffer.indexOf("\n\n")) {
      const block = buffer.slice(0, end);
      buffer = buffer.slice(end + 2);
      const name = /^event: (.*)$/m.exec(block);
      const data = /^data: (.*)$/m.exec(block);
      if (name && data) yield { name: name[1], data: JSON.parse(data[1]) };
    }
  }
}

function element(tag, className, text = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

// A turn that is under way: what is known so far, replaced by the server's own page part when it is done.
class LiveTurn {
  constructor(lane, comment) {
    this.turns = lane.querySelector("[data-turns]");
    this.nothing = lane.querySelector("[data-nothing]");
    if (this.nothing) this.nothing.hidden = true;
    this.isDone = false;
    this.round = null;
    this.node = element("article", "turn is-arriving");
    const talk = element("div", "turn__talk");
    talk.append(element("p", "say say--viewer", comment));
    this.reply = element("p", "say say--reply");
    this.reply.hidden = true;
    this.state = element("p", "live", "Asking the model");
    this.state.setAttribute("role", "status");
    talk.append(this.reply, this.state);
    const trace = element("div", "turn__trace");
    this.steps = element("ol", "steps");
    trace.append(this.steps);
    this.node.append(talk, trace);
    this.turns.append(this.node);
    this.node.scrollIntoView({ block: "nearest" });
  }

  hear(name, data) {
    if (name === "delta") {
      if (this.round !== data.round) this.reply.textContent = "";
      this.round = data.round;
      this.reply.hidden = false;
      this.reply.textContent += data.text;
      this.state.textContent = "The model writes";
    } else if (name === "call_started") {
      this.reply.textContent = "";
      this.reply.hidden = true;
      this.state.textContent = `Calling ${data.tool_name}`;
    } else if (name === "call_finished") {
      this.step("call", data.tool_name, data.operation ? `reached ${data.operation}` : data.status);
      this.state.textContent = "Asking the model";
    } else if (name === "hook") {
      this.step("hook", data.hook_name, data.detail);
    } else if (name === "reply") {
      this.reply.hidden = false;
      this.reply.textContent = data.reply;
      this.state.textContent = "Saving the turn";
    } else if (name === "done") {
      this.replace(data.html);
    }
  }

  step(kind, title, text) {
    const item = element("li", `step step--${kind}`);
    item.append(element("span", "step__title mono", title), " ", element("span", "small soft", text));
    this.steps.append(item);
  }

  replace(html) {
    const holder = document.createElement("template");
    holder.innerHTML = html;
    localiseTimes(holder.content);
    const done = holder.content.firstElementChild;
    this.node.replaceWith(done);
    done.scrollIntoView({ block: "nearest" });
    this.isDone = true;
  }

  remove() {
    if (this.isDone) return;
    this.node.remove();
    if (this.nothing) this.nothing.hidden = false;
  }
}
