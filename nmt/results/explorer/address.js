// The address of what the reader sees: a button writes it, and the page reads it as it opens.

const SEEN = "see?"; // begins what stands after "#"; else that is the name of a section
const CHOICES = ["kind", "layer", "head", "units", "position", "dimension", "width", "alpha"];

const optionsOf = (id) => [...at(id).options].map(({ value }) => value);

function seenSection() { // the one that takes most of the window
  const shown = (section) => {
    const { top, bottom } = section.getBoundingClientRect();
    return Math.min(bottom, innerHeight) - Math.max(top, 0);
  };
  return [...document.querySelectorAll("main > section")].reduce((a, b) => (shown(b) > shown(a) ? b : a)).id;
}

function writeAddress() {
  const { what } = view, switched = SWITCHES.filter(({ name, value }) => what[name] === value).map(({ name }) => name);
  const seen = new URLSearchParams({ section: seenSection(), text: view.source, step: view.step, language });
  for (const id of CHOICES) seen.set(id, at(id).value);
  const lists = { tokens: view.forced, without: switched, heads: what.withoutHeads, layers: what.withoutLayers };
  for (const [name, values] of Object.entries(lists)) if (values.length) seen.set(name, values.join(" "));
  history.replaceState(null, "", `#${SEEN}${seen}`);
  at("linked").textContent = say("linked");
}

// Chooses what an address names; what the page does not know is left as it is. -> whether it names something
function readAddress() {
  if (!location.hash.startsWith(`#${SEEN}`)) return false;
  const seen = new URLSearchParams(location.hash.slice(SEEN.length + 1)), list = (name) => (seen.get(name) ?? "").split(" ").filter(Boolean);
  if (["0", "1"].includes(seen.get("language"))) setLanguage(Number(seen.get("language")));
  for (const id of CHOICES) {
    const field = at(id), value = seen.get(id);
    const isKnown = field.options ? optionsOf(id).includes(value) : value !== null && Number.isFinite(Number(value));
    if (isKnown) field.value = value;
    if (id === "kind") showLayers(); // of which there are as many as the stack has
  }
  view.what = asTrained();
  for (const { name, value } of SWITCHES) if (list("without").includes(name)) view.what[name] = value;
  showSwitches(); // whose menus have the names of heads and layers
  view.what.withoutHeads = list("heads").filter((name) => optionsOf("what-head").includes(name)).slice(0, 1);
  view.what.withoutLayers = list("layers").filter((name) => optionsOf("what-layer").includes(name)).slice(0, 1);
  at("source").value = seen.get("text") ?? "";
  at("sentence").value = "";
  const tokens = list("tokens").map(Number).filter((id) => id !== START && id !== PAD && id in data.vocabulary.pieces);
  Object.assign(view, { source: at("source").value, forced: tokens, focusStep: Math.max(0, Number(seen.get("step")) || 0) });
  show(["switches", "positions"]);
  translate();
  const section = document.querySelector(`main > section[id="${CSS.escape(seen.get("section") ?? "")}"]`);
  if (section) {
    openSection(section);
    section.scrollIntoView();
  }
  return true;
}

at("link").addEventListener("click", writeAddress);
addEventListener("hashchange", readAddress);
