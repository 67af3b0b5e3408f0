// A connection to a gateway, by the SDK's own transports.
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { HTTP2 } from "./http2.mjs";
import { Watch } from "./watch.mjs";

// Remote is a gateway that is reached as transport says: "ws", "ws-subprotocol"
// (the token where browsers can put it), "http" or "h2".
export class Remote extends Watch {
  constructor(transport, { url, token, judge, report }) {
    super({ judge, report });
    this.transport = transport;
    this.order = transport.startsWith("ws"); // of all messages, or of a session's only
    this.leaving = new AbortController();
    this.base = this.open(url, token);
  }

  open(url, token) {
    const authorization = `Bearer ${token}`;
    switch (this.transport) {
      case "ws":
        return createWebSocketStream(url, { headers: { authorization }, WebSocket: this.socket() });
      case "ws-subprotocol":
        return createWebSocketStream(url, { protocols: ["acp", `bearer.${token}`], WebSocket: this.socket() });
      case "h2":
        this.h2 = new HTTP2(url);
        return createHttpStream(url, { headers: { authorization }, fetch: this.fetcher((input, init) => this.h2.fetch(input, init)) });
      default:
        return createHttpStream(url, { headers: { authorization }, fetch: this.fetcher(fetch) });
    }
  }

  // socket is Node's WebSocket, which takes headers in another place than the
  // SDK puts them, and keeps how it was closed.
  socket() {
    const watch = this;
    return class extends WebSocket {
      constructor(url, protocols, options) {
        super(url, { protocols, ...options });
        watch.gone = new Promise((resolve) => this.addEventListener("close", resolve));
      }
    };
  }

  // fetcher notes answers that no request of the SDK's client should get.
  fetcher(fetch) {
    return async (input, init) => {
      const response = await fetch(input, init);
      const want = { POST: init.headers.has("acp-connection-id") ? 202 : 200, GET: 200, DELETE: 202 }[init.method];
      if (response.status !== want) this.violation(`${init.method} was answered with ${response.status}`, init.body ?? null);
      return response;
    };
  }

  stream() {
    const tap = (see) =>
      new TransformStream({
        transform: (message, controller) => {
          see(message);
          controller.enqueue(message);
        },
      });
    const out = tap((message) => this.sent(message));
    this.sending = out.readable.pipeTo(this.base.writable, { signal: this.leaving.signal }).catch(() => {});
    return { writable: out.writable, readable: this.base.readable.pipeThrough(tap((message) => this.received(message))) };
  }

  // settle resolves when what came before on a session's stream is here: the
  // answer to a request about the session comes after it, on the same stream.
  async settle(ask) {
    if (!this.order) await ask();
  }

  // close ends the connection the way each transport does, and resolves when
  // the gateway knows.
  async close() {
    this.leaving.abort();
    await this.sending;
    this.h2?.close();
    if (!this.gone) return;
    const { code, reason } = await this.gone;
    if (![1000, 1001, 1005].includes(code)) this.violation(`the gateway closed with ${code} ${reason}`, null);
  }

  kill() {
    this.leaving.abort();
    this.h2?.close();
  }
}
