// How is the daemon asked? By fetch, below /v1 of the host that the page came from. The token is in this module's memory and nowhere else.

let token = null;
let asking = null;

/** An error that the daemon answered, or `status` 0: no answer. */
export class Failed extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const PATIENCE_MS = 10_000;

/** What `path` answers, read from JSON. Asks its user for the token where one is needed. */
export async function get(path, signal) {
  for (;;) {
    const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
    const patience = AbortSignal.timeout(path.startsWith("/v1/sessions?") ? 6 * PATIENCE_MS : PATIENCE_MS);
    let response;
    try {
      const either = signal ? AbortSignal.any([signal, patience]) : patience;
      response = await fetch(path, { headers, cache: "no-store", credentials: "omit", redirect: "error", signal: either });
    } catch (e) {
      if (signal?.aborted) throw e;
      throw new Failed(0, "the daemon does not answer");
    }
    if (response.status === 401) {
      await askForToken(token !== null);
      continue;
    }
    let body;
    try {
      body = await response.json();
    } catch {
      throw new Failed(response.ok ? 0 : response.status, `the daemon's answer to ${path} cannot be read`);
    }
    if (!response.ok) throw new Failed(response.status, String(body?.error ?? response.status));
    return body;
  }
}

/** Shows the dialog once, however many requests wait for it. */
function askForToken(wasWrong) {
  asking ??= new Promise((resolve) => {
    const dialog = document.getElementById("ask");
    const input = document.getElementById("token");
    document.getElementById("ask-error").textContent = wasWrong ? "This token was not accepted." : "";
    input.value = "";
    // There is nothing to show without it.
    dialog.oncancel = (event) => event.preventDefault();
    document.getElementById("ask-form").onsubmit = () => {
      token = input.value.trim();
      input.value = "";
      asking = null;
      resolve();
    };
    dialog.showModal();
  });
  return asking;
}
