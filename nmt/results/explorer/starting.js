// Says what went wrong if the page cannot start: it is read before all that may fail in a browser.

function sayFailure(error) { // error: null for what browsers report without one, such as late layout
  if (!error || !document.querySelector("main").inert) return;
  at("about").textContent = say("failed", { error: `${error}` });
  at("about").className = "";
}

addEventListener("error", (event) => sayFailure(event.error));
addEventListener("unhandledrejection", (event) => sayFailure(event.reason));
