// Browsers start no Worker from file://. There, the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.ready = new Promise((resolve) => {
        document.addEventListener("DOMContentLoaded", resolve);
        if (document.readyState !== "loading") resolve();
      }).then(() => this.load(script));
    }

    load(script) {
      document.body.append(this.frame);
      const scope = this.frame.contentWindow;
      scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const element = scope.document.createElement("script");
      element.src = script;
      return new Promise((resolve, reject) => {
        element.onload = resolve;
        element.onerror = reject;
        scope.document.head.append(element);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
