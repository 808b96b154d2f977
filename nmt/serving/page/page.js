// The page: sends what is typed, shows the translation as it comes, and lets the reader change it.
// Text is set as text, never as HTML: a sentence may hold markup.
"use strict";

const WORD_START = "\u2581"; // SentencePiece's mark of a space; drawing.js reads it
const FIRST_TOKEN = 4; // ids below stand for no text
const PAUSE = 250; // ms after the last key, before the text is sent
const UNLIKELY = 0.25, UNSURE = 0.6; // probabilities below which a token is marked
const DOUBTFUL = 40; // confidence below which a sentence is marked
const LINKED = 0.2; // share of attention from which a word is marked
const FEWEST = 4, LEAST = 0.001; // choices that are offered, however unlikely; and probability of others
const N_BEST = 4;
const RECOGNIZED = 33; // confidence from which a detected language is shown
const MAX_OTHERS_LENGTH = 400; // characters of a text whose other translations are shown

const at = (id) => document.getElementById(id);
const source = at("source"), output = at("translation");
let texts = {}, language = navigator.language.startsWith("zh") ? 1 : 0; // a column of texts
let languages = [], runs = [], settings = {};
let key = sessionStorage.getItem("key") ?? "";

const state = {
  prefixes: [], // token ids that the reader has chosen, by sentence
  sentences: [], // as the server sent them
  languages: null, // {source, target} of the translation, once it is finished
  done: {}, // {tokens, ms} of it
  drafts: [], // of corrections, while they are open: {field, sentence, source, target}
  warnings: [], // about the translation, as the server sent them
  detected: null, timer: 0, request: null, began: 0,
};

function say(name, filled = {}) {
  return texts[name][language].replace(/\{(\w+)\}/g, (_, word) => filled[word] ?? "");
}

function percent(probability) {
  const share = 100 * probability;
  return share >= 10 ? `${share.toFixed(0)}%` : share >= 0.1 ? `${share.toFixed(1)}%` : "< 0.1%";
}

// ---- Asking the server ----

async function ask(path, fields, signal) {
  const options = { signal, headers: key ? { Authorization: `Bearer ${key}` } : {} };
  if (fields instanceof FormData) Object.assign(options, { method: "POST", body: fields });
  else if (fields) {
    options.headers["Content-Type"] = "application/json";
    Object.assign(options, { method: "POST", body: JSON.stringify(fields) });
  }
  const answer = await fetch(path, options);
  if (answer.ok) return answer;
  if (answer.status === 403 && await needsKey() && askForKey()) return ask(path, fields, signal);
  throw new Error(await reasonOf(answer));
}

async function needsKey() { // which may have changed since the page was opened
  return (await (await fetch("/frontend/settings")).json()).keyRequired;
}

async function reasonOf(answer) { // in the server's words; a proxy before it answers with a page of its own
  const text = await answer.text();
  try {
    return JSON.parse(text).error;
  } catch {
    return `${answer.status} ${answer.statusText}`;
  }
}

function askForKey() {
  const typed = prompt(say("key")); // null if it was cancelled: the key of before stays
  if (!typed) return false;
  key = typed;
  sessionStorage.setItem("key", key);
  return true;
}

async function* eventsOf(answer) { // yields [name, data] of server-sent events
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (held + value).split("\n\n");
    held = blocks.pop();
    for (const block of blocks) {
      const [name, data] = block.split("\n");
      yield [name.slice("event: ".length), JSON.parse(data.slice("data: ".length))];
    }
  }
}

function asked() {
  return { text: source.value, source: at("source-language").value, target: at("target-language").value };
}

function later() { // the text has changed: translate it once the reader pauses
  state.prefixes = [];
  clearTimeout(state.timer);
  state.timer = setTimeout(translate, PAUSE);
}

function begun() { // a request, which ends the one before
  state.request?.abort();
  closeChoices();
  forget();
  state.began = performance.now();
  return state.request = new AbortController();
}

const wordsOfError = (error) => error instanceof TypeError ? say("failed") : error.message;

function showError(error, request) {
  if (!request.signal.aborted) showStatus(wordsOfError(error));
}

async function translate() {
  const request = begun();
  const text = source.value, tooLong = [...text].length > settings.charLimit;
  if (!text.trim() || tooLong) return showStatus(tooLong ? say("too-long", countOf(text)) : "");
  showStatus(say("translating"));
  try {
    await receive(request);
    if (text.length <= MAX_OTHERS_LENGTH && !state.prefixes.length) await showOthers(request.signal);
  } catch (error) {
    showError(error, request);
  }
}

