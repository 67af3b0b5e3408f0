// Package streamable is the server's side of ACP over Streamable HTTP: requests
// are posted, and answers and everything else come as server-sent events.
package streamable
