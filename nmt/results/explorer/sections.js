// The sections of the page: folded on a narrow screen, where the menu is at the bottom, in reach of a thumb.

const NARROW = matchMedia("(max-width: 600px)");
const folds = [...document.querySelectorAll("section > details")];

function foldSections() { // all but the first on a narrow screen, none on a wide one
  for (const fold of folds) fold.open = !NARROW.matches;
}

function openSection(place) { // the section that `place` (an element) is in, so that it can be seen
  const fold = place.closest("section")?.querySelector(":scope > details");
  if (fold) fold.open = true;
}

function setMenu(isOpen) {
  at("links").classList.toggle("open", isOpen);
  at("menu").setAttribute("aria-expanded", isOpen);
}

foldSections();
if (at(location.hash.slice(1))) openSection(at(location.hash.slice(1)));
NARROW.addEventListener("change", () => { if (!NARROW.matches) foldSections(); }); // what is read stays open
at("menu").addEventListener("click", () => setMenu(!at("links").matches(".open")));
document.addEventListener("click", (event) => { // before the browser scrolls to the place of a link
  const link = event.target.closest('a[href^="#"]');
  if (link) openSection(at(link.hash.slice(1)));
  if (link || !event.target.closest("nav")) setMenu(false);
});
