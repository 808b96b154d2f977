// What is seen: text in, its translation out, line by line.

const data = read("data");
const PAUSE = 400; // milliseconds without typing before a translation begins
const QUIET = 300; // milliseconds of work before its progress is shown
const MAX_BYTES = 1_000_000; // of a file
const MAX_LINE = 100_000; // characters of a line in a file; browsers lay out longer ones for seconds
const NO_FILE = { name: "", newline: "\n" };
const checks = data.checks.map(([expression, flags]) => new RegExp(expression, `g${flags}`));
const source = at("source"), output = at("translation");
let rows = []; // of each line: {source, text (its translation so far), isWhole, cuts, element}; cuts: sentences cut off
let job = 0; // number of the latest one
let progress = { done: 0, total: 0, state: "reading" }; // or "working", "stopped", "done", "empty"
let file = NO_FILE; // the one that was opened: its name without the ending, and the end of its lines
let replaced = null; // {text, file} before Clear or a file took their place, while that can be undone
const notices = new Map(); // what the notice says: what is filled in, by the name of the text
let typing = 0, showing = 0; // timers; 0 where nothing is typed

// ---- The engine: a worker, or this page where there is none ----

let send = startWorker();
let unread = { data, weights: at("weights").textContent }; // until the engine has read them
at("weights").remove(); // it takes as much memory as the numbers
send(unread);

function startWorker() { // -> a function that sends a message to the engine
  const start = "const engine = new Engine((message) => postMessage(message)); onmessage = ({ data }) => engine.receive(data);";
  try {
    const program = new Blob([at("engine").textContent, start], { type: "text/javascript" });
    const worker = new Worker(URL.createObjectURL(program));
    worker.onmessage = (event) => receive(event.data);
    worker.onerror = (event) => {
      if (!unread) { note("failed", { message: event.message }); return; }
      send = startHere();
      send(unread);
      translate();
    };
    return (message) => worker.postMessage(message);
  } catch {
    return startHere();
  }
}

function startHere() {
  const engine = new Engine((message) => receive(message));
  return (message) => engine.receive(message);
}

function receive(message) {
  if (message.isReady) {
    unread = null;
    setProgress({ state: stateOfRows() });
  } else if (message.failure) {
    note("failed", { message: message.failure });
  } else if (message.job === job) {
    const { done, total, cuts } = message, row = rows[message.number];
    showLine(row, message.text, message.isWhole);
    setProgress({ done, total, state: done === total ? "done" : "working" });
    if (row.cuts === cuts) return;
    row.cuts = cuts;
    noteCuts();
  }
}

// ---- Translating ----

function schedule() {
  clearTimeout(typing);
  typing = setTimeout(translate, PAUSE);
}

function translate() { // what has changed since the latest time
  clearTimeout(typing);
  typing = 0;
  const texts = source.value.trim() ? source.value.split("\n") : [];
  job += 1;
  setRows(texts);
  const lines = rows.map(({ source: text, isWhole }, number) => ({ number, text, isWhole })).filter((one) => !one.isWhole);
  noteCuts();
  send({ job, lines, tag: target().tag });
  setProgress({ done: 0, total: lines.length, state: unread ? "reading" : stateOfRows() });
}

const stateOfRows = () => (rows.some(({ isWhole }) => !isWhole) ? "working" : rows.length ? "done" : "empty");

function stop() {
  job += 1;
  send({ job, lines: [] });
  setProgress({ state: "stopped" });
}

function setRows(texts) {
  while (rows.length > texts.length) rows.pop().element.remove();
  texts.forEach((text, n) => {
    if (!rows[n]) {
      rows[n] = { source: null, text: "", cuts: 0, element: document.createElement("div") };
      rows[n].element.dir = "auto";
      showText(rows[n], "");
      output.append(rows[n].element);
    }
    if (rows[n].source === text) return;
    Object.assign(rows[n], { source: text, isWhole: !text.trim(), cuts: 0 });
    if (rows[n].isWhole) showLine(rows[n], "", true);
    else rows[n].element.className = "former";
  });
}

function showText(row, text) {
  row.text = text;
  row.element.replaceChildren(text || document.createElement("br")); // without <br>, copying skips an empty line
}

function showLine(row, text, isWhole) {
  row.isWhole = isWhole;
  showText(row, text);
  row.element.className = isWhole && fixedParts(row.source) !== fixedParts(text) ? "doubtful" : "";
}