async function translateFile(file) { // shows a link to the translated file
  setSource("");
  clearTimeout(state.timer);
  const request = begun();
  showStatus(say("translating-file", { name: file.name }));
  const fields = new FormData(), { source: from, target } = asked();
  for (const [name, value] of Object.entries({ file, source: from, target })) fields.append(name, value);
  try {
    const answer = await (await ask("/translate_file", fields, request.signal)).json();
    const path = new URL(answer.translatedFileUrl).pathname;
    output.replaceChildren(element("a", { href: path, download: "" }, path.split("/").pop()));
    showStatus(say("file-done", { ms: Math.round(performance.now() - state.began) }));
    showWarnings(answer.warnings);
  } catch (error) {
    showError(error, request);
  }
}

async function receive(request) { // the stream of a translation
  const fields = asked();
  if (fields.source === "auto") await detect(fields.text, request.signal);
  const answer = await ask("/stream", { ...fields, prefixes: state.prefixes }, request.signal);
  for await (const [name, data] of eventsOf(answer)) {
    if (request.signal.aborted) return;
    if (name === "partial") show(data.text);
    else if (name === "sentence") {
      state.sentences.push(data);
      show("");
    } else if (name === "end") {
      state.languages = { source: data.source, target: data.target };
      showWarnings(data.warnings);
    }
    else if (name === "error") throw new Error(data.error);
  }
  finish();
}

async function detect(text, signal) {
  const [best] = await (await ask("/detect", { q: text }, signal)).json();
  state.detected = best.confidence >= RECOGNIZED ? best.language : null;
  showDetected();
}

async function showOthers(signal) {
  const answer = await ask("/n-best", { ...asked(), n_best: N_BEST }, signal);
  const translations = (await answer.json()).translations.slice(1);
  at("others").hidden = !translations.length;
  at("others").querySelector("ol").replaceChildren(...translations.map((other) => element("li", {},
    element("span", { dir: "auto" }, other.text),
    element("span", { className: "percent" }, percent(other.probability)))));
}

// ---- The translation ----

function forget() {
  Object.assign(state, { sentences: [], languages: null, detected: null });
  if (!changedDrafts().length) hideCorrection();
  showWarnings([]);
  at("others").hidden = at("legend").hidden = at("copy").hidden = at("edit").hidden = true;
  at("release").hidden = !state.prefixes.length;
  output.replaceChildren();
  at("mirror").replaceChildren();
  showDetected();
}

// Tokens as they are written: bytes of one character together, without the space before a token.
function piecesOf(tokens) { // [{tokens: [number], text}]
  const pieces = [];
  let bytes = [], first = 0;
  const flush = () => {
    if (!bytes.length) return;
    const text = new TextDecoder().decode(new Uint8Array(bytes));
    pieces.push({ tokens: Array.from(bytes, (_, n) => first + n), text });
    bytes = [];
  };
  tokens.forEach(({ id, token }, number) => {
    const byte = /^<0x([0-9A-F]{2})>$/.exec(token);
    if (byte) {
      if (!bytes.length) first = number;
      bytes.push(parseInt(byte[1], 16));
      return;
    }
    flush();
    if (id < FIRST_TOKEN) return;
    const text = token.replaceAll(WORD_START, " ").replace(/^ /, "");
    pieces.push({ tokens: [number], text });
  });
  flush();
  return pieces;
}

function show(partial) { // the finished sentences, and what there is of the next one
  const all = [];
  state.sentences.forEach((sentence, number) => {
    const parts = []; // of the sentence
    let begin = 0; // in the text, which holds more than the network has read and written
    for (const piece of piecesOf(sentence.tokens)) {
      const from = sentence.text.indexOf(piece.text, begin);
      if (from < 0) continue;
      parts.push(sentence.text.slice(begin, from), tokenSpan(number, sentence, piece));
      begin = from + piece.text.length;
    }
    parts.push(sentence.text.slice(begin));
    const shown = element("span", {}, ...parts);
    if (isDoubtful(sentence)) {
      shown.className = "doubtful";
      shown.title = say("doubtful-label", { confidence: Math.round(sentence.confidence) });
    }
    all.push(shown);
    const isLast = number === state.sentences.length - 1 && !partial;
    if (!isLast) all.push(sentence.space || " ");
  });
  if (partial) all.push(element("span", { className: "partial" }, partial));
  output.replaceChildren(...all);
}

