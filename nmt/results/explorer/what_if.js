// Switches that change the calculation, and what they change.

const SWITCHES = [ // the value that a checked box sets
  { name: "positions", value: false }, { name: "scaling", value: false }, { name: "lookAhead", value: false },
  { name: "paddingTokens", value: 8 }, { name: "paddingMask", value: false }, { name: "cross", value: false },
  { name: "residual", value: false },
];

const asTrained = () => ({ ...AS_TRAINED, withoutHeads: [], withoutLayers: [] });
const isSwitched = () => JSON.stringify(view.what) !== JSON.stringify(AS_TRAINED);

function question(name) {
  const summary = element("summary", { textContent: say("expect") });
  summary.setAttribute("aria-label", `${say("expect")}: ${say(`what-${name}`)}`);
  return [element("p", { className: "faint", textContent: say(`ask-${name}`) }),
    element("details", {}, summary, element("p", { textContent: say(`expect-${name}`) }))];
}

function switchBox({ name, value }) {
  const box = element("input", { type: "checkbox", id: `what-${name}`, checked: view.what[name] === value });
  box.addEventListener("change", () => {
    view.what[name] = box.checked ? value : AS_TRAINED[name];
    if (name === "paddingMask" && box.checked) view.what.paddingTokens = 8;
    if (name === "paddingTokens" && !box.checked) view.what.paddingMask = true;
    changeSwitches();
  });
  return element("div", { className: "switch" }, element("label", {}, box, say(`what-${name}`)), ...question(name));
}

function switchMenu(name, field, values) { // names such as "encoder.1.2", one of which is left out
  const box = element("select", { id: `what-${name}` });
  const labels = values.map((value) => {
    const [stack, layer, head] = value.split(".");
    return say(head ? "menu-head" : "menu-layer", { stack: say(`menu-${stack}`), layer, head });
  });
  options(box, [say("none"), ...labels], ["", ...values]);
  box.value = view.what[field][0] ?? "";
  box.addEventListener("change", () => {
    view.what[field] = box.value ? [box.value] : [];
    changeSwitches();
  });
  return element("div", { className: "switch" }, element("label", {}, say(`what-${name}`), box), ...question(name));
}

function showSwitches() {
  const numbers = (length) => Array.from({ length }, (_, n) => n + 1);
  const heads = numbers(data.sizes.num_heads);
  const layerNames = (kinds) => kinds.flatMap((kind) =>
    numbers(layersOf(kind)).map((layer) => `${kind}.${layer}`));
  const headNames = layerNames(["encoder", "decoder", "cross"]).flatMap((layer) =>
    heads.map((head) => `${layer}.${head}`));
  at("switches").replaceChildren(...SWITCHES.map(switchBox),
    switchMenu("head", "withoutHeads", headNames),
    switchMenu("layer", "withoutLayers", layerNames(["encoder", "decoder"])));
}

function changeSwitches() {
  for (const { name, value } of SWITCHES) at(`what-${name}`).checked = view.what[name] === value;
  view.forced = [];
  view.fromRun = false;
  translate();
}

// The most tokens that two lists have in common in the same order: a word put in moves those after it, and changes none.
function commonLength(one, other) {
  let before = Array(other.length + 1).fill(0); // of each beginning of `other`, with the tokens of `one` so far
  for (const id of one) {
    const row = [0];
    other.forEach((otherId, n) => row.push(id === otherId ? before[n] + 1 : Math.max(before[n + 1], row[n])));
    before = row;
  }
  return before.at(-1);
}

// The translation as trained, and what the switches make of it. -> null if nothing is switched, else
// {words, changed (tokens), all, before, after (probability of its target)}
function* compare(ids) {
  if (!isSwitched() || view.stepping || isSampled() || ids.length <= 2) return null;
  const trained = new Translation(network, ids, AS_TRAINED, view.forced);
  yield* trained.translate();
  const { target } = trained;
  const forced = new Translation(network, ids, view.what, target.slice(1)); // with the switches, the same tokens
  yield* forced.translate();
  const logs = forced.steps.slice(0, trained.steps.length)
    .map(({ probabilities }, n) => Math.log(probabilities[target[n + 1]]));
  const longer = Math.max(target.length, translation.target.length);
  const changed = longer - commonLength(target, translation.target);
  return { words: trained.words(), changed, all: longer - 1, before: Math.exp(trained.logProbability()),
    after: Math.exp(logs.reduce((sum, log) => sum + log, 0)) };
}

function showChanged() {
  if (!former) {
    at("changed").textContent = !isSwitched() ? say("unchanged")
      : view.stepping ? say("not-compared") : isSampled() ? say("sampled") : "…";
    return;
  }
  const quoted = (words) => `\u2068${textOf(words)}\u2069`;
  at("changed").textContent = say(former.changed ? "changed" : "changed-nothing", { changed: former.changed, all: former.all, before: percent(former.before),
    after: percent(former.after), now: quoted(translation.words()), text: quoted(former.words) });
}
