// Package streamable is the server's side of ACP over Streamable HTTP. A client
// posts its messages; answers and everything else reach it as server-sent
// events, one stream for the connection and one for each session. It works over
// HTTP/1.1 and HTTP/2.
//
// # Routing
//
// A connection begins with a posted initialize, whose answer is in the body and
// names the connection in Acp-Connection-Id. From then on each request has
// that header, and one about a session has Acp-Session-Id as well, equal to
// params.sessionId. An answer goes to the stream of its session; those of
// session/new and session/load go to the stream of the connection. What the
// agent sends goes to the stream of its params.sessionId, everything else to that
// of the connection. Before session/load is answered, what the session's stream
// was given is flushed, if that stream is open.
//
// # Delivery
//
// What has no stream yet is kept until its stream is opened, up to
// [Options.MaxBuffered]; then the agent's writes wait, and when nobody reads for
// [Options.Stall] the connection ends. A stream that ended may be opened again
// and gets what came meanwhile. What was written to a stream that broke is
// not sent again: a client that cannot have gaps loads or resumes the session.
// A stream that is open and slow holds up only what is for it.
//
// A connection that has neither an open stream nor a request for [Options.Idle]
// ends.
package streamable
