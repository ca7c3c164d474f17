// Search without a server: browsers start no worker from a file, so its script runs in a frame of the page.
class FrameWorker extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    this.inner = new Promise((ready) => {
      frame.addEventListener("load", () => {
        const inner = frame.contentWindow;
        inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        const script = inner.document.createElement("script");
        script.src = url;
        script.addEventListener("load", () => ready(inner));
        inner.document.body.append(script);
      }, { once: true });
    });
    document.body.append(frame);
  }

  postMessage(data) {
    this.inner.then((inner) => inner.dispatchEvent(new inner.MessageEvent("message", { data })));
  }
}
if (location.protocol === "file:") window.Worker = FrameWorker;
