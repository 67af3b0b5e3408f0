package v2

import "github.com/grapnel-ai/grapnel/acp"

// Handler returns the agent as the handler of a connection.
func (h *Agent) Handler() acp.Handler {
	return acp.HandlerFuncs{Request: h.handleRequest, Notification: h.handleNotification}
}

// Handler returns the client as the handler of a connection.
func (h *Client) Handler() acp.Handler {
	return acp.HandlerFuncs{Request: h.handleRequest, Notification: h.handleNotification}
}
