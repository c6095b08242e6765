// Keeps a page as it is on the server: when that says that something has changed, the parts marked `data-live` are
// fetched again. A part in which somebody is writing, and what somebody has opened, stays as it is.
"use strict";
(() => {
  const live = document.getElementById("live");
  let busy = false;
  let again = false;
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
    try {
      const reply = await fetch(location.pathname, { headers: { "X-FDC": "live" } });
      if (reply.ok) {
        const page = new DOMParser().parseFromString(await reply.text(), "text/html");
        for (const part of document.querySelectorAll("[data-live]")) {
          const fresh = page.querySelector(`[data-live="${part.dataset.live}"]`);
          if (fresh) put(part, fresh);
        }
        document.title = page.title;
      }
    } catch { /* the stream tells when the server is gone */ }
    setTimeout(() => { busy = false; if (again) { again = false; refresh(); } },
      Math.max(400, 4 * (performance.now() - began)));
  }

  const events = new EventSource("/events");
  let first = true;
  events.onmessage = () => { live.textContent = "live"; if (!first) refresh(); first = false; };
  events.onerror = () => { live.textContent = "not connected"; first = false; };
})();
