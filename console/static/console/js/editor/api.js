// The REST endpoints of one draft. What goes wrong is an ApiError with the server's own words, or Offline where it cannot be reached.

export class ApiError extends Error {
  constructor(status, problem) {
    super(sentence(status, problem));
    this.status = status;
    this.code = problem.code || "";
    this.problem = problem;
    this.errors = problem.errors || [];
  }

  get isSignedOut() {
    return this.status === 401 || this.code === "not_authenticated" || this.code === "csrf_failed";
  }
}

export class Offline extends Error {
  constructor() {
    super("The server cannot be reached.");
  }
}

function sentence(status, problem) {
  const parts = (problem.errors || []).map((item) => [item.field, item.message, item.mend].filter(Boolean).join(" "));
  return [problem.detail || `The server answered ${status}.`, ...parts.slice(0, 5)].filter((text, at, all) => all.indexOf(text) === at).join(" ");
}

function csrfToken() {
  return /(?:^|; )csrftoken=([^;]*)/.exec(document.cookie)?.[1] || JSON.parse(document.body.getAttribute("hx-headers") || "{}")["X-CSRFToken"] || "";
}

export async function request(method, url, { body, headers = {}, keepalive } = {}) {
  const isForm = body instanceof FormData;
  let response;
  try {
    response = await fetch(url, {
      method,
      cache: "no-store",
      credentials: "same-origin",
      keepalive,
      headers: { Accept: "application/json", "X-CSRFToken": csrfToken(), ...(body === undefined || isForm ? {} : { "Content-Type": "application/json" }), ...headers },
      body: body === undefined || isForm ? body : JSON.stringify(body),
    });
  } catch {
    throw new Offline();
  }
  if ([502, 503, 504].includes(response.status)) throw new Offline();
  const isJson = /json/.test(response.headers.get("content-type") || "");
  const content = isJson ? await response.json().catch(() => ({})) : {};
  if (!response.ok) throw new ApiError(response.status, content);
  return content;
}

// `base`: /api/v1/harnesses/<slug>/drafts/<id>; `harness`: /api/v1/harnesses/<slug>.
export class Api {
  constructor({ base, harness, root }) {
    Object.assign(this, { base, harness, root });
  }

  read() {
    return request("GET", this.base);
  }

  save(document, revision, options = {}) {
    return request("PUT", this.base, { body: { document }, headers: { "If-Match": `"r${revision}"` }, ...options });
  }

  #post(action, body = {}, options = {}) {
    return request("POST", `${this.base}/${action}`, { body, ...options });
  }

  check(document) {
    return this.#post("check", { document });
  }

  merge(document, base_revision) {
    return this.#post("merge", { document, base_revision });
  }

  // Merges the newest version into the saved draft, which must still be at `revision`, and saves it.
  rebase(revision) {
    return this.#post("rebase", {}, { headers: { "If-Match": `"r${revision}"` } });
  }

  apply(document, edits) {
    return this.#post("apply", { document, edits });
  }

  mentions(document, kind, component_id, new_name) {
    return this.#post("mentions", { document, kind, component_id, new_name });
  }

  search(document, find, { is_case_sensitive = false, kinds = null } = {}) {
    return this.#post("search", { document, find, is_case_sensitive, kinds });
  }

  prompt(document) {
    return this.#post("prompt", { document });
  }

  commit(message, revision) {
    return this.#post("commit", { message, revision }, { headers: { "Idempotency-Key": crypto.randomUUID?.() || `${Date.now()}-${Math.random()}` } });
  }

  revisions() {
    return request("GET", `${this.base}/revisions`);
  }

  restore(revision) {
    return this.#post("restore", { revision });
  }

  presence() {
    return this.#post("presence");
  }

  leave() {
    return request("DELETE", `${this.base}/presence`, { keepalive: true });
  }

  operations() {
    return request("GET", `${this.harness}/operations`);
  }

  operationTool(name) {
    return request("GET", `${this.harness}/operations/${encodeURIComponent(name)}/tool`);
  }

  // The skills in a SKILL.md or a zip of them, as components.
  skillFile(file) {
    const body = new FormData();
    body.append("file", file);
    return request("POST", `${this.base}/skill-file`, { body });
  }

  // How a result of an operation reads through a tool that is not saved.
  exampleResult(body) {
    return this.#post("example-result", body);
  }

  skillTemplates() {
    return request("GET", `${this.root}/skill-templates`);
  }
}
