// Small helpers to build the page's elements; texts go in as texts, never as markup.

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// While the pointer is held down on the element: how far it is from the left edge, in pixels of the page.
function onDrag(element, follow) {
  const told = (event) => follow(event.clientX - element.getBoundingClientRect().left);
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    told(event);
  });
  element.addEventListener("pointermove", (event) => {
    if (element.hasPointerCapture(event.pointerId)) told(event);
  });
}

// Options are [value, text]; the wanted one is chosen if it is there, else the first.
function fill(select, options, wanted) {
  select.replaceChildren(...options.map(([value, text]) => new Option(text, value, false, value === wanted)));
}
