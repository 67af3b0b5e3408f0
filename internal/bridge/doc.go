// Package bridge carries ACP between a client on pipes and a gateway over
// WebSocket, for editors that can only run a command. Bytes pass as they are,
// but for what its options say. When the connection is lost it is made again,
// every session goes on after the last update the client has, and what was asked
// stays asked: nothing is lost and nothing is shown twice.
//
// Two goroutines carry the messages, one each way. A third one, in link.go,
// makes the connection when something is there to send, introduces the client,
// resumes its sessions, sends what waits, and then watches the connection.
package bridge