function isDoubtful({ confidence }) { // null where the run does not know how sure it is
  return confidence !== null && confidence < DOUBTFUL;
}

function tokenSpan(number, sentence, piece) {
  const token = sentence.tokens[piece.tokens[0]];
  const probability = Math.min(...piece.tokens.map((n) => sentence.tokens[n].probability));
  const span = element("span", { className: "token", tabIndex: -1 }, piece.text);
  const chosen = (state.prefixes[number]?.length ?? 0) - 1 === piece.tokens[0];
  span.classList.toggle("unlikely", probability < UNLIKELY && !chosen);
  span.classList.toggle("unsure", probability >= UNLIKELY && probability < UNSURE && !chosen);
  span.classList.toggle("chosen", chosen);
  span.setAttribute("role", "button");
  span.setAttribute("aria-expanded", "false");
  span.title = say("token-label", { token: piece.text.trim() || "\u2423", percent: percent(token.probability) });
  span.setAttribute("aria-label", span.title);
  Object.assign(span, { sentence: number, tokens: piece.tokens });
  return span;
}

function finish() {
  const tokens = state.sentences.reduce((sum, sentence) => sum + sentence.tokens.length, 0);
  state.done = { tokens, ms: Math.round(performance.now() - state.began) };
  showFinished();
}

function showFinished() { // what is said of a finished translation, and what can be done with it
  const doubtful = state.sentences.filter(isDoubtful).length, done = say("done", state.done);
  showStatus(doubtful ? `${done}. ${say("doubtful", { number: doubtful })}` : done);
  const first = output.querySelector(".token");
  at("legend").hidden = !first;
  at("copy").hidden = !output.textContent;
  at("edit").hidden = Boolean(state.drafts.length) || !correctable().length;
  if (first) first.tabIndex = 0;
}

// ---- Corrections ----

// There is a field per sentence: a run learns from pairs of sentences, and the server says which sentence each
// translation is of. One field for the whole text would leave that to be guessed, and a text of many sentences is longer
// than what a run is trained on. A draft belongs to the translation that was shown, whatever is typed as the source
// meanwhile, and stays until it is saved or given up. Line breaks are stored as they are shown.

function correctable() { // the sentences of a finished translation, where the server stores corrections
  const { source: from, target } = state.languages ?? {};
  if (!settings.suggestions || from === target) return []; // the same for a text that stayed as it was
  return state.sentences.filter((sentence) => sentence.given.trim());
}

function changedDrafts() {
  return state.drafts.filter(({ field, sentence }) => field.value.trim() !== sentence.text.trim());
}

function openCorrection() {
  state.drafts = correctable().map((sentence) => {
    const field = element("textarea", { dir: "auto", rows: 1, lang: state.languages.target, defaultValue: sentence.text });
    return { field, sentence, ...state.languages };
  });
  at("drafts").replaceChildren(...state.drafts.map(({ field, sentence }) =>
    element("label", {}, element("span", { dir: "auto", className: "faint" }, sentence.given), field)));
  at("correction").hidden = false;
  at("edit").hidden = true;
  at("correction-state").textContent = "";
  checkDrafts();
  state.drafts[0].field.focus();
}

function checkDrafts() { // an empty translation, and one that is not changed, cannot be saved
  const changed = changedDrafts();
  at("save").disabled = !changed.length || changed.some(({ field }) => !field.value.trim());
  for (const { field } of state.drafts) fit(field);
}

function hideCorrection() {
  state.drafts = [];
  at("correction").hidden = true;
  at("correction-state").textContent = "";
}

function endCorrection() {
  const isElsewhere = at("from").contains(document.activeElement); // typing the next text
  hideCorrection();
  if (state.languages) showFinished();
  if (!isElsewhere) (at("edit").hidden ? source : at("edit")).focus();
}

function cancelCorrection() {
  if (!changedDrafts().length || confirm(say("discard"))) endCorrection();
}

async function saveCorrection() {
  const fields = at("correction").querySelector("fieldset"), changed = changedDrafts();
  let number = 0, reason = "";
  fields.disabled = true;
  at("correction-state").textContent = say("saving");
  try {
    for (const draft of changed) {
      await store(draft);
      number++;
    }
  } catch (error) {
    reason = wordsOfError(error);
  }
  fields.disabled = false;
  if (state.sentences.some((sentence) => changed.some((draft) => draft.sentence === sentence))) show("");
  if (reason) {
    checkDrafts();
    changed[number].field.focus();
  } else endCorrection();
  const parts = [number && say("saved", { number }), reason && say("not-saved", { reason })];
  at("correction-state").textContent = parts.filter(Boolean).join(" ");
}

