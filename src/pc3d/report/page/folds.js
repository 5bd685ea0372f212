// A link to a folded section opens it; so does printing, for all of them.

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const fold = target?.closest("details.section");
  if (!fold) return;
  fold.open = true;
  target.scrollIntoView();
}

addEventListener("hashchange", openTarget);
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
});
// The address does not change when the same link is followed twice.
document.querySelector("nav")?.addEventListener("click", () => setTimeout(openTarget));
openTarget();
