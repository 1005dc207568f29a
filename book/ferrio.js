(() => {
// What mdBook's pages lack for readers who use a keyboard or a screen reader.
document.getElementById('mdbook-menu-bar')?.setAttribute('role', 'banner');
document.getElementById('mdbook-search-wrapper')?.setAttribute('role', 'search');
document.getElementById('mdbook-searchbar')?.setAttribute('aria-label', 'Search this book');
// A real button for the list of chapters, in the place of a label.
const label = document.getElementById('mdbook-sidebar-toggle');
const anchor = document.getElementById('mdbook-sidebar-toggle-anchor');
if (label && anchor) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = label.className;
  button.title = 'List of chapters';
  button.setAttribute('aria-label', button.title);
  button.setAttribute('aria-controls', 'mdbook-sidebar');
  button.innerHTML = label.innerHTML;
  const tell = () => button.setAttribute('aria-expanded', anchor.checked);
  button.addEventListener('click', () => anchor.click());
  anchor.addEventListener('change', tell);
  tell();
  label.before(button);
  label.hidden = true;
}
// What is wider than the page scrolls within itself, by keyboard too.
for (const wide of document.querySelectorAll('main pre > code, main .table-wrapper, main p:has(img)')) wide.tabIndex = 0;
})();