function fixedParts(text) { // what a translation must hold as it is, as one text
  const normalized = text.normalize("NFKC");
  return JSON.stringify(checks.map((expression) => (normalized.match(expression) ?? []).sort()));
}

const translation = () => rows.map(({ text }) => text).join("\n");

// ---- Showing ----

function setProgress(changes) {
  const before = progress.state;
  progress = { ...progress, ...changes };
  if (progress.state === "working" && before === "working") { showProgress(); return; }
  clearTimeout(showing);
  const isSlow = progress.state === "working" || progress.state === "reading";
  at("progress").hidden = true;
  if (isSlow) showing = setTimeout(() => { at("progress").hidden = false; showProgress(); }, QUIET);
  else showProgress();
}

function showProgress() {
  const { done, total, state } = progress, isShown = !at("progress").hidden;
  if (state === "working" && total) at("progress").value = done / total;
  else at("progress").removeAttribute("value");
  const shown = state === "empty" || (state === "working" && !isShown) ? "" : say(state, { done, total });
  if (at("status").textContent !== shown) at("status").textContent = shown;
  const hadFocus = document.activeElement === at("stop");
  at("stop").hidden = !(state === "stopped" || (state === "working" && isShown));
  if (hadFocus && at("stop").hidden) output.focus({ preventScroll: true }); // else the keyboard is nowhere
  at("stop").textContent = say(state === "stopped" ? "continue" : "stop");
  at("copy").disabled = at("save").disabled = !rows.some(({ text }) => text);
  at("doubts").hidden = !output.querySelector(".doubtful");
  at("example").hidden = !data.example || source.value !== "";
  at("clear").hidden = source.value === "";
}

function note(name, filled) {
  notices.set(name, filled);
  showNotices();
}

function noteCuts() {
  const number = rows.reduce((sum, { cuts }) => sum + cuts, 0);
  if (number) note("longer", { number });
  else if (notices.delete("longer")) showNotices();
}

function dropNotices() { // of what the user did before; not those of what still holds
  replaced = null;
  for (const name of [...notices.keys()]) if (name !== "longer" && name !== "failed") notices.delete(name);
  showNotices();
}

function showNotices() {
  at("notice").hidden = !notices.size;
  at("undo").hidden = !replaced;
  const shown = Array.from(notices, ([name, filled]) => say(name, filled)).join(" ");
  if (at("said").textContent !== shown) at("said").textContent = shown;
}

function fit() { // the height of the text; a box that grows with the other column would hide it
  const top = document.documentElement.scrollTop;
  Object.assign(source.style, { flex: "none", height: "0" });
  Object.assign(source.style, { flex: "", height: `${source.scrollHeight}px` });
  document.documentElement.scrollTop = top;
}

const nameOf = (code) => new Intl.DisplayNames([document.documentElement.lang], { type: "language" }).of(code);
const target = () => data.targets[at("target").selectedIndex] ?? data.targets[0] ?? { code: "", tag: "" };

function setLanguage(number) {
  speak(number);
  const from = data.source && nameOf(data.source), into = data.targets.map(({ code }) => nameOf(code));
  const chosen = at("target").selectedIndex;
  at("target").replaceChildren(...into.map((name) => new Option(name)));
  at("target").selectedIndex = Math.max(0, chosen);
  at("target").hidden = into.length < 2;
  at("target-name").hidden = into.length > 1;
  at("source-name").textContent = from || say("source");
  at("target-name").textContent = into[0] || say("target");
  at("title").textContent = from && into.length ? say("title", { source: from, target: into.join(" · ") }) : say("untitled");
  document.title = at("title").textContent;
  output.dataset.empty = say("empty");
  source.placeholder = say(matchMedia("(pointer: coarse)").matches ? "hint-touch" : "hint") // touch drops no files
    + (data.example ? say("for-example", { example: data.example }) : "");
  at("limits").textContent = say("limits");
  at("about").textContent = say("about", { name: data.name });
  showNotices();
  showTarget();
  showProgress();
  fit();
}

function showTarget() {
  source.lang = data.source;
  output.lang = target().code;
}

function showTranslation() {
  source.blur(); // the keyboard of a phone covers the translation
  at("to").scrollIntoView({ behavior: "smooth", block: "nearest" });
}

// ---- Files ----