async function store({ field, sentence, source: from, target }) { // which is shown as it was corrected, then
  const corrected = field.value.trim();
  const pair = { q: sentence.given, s: corrected, previous: sentence.text, source: from, target };
  await ask("/suggest", pair);
  Object.assign(sentence, { text: corrected, tokens: [], confidence: null });
}

// ---- What else was likely ----

function openChoices(span) {
  closeChoices();
  const { alternatives } = state.sentences[span.sentence].tokens[span.tokens[0]];
  const box = at("choices"), id = state.sentences[span.sentence].tokens[span.tokens[0]].id;
  const likely = alternatives.filter((one, n) => one.id >= FIRST_TOKEN && (n < FEWEST || one.probability >= LEAST));
  const buttons = likely.map((one) => {
    const bar = element("i");
    bar.style.width = percent(one.probability).replace("< ", "");
    const button = element("button", { type: "button", className: one.id === id ? "now" : "" },
      element("span", { dir: "auto" }, tokenLabel(one.token)), bar,
      element("span", { className: "percent" }, percent(one.probability)));
    button.addEventListener("click", () => choose(span, one.id));
    return button;
  });
  box.replaceChildren(element("h2", {}, say("choices")), ...buttons);
  box.setAttribute("aria-label", say("choices"));
  box.hidden = false;
  const card = box.parentElement.getBoundingClientRect(), word = span.getBoundingClientRect();
  const left = Math.min(word.left - card.left, card.width - box.offsetWidth - 16);
  box.style.left = `${Math.max(16, left)}px`;
  box.style.top = `${word.bottom - card.top + 6}px`;
  span.setAttribute("aria-expanded", "true");
  buttons[0]?.focus();
}

function closeChoices(refocus = false) {
  const span = output.querySelector('[aria-expanded="true"]');
  at("choices").hidden = true;
  span?.setAttribute("aria-expanded", "false");
  if (refocus) span?.focus();
}

function choose(span, id) { // the translation of that sentence continues from there
  const before = state.sentences[span.sentence].tokens.slice(0, span.tokens[0]).map((token) => token.id);
  const prefixes = state.sentences.map((_, number) => state.prefixes[number] ?? []);
  prefixes[span.sentence] = [...before, id];
  state.prefixes = prefixes;
  output.tabIndex = -1;
  output.focus();
  translate();
}

// ---- Words and their source ----

// Where the tokens of a sentence stand in the text: [[begin, end]].
function placesOf(number) {
  let begin = 0;
  const places = [];
  for (let sentence = 0; sentence <= number; sentence++) {
    places.length = 0;
    for (const { text } of piecesOf(state.sentences[sentence].source.map((token) => ({ id: FIRST_TOKEN, token })))) {
      const word = text.trim(), found = word ? source.value.indexOf(word, begin) : -1;
      places.push(found < 0 ? [begin, begin] : [found, found + word.length]);
      if (found >= 0) begin = found + word.length;
    }
  }
  return places;
}

function markSource(span) { // behind the text, as dark as the attention of the token to each word
  const { attention, source: tokens } = state.sentences[span.sentence];
  const pieces = piecesOf(tokens.map((token) => ({ id: FIRST_TOKEN, token })));
  const weights = pieces.map((piece) => Math.max(...span.tokens.map((token) =>
    piece.tokens.reduce((sum, number) => sum + attention[token][number], 0))));
  const most = Math.max(...weights, 1e-9), parts = [];
  let end = 0;
  placesOf(span.sentence).forEach(([from, to], n) => {
    if (weights[n] / most < LINKED || from === to) return;
    const mark = element("mark", {}, source.value.slice(from, to));
    mark.style.background = `rgba(var(--mark), ${(0.35 * weights[n] / most).toFixed(2)})`;
    parts.push(source.value.slice(end, from), mark);
    end = to;
  });
  at("mirror").replaceChildren(...parts, source.value.slice(end));
  at("mirror").dir = getComputedStyle(source).direction;
}

