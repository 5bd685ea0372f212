// Pages opened from a folder may start no worker, and the search runs in one: there, a hidden frame does its work.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = inside.document.createElement("script");
      this.ready = new Promise((resolve) => script.addEventListener("load", resolve));
      script.src = address;
      inside.document.body.append(script);
    }

    async postMessage(data) {
      await this.ready; // what comes before the script has no listener yet
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
