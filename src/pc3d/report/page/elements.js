// Small helpers to build the page's elements; texts go in as texts, never as markup.

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// Options are [value, text]; the wanted one is chosen if it is there, else the first.
function fill(select, options, wanted) {
  select.replaceChildren(...options.map(([value, text]) => new Option(text, value, false, value === wanted)));
}
