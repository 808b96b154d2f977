// What a page says: texts.json has each text in English and Chinese.

const at = (id) => document.getElementById(id);
const read = (id) => JSON.parse(at(id).textContent);
const texts = read("texts");
let language = navigator.language.startsWith("zh") ? 1 : 0; // a column of texts

function say(name, filled = {}) {
  return texts[name][language].replace(/\{(\w+)\}/g, (_, key) => filled[key] ?? "");
}

function speak(number) { // changes the language: the column of texts
  language = number;
  document.documentElement.lang = ["en", "zh"][language];
  for (const one of document.querySelectorAll("[data-text]")) one.textContent = say(one.dataset.text);
  for (const one of document.querySelectorAll("[data-label]")) one.setAttribute("aria-label", say(one.dataset.label));
}
