// Package acp speaks the Agent Client Protocol: the JSON-RPC engine and the
// transports under it. It is enough to build an agent, a client, or something
// between the two; the message types are in acp/v1 and acp/v2.
//
// A [Conn] is one side of a connection. It runs over a [MessageConn]: [NewStdio]
// for a process and its pipes, [NewPipe] for two sides in one process. What the
// peer sends goes to a [Handler]; [Conn.Call] and [Conn.Notify] send. Both sides
// are the same kind of thing: a client is a Conn whose handler answers
// permission requests, an agent one whose handler answers prompts.
//
// # Order
//
// ACP relies on the order of messages more than JSON-RPC promises: the updates
// of a turn precede the answer to its prompt, and a cancel written after a
// prompt cancels that prompt. A Conn keeps it, in both directions:
//
//   - Handler methods are called one at a time, in the order of arrival.
//   - An answer to a Call is delivered after every notification that arrived
//     before it has been handled.
//   - What one goroutine sends leaves in the order it was sent, and is on its way
//     when the method returns.
//
// So a handler decides at once what order matters to, and does the rest on a
// goroutine of its own; [Request.Go] is made for that.
//
// # Backpressure
//
// Nothing is queued without bound. A send waits while the peer is slow. What
// arrives faster than the handler takes it is queued up to
// [Options.MaxQueuedBytes]; then reading stops, and in the end the peer waits. A
// burst never costs a message or the connection. A message over the size limit
// is refused by itself.
//
// # Errors of the peer
//
// The engine answers what is wrong before it reaches a handler, and lives on:
// bad JSON (duplicate members and bad UTF-8 count as such), batches, broken
// envelopes, reused ids. It does not answer broken responses and notifications.
package acp
