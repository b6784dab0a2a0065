// Asks for a token when the server needs one.

import { byId } from "./elements.js";

/** Resolves to the token, or to null if the user cancels. */
export function askForToken(message) {
  const [dialog, form, input] = ["token-dialog", "token-form", "token"].map(byId);
  byId("token-message").textContent = message;
  input.value = "";
  dialog.showModal();
  return new Promise((resolve) => {
    const listening = new AbortController();
    const end = (token) => {
      listening.abort();
      dialog.close();
      resolve(token);
    };
    const { signal } = listening;
    form.addEventListener(
      "submit",
      (event) => {
        event.preventDefault();
        end(input.value.trim());
      },
      { signal },
    );
    byId("token-cancel").addEventListener("click", () => end(null), { signal });
    dialog.addEventListener("cancel", () => end(null), { signal });
  });
}