function markTarget() { // the tokens that attend most to the word at the cursor
  for (const span of output.querySelectorAll(".linked")) span.classList.remove("linked");
  if (document.activeElement !== source) return;
  const cursor = source.selectionStart;
  state.sentences.forEach((sentence, number) => {
    const places = placesOf(number), word = places.findIndex(([from, to]) => from <= cursor && cursor <= to && from < to);
    if (word < 0) return;
    const pieces = piecesOf(sentence.source.map((token) => ({ id: FIRST_TOKEN, token })));
    const sumOf = (row, piece) => piece.tokens.reduce((sum, n) => sum + row[n], 0);
    for (const span of output.querySelectorAll(".token")) {
      if (span.sentence !== number) continue;
      const sums = pieces.map((piece) => sumOf(sentence.attention[span.tokens[0]], piece));
      span.classList.toggle("linked", sums[word] === Math.max(...sums));
    }
  });
}

// ---- The frame ----

const showStatus = (text) => { at("status").textContent = text; };
const countOf = (text) => ({ number: [...text].length, most: settings.charLimit });

function showCount() {
  at("count").textContent = say("count", countOf(source.value));
  at("clear").hidden = !source.value;
  at("choose-file").hidden = Boolean(source.value);
  at("examples").hidden = Boolean(source.value) || !at("examples").querySelector("li");
  fit(source);
}

function fit(field) { // as high as its text
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
}

const nameOf = (code) => {
  const names = new Intl.DisplayNames(language ? "zh" : "en", { type: "language" });
  try {
    return names.of(code);
  } catch {
    return code;
  }
};

function showWarnings(warnings) {
  state.warnings = warnings;
  at("warnings").hidden = !warnings.length;
  at("warnings").replaceChildren(...warnings.map((one) => element("li", { dir: "auto" }, wordsOf(one))));
}

function wordsOf({ kind, message, items }) { // a warning in the language of the page
  if (!texts[`warning-${kind}`]) return message;
  const isLanguage = kind === "unrecognized" || kind === "unchanged";
  const [number, reason, first] = items;
  const words = { reason: texts[reason] ? say(reason) : reason, number, first };
  const named = isLanguage ? nameOf(number) : items.join(language ? "、" : ", ");
  return say(`warning-${kind}`, { ...words, items: named });
}

function showDetected() {
  const option = at("source-language").querySelector('[value="auto"]');
  if (option) option.textContent = state.detected ? say("detected", { language: nameOf(state.detected) }) : say("detect");
}

function fill(select, codes) {
  const before = select.value;
  select.replaceChildren(...codes.map((code) => new Option(code === "auto" ? say("detect") : nameOf(code), code)));
  if (codes.includes(before)) select.value = before;
  select.disabled = codes.length < 2;
}

function showLanguages() {
  const sources = languages.filter((one) => one.targets.length);
  fill(at("source-language"), [...(sources.length > 1 ? ["auto"] : []), ...sources.map((one) => one.code)]);
  showTargets();
}

function showTargets() {
  const code = at("source-language").value;
  const targets = languages.filter((one) => code === "auto" || one.code === code).flatMap((one) => one.targets);
  fill(at("target-language"), [...new Set(targets)]);
  const target = at("target-language").value;
  at("swap").hidden = !languages.find((one) => one.code === target)?.targets.includes(code);
  showRun();
}

function showRun() {
  const from = at("source-language").value, to = at("target-language").value;
  const run = runs.find((one) => one.languages.some((pair) =>
    (from === "auto" || pair.source === from) && pair.target === to));
  const link = at("explorer");
  link.hidden = !run?.explorer;
  if (run) {
    link.href = `/explorer/${encodeURIComponent(run.name)}`;
    link.title = say("explorer-hint", { run: run.name });
    const list = at("examples").querySelector("ul");
    list.replaceChildren(...run.examples.map((text) => {
      const button = element("button", { type: "button", dir: "auto" }, text);
      button.addEventListener("click", () => setSource(text));
      return element("li", {}, button);
    }));
  }
  showCount();
}

function setSource(text) {
  source.value = text;
  showCount();
  later();
  source.focus();
}

function setLanguage(number) {
  language = number;
  document.documentElement.lang = ["en", "zh"][language];
  document.title = say("title");
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = say(node.dataset.text);
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", say(node.dataset.label));
  for (const node of document.querySelectorAll("[data-hint]")) node.placeholder = say(node.dataset.hint);
  const described = runs.map((run) => say("run", { run: run.name, parameters: run.parameters.toLocaleString("en") }));
  at("about").textContent = say("about", { runs: described.join("; ") });
  showLanguages();
  showDetected();
  showWarnings(state.warnings);
}

