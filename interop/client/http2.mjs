// fetch over HTTP/2, as far as the SDK's client needs it: Node's own fetch
// speaks HTTP/1.1.
import { connect, constants } from "node:http2";
import { Readable } from "node:stream";

const { HTTP2_HEADER_METHOD, HTTP2_HEADER_PATH, HTTP2_HEADER_STATUS, NGHTTP2_CANCEL } = constants;

// HTTP2 is one connection; every request is a stream of it. The certificate is
// checked as Node does, with NODE_EXTRA_CA_CERTS.
export class HTTP2 {
  constructor(url) {
    this.session = connect(new URL(url).origin);
    this.session.on("error", () => {}); // requests fail with it
  }

  fetch(input, { method, headers, body, signal }) {
    const url = new URL(input);
    const stream = this.session.request({
      [HTTP2_HEADER_METHOD]: method,
      [HTTP2_HEADER_PATH]: url.pathname + url.search,
      ...Object.fromEntries(headers),
    });
    const abort = () => stream.close(NGHTTP2_CANCEL);
    signal?.addEventListener("abort", abort, { once: true });
    stream.on("close", () => signal?.removeEventListener("abort", abort));
    return new Promise((resolve, reject) => {
      stream.on("error", reject);
      stream.on("response", (fields) => resolve(respond(stream, fields)));
      stream.end(body);
    });
  }

  close() {
    this.session.close();
  }
}

function respond(stream, fields) {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    if (!name.startsWith(":")) headers.set(name, String(value));
  }
  return new Response(Readable.toWeb(stream), { status: fields[HTTP2_HEADER_STATUS], headers });
}
