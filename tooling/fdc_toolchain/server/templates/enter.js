"use strict";
// Exchanges the code when a person sees the page, and not when a browser loads it in advance.
const go = () => document.forms[0].submit();
if (document.prerendering) document.addEventListener("prerenderingchange", go, { once: true });
else go();
