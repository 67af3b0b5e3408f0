// Package v2 has the messages of version 2 of the Agent Client Protocol, a
// draft, and typed handlers and callers over an [acp.Conn].
//
// It follows the rules of package v1. Every enum and union of version 2 is
// open, and in the updates that patch what is known (tool calls, messages,
// terminals) absent, null and a value differ: their fields are [acp.Opt].
package v2
