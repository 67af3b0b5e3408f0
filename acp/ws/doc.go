// Package ws carries ACP over WebSocket (RFC 6455), as acp.MessageConn: the
// server's side with [Accept], the client's with [Dial].
//
// One JSON-RPC message is one text frame. Text is taken in, and so is binary
// that is UTF-8. There is no compression: offers are declined, and a frame that
// is compressed all the same breaks the protocol.
//
// # Liveness
//
// Both sides ping. A peer from which nothing comes, not even the answer to a
// ping, is gone after at most two intervals; one that is silent but answers
// is alive. While a write waits for the peer, that is judged by the stall time: a
// peer that reads nothing for so long is given up, one that reads slowly is not.
//
// # Close codes
//
// 1000 and 1001 are clean ends. A peer that breaks the protocol is closed with
// 1002, one that sends text that is not UTF-8 with 1007, a message over the limit
// with 1009. The end of a peer that does not read is 1008 on this side; it cannot
// be told, and sees the connection break. Hosts close with what they mean by
// [Conn.CloseWith]: 1001 when a server shuts down, 1011 after an internal error.
package ws