async function openFile(given, number = 1) { // number: of the files that were dropped
  dropNotices();
  const { name } = given;
  if (number > 1) note("several", { name, number });
  if (given.size > MAX_BYTES) { note("too-large", { name }); return; }
  const bytes = new Uint8Array(await given.arrayBuffer()), { text, encoding } = decode(bytes);
  const fault = faultOf(text);
  if (fault) { note(fault, { name, number: MAX_LINE.toLocaleString(document.documentElement.lang) }); return; }
  if (encoding !== "utf-8") note("encoding", { name, encoding });
  replace(text, { name: name.replace(/\.[^.]*$/, ""), newline: text.includes("\r\n") ? "\r\n" : "\n" });
  if (replaced) note("replaced", { name });
  if (at("translate").offsetWidth) showTranslation(); // below the text, out of sight
}

function faultOf(text) { // of a file: the name of what is said, or null
  if (!text.trim()) return "file-empty";
  if (/[\0-\x08]/.test(text) || text.startsWith("{\\rtf")) return "not-text";
  return text.split("\n").some(({ length }) => length > MAX_LINE) ? "long-line" : null;
}

function decode(bytes) { // -> {text, encoding}: UTF-8, UTF-16 by its mark, or the usual one of before
  const [first, second] = bytes, marked = { 0xfffe: "utf-16le", 0xfeff: "utf-16be" }[first * 256 + second];
  if (marked) return { text: new TextDecoder(marked).decode(bytes), encoding: "utf-8" };
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), encoding: "utf-8" };
  } catch {
    const encoding = data.source.startsWith("zh") ? "gb18030" : "windows-1252";
    return { text: new TextDecoder(encoding).decode(bytes), encoding };
  }
}

function setSource(text) {
  source.value = text;
  fit();
  translate();
}

function replace(text, origin) { // the text and its file; that can be undone
  replaced = source.value.trim() ? { text: source.value, file } : null;
  file = origin;
  setSource(text);
}

function save() {
  const endsLine = rows.at(-1).source === "", text = translation() + (endsLine ? "" : "\n");
  const link = document.createElement("a");
  link.download = `${[file.name || "translation", target().code].filter(Boolean).join(".")}.txt`;
  link.href = URL.createObjectURL(new Blob([text.replaceAll("\n", file.newline)], { type: "text/plain" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function copy() {
  try {
    await navigator.clipboard.writeText(translation());
  } catch {
    note("copy-failed");
    return;
  }
  at("copy").textContent = say("copied");
  setTimeout(() => { at("copy").textContent = say("copy"); }, 1500);
}

// ---- Events ----

source.addEventListener("beforeinput", () => {
  if (source.selectionEnd - source.selectionStart === source.value.length) file = NO_FILE; // all is typed over
});
source.addEventListener("input", (event) => {
  dropNotices();
  fit();
  showProgress();
  if (!event.isComposing) schedule();
});
source.addEventListener("compositionend", schedule);
source.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  translate();
});
at("translate").addEventListener("click", () => {
  translate();
  showTranslation();
});
at("example").addEventListener("click", () => {
  dropNotices();
  file = NO_FILE;
  setSource(data.example);
  source.focus();
});
at("clear").addEventListener("click", () => {
  dropNotices();
  replace("", NO_FILE);
  if (replaced) note("cleared");
  source.focus();
});
at("undo").addEventListener("click", () => {
  const { text, file: origin } = replaced;
  dropNotices();
  file = origin;
  setSource(text);
  source.focus();
});
at("close").addEventListener("click", () => {
  notices.clear();
  dropNotices();
});
at("open").addEventListener("click", () => at("file").click());
at("file").addEventListener("change", () => {
  const [given] = at("file").files;
  if (given) openFile(given);
  at("file").value = ""; // so that the same one may be chosen again
});
at("copy").addEventListener("click", copy);
at("save").addEventListener("click", save);
at("stop").addEventListener("click", () => (progress.state === "stopped" ? translate() : stop()));
at("target").addEventListener("change", () => {
  for (const row of rows) Object.assign(row, { source: null });
  showTarget();
  translate();
});
at("language").addEventListener("click", () => setLanguage(1 - language));
for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
  addEventListener(kind, (event) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    document.body.classList.toggle("dropping", kind === "dragenter" || kind === "dragover");
    const { files } = event.dataTransfer;
    if (kind === "drop" && files.length) openFile(files[0], files.length);
  });
}
addEventListener("resize", fit);
addEventListener("pageshow", () => { // by now, the browser has put back the text of an earlier visit
  showTarget();
  fit();
  if (progress.state !== "stopped") translate();
});

setLanguage(language);
