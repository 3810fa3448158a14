// What htmx does not do by itself: pause when hidden, say when the connection is lost, keep ages
// true, and poll a load only while its stream is away. Nothing here is needed to read a page.
"use strict";
(() => {
  const banner = () => document.getElementById("connection");
  const live = () => document.getElementById("live");
  let streaming = false;

  const lost = (reason) => {
    const element = banner();
    if (!element) return;
    element.querySelector("[data-reason]").textContent = reason;
    element.hidden = false;
    document.body.classList.add("is-lost");
  };

  const restored = () => {
    if (banner()) banner().hidden = true;
    document.body.classList.remove("is-lost");
  };

  const polls = (context) => ["every", "refresh"].includes(context.sourceEvent?.type);

  // Polling stops while the page is hidden, while a load's stream is open, and after its end.
  document.addEventListener("htmx:config:request", (event) => {
    const context = event.detail.ctx;
    if (!polls(context)) return;
    const followed = context.sourceElement.hasAttribute("data-stream-page")
      && (streaming || document.querySelector("#load-panel[data-ended]"));
    if (document.hidden || followed) event.preventDefault();
  });

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && live() && window.htmx) window.htmx.trigger(live(), "refresh");
  });

  document.addEventListener("htmx:after:request", (event) => {
    const { status } = event.detail.ctx.response;
    if (status < 400) restored();
    else if (status >= 500) lost("The manager cannot be reached.");
    else lost(`The console answered ${status}.`);
  });
  document.addEventListener("htmx:error", (event) => {
    if (event.detail.ctx && polls(event.detail.ctx)) lost("The console does not answer.");
  });

  document.addEventListener("htmx:sse:after:connection", () => { streaming = true; });
  document.addEventListener("htmx:sse:after:message", (event) => {
    if (!event.detail.message.event) restored();
  });
  for (const name of ["htmx:sse:error", "htmx:sse:close", "interrupted"]) {
    document.addEventListener(name, () => { streaming = false; });
  }

  // Ages are recomputed here, so that a page that is not refreshed does not look fresh.
  const unit = (seconds) => {
    if (seconds < 60) return `${Math.round(seconds)} s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
    if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
    return `${Math.floor(seconds / 86400)} days`;
  };
  const tell = (element) => {
    const seconds = (Date.now() - skew - Date.parse(element.dateTime)) / 1000;
    const text = seconds < 2 ? "just now" : `${unit(seconds)} ago`;
    if (element.textContent !== text) element.textContent = text;
  };
  // The browser's clock may be wrong: ages count from the page's own time of reading.
  const first = document.querySelector(".read time");
  const skew = first ? Date.now() - Date.parse(first.dateTime) : 0;
  window.setInterval(() => {
    if (!document.hidden) document.querySelectorAll("time[data-age]").forEach(tell);
  }, 1000);
})();
