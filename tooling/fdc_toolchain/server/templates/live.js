// Keeps a page as it is on the server: when that says that something has changed, the parts marked `data-live` are
// fetched again. A part in which somebody is writing, and what somebody has opened, stays as it is. The page has the
// stamp of the state that it shows: a change before the stream began is seen, too.
"use strict";
(() => {
  const live = document.getElementById("live");
  let busy = false;
  let again = false;
  let shown = document.body.dataset.stamp;
  const key = (one) => one.id || (one.querySelector("summary") || one).textContent;
  const written = (part) => part.contains(document.activeElement) && document.activeElement.tagName !== "BODY" ||
    [...part.querySelectorAll("textarea")].some((one) => one.value !== "");

  function put(part, fresh) {
    if (written(part) && fresh.querySelector("textarea") || part.isEqualNode(fresh)) return;
    const open = new Map([...part.querySelectorAll("details")].map((one) => [key(one), one.open]));
    for (const one of fresh.querySelectorAll("details")) if (open.has(key(one))) one.open = open.get(key(one));
    part.replaceWith(document.adoptNode(fresh));
  }

  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    const began = performance.now();
    let pause = 400;
    try {
      const reply = await fetch(location.pathname, { headers: { "X-FDC": "live" } });
      if (reply.ok) {
        const page = new DOMParser().parseFromString(await reply.text(), "text/html");
        for (const part of document.querySelectorAll("[data-live]")) {
          const fresh = page.querySelector(`[data-live="${part.dataset.live}"]`);
          if (fresh) put(part, fresh);
        }
        document.title = page.title;
        shown = page.body.dataset.stamp;
      } else if (reply.status === 409) { again = true; pause = 2000; } // the journal was busy
    } catch { /* the stream tells when the server is gone */ }
    setTimeout(() => { busy = false; if (again) { again = false; refresh(); } },
      Math.max(pause, 4 * (performance.now() - began)));
  }

  const events = new EventSource("/events");
  events.onmessage = (event) => { live.textContent = "live"; if (event.data !== shown) refresh(); };
  events.onerror = () => { live.textContent = "not connected"; };
})();