function moveFocus(span, event) { // arrow keys, home, end among the tokens
  const tokens = [...output.querySelectorAll(".token")], rightToLeft = getComputedStyle(output).direction === "rtl";
  const forward = rightToLeft ? "ArrowLeft" : "ArrowRight", backward = rightToLeft ? "ArrowRight" : "ArrowLeft";
  const number = tokens.indexOf(span);
  const next = { [forward]: number + 1, [backward]: number - 1, Home: 0, End: tokens.length - 1 }[event.key];
  if (tokens[next] === undefined) return;
  event.preventDefault();
  span.tabIndex = -1;
  tokens[next].tabIndex = 0;
  tokens[next].focus();
}

function moveChoice(event) { // arrow keys within the choices
  const buttons = [...at("choices").querySelectorAll("button")];
  const number = buttons.indexOf(document.activeElement);
  const next = { ArrowDown: number + 1, ArrowUp: number - 1 }[event.key];
  if (buttons[next]) {
    event.preventDefault();
    buttons[next].focus();
  }
}

function drop(event) { // a file, or text from another window
  event.preventDefault();
  at("from").classList.remove("dropping");
  const [file] = event.dataTransfer.files;
  if (file) translateFile(file);
  else setSource(event.dataTransfer.getData("text/plain").slice(0, settings.charLimit));
}

function listen() {
  source.addEventListener("input", () => { showCount(); later(); });
  at("choose-file").addEventListener("click", () => at("file").click());
  at("file").accept = settings.supportedFilesFormat.join();
  at("file").addEventListener("change", () => {
    const [file] = at("file").files;
    at("file").value = ""; // so that the same file may be chosen again
    if (file) translateFile(file);
  });
  at("clear").addEventListener("click", () => setSource(""));
  at("language").addEventListener("click", () => {
    setLanguage(1 - language);
    if (state.languages) { show(""); showFinished(); } // else it is no translation, or comes as it is generated
  });
  at("source-language").addEventListener("change", () => { showTargets(); later(); });
  at("target-language").addEventListener("change", () => { showTargets(); later(); });
  at("release").addEventListener("click", () => { state.prefixes = []; translate(); });
  at("swap").addEventListener("click", () => {
    const [from, to] = [at("source-language").value, at("target-language").value], text = output.textContent;
    at("source-language").value = to;
    showTargets();
    at("target-language").value = from;
    showTargets();
    if (text) setSource(text);
  });
  at("copy").addEventListener("click", async () => {
    await navigator.clipboard.writeText(output.textContent);
    showStatus(say("copied"));
  });
  at("edit").addEventListener("click", openCorrection);
  at("cancel").addEventListener("click", cancelCorrection);
  at("correction").addEventListener("input", checkDrafts);
  at("correction").addEventListener("submit", (event) => { event.preventDefault(); saveCorrection(); });
  at("correction").addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing) cancelCorrection(); // an input method has an Escape of its own
  });
  addEventListener("beforeunload", (event) => { if (changedDrafts().length) event.preventDefault(); });
  const tokenAt = (event) => event.target.closest?.(".token");
  output.addEventListener("click", (event) => { const span = tokenAt(event); if (span) openChoices(span); });
  output.addEventListener("keydown", (event) => {
    const span = tokenAt(event);
    if (!span) return;
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); openChoices(span); }
    else moveFocus(span, event);
  });
  for (const name of ["mouseover", "focusin"]) output.addEventListener(name, (event) => { const span = tokenAt(event); if (span) markSource(span); });
  for (const name of ["mouseout", "focusout"]) output.addEventListener(name, () => at("mirror").replaceChildren());
  document.addEventListener("selectionchange", markTarget);
  at("choices").addEventListener("keydown", moveChoice);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") closeChoices(true); });
  document.addEventListener("click", (event) => { if (!event.target.closest(".token, #choices")) closeChoices(); });
  at("from").addEventListener("dragover", (event) => { event.preventDefault(); at("from").classList.add("dropping"); });
  at("from").addEventListener("dragleave", () => at("from").classList.remove("dropping"));
  at("from").addEventListener("drop", drop);
  addEventListener("resize", () => { showCount(); checkDrafts(); });
}

async function begin() {
  texts = await (await fetch("/texts.json")).json();
  const answers = await Promise.all(["/languages", "/runs", "/frontend/settings"].map((path) => ask(path)));
  [languages, runs, settings] = await Promise.all(answers.map((answer) => answer.json()));
  setLanguage(language);
  listen();
  const linked = new URLSearchParams(location.hash.slice(1)).get("q"); // a link to a translation
  if (linked) setSource(linked);
  else if (source.value) later(); // typed before the page was ready, or kept by the browser
}

begin();
