package main

import "fmt"

// metric is a value that a benchmark reports.
type metric struct{ bench, unit string }

// target is a line of the page.
type target struct {
	what  string
	value metric
	over  metric  // if set, what the value is divided by
	limit float64 // the value is to be at most this; 0 means no target
	unit  string  // for people; "×" stands before the number
}

// targets are what the project promises, in the order of the page.
var targets = []target{
	{what: "`grapnel acp`, from spawn to its answer to initialize, against a program that links the same and does nothing", value: metric{"ColdStart", "x-base"}, limit: 1.6, unit: "×"},
	{what: "the same, in time", value: metric{"ColdStart", "ms-p50"}, limit: 8, unit: "ms"},
	{what: "decode an agent_message_chunk", value: metric{"DecodeChunk", "ns-p50"}, limit: 2500, unit: "ns"},
	{what: "its allocations", value: metric{"DecodeChunk", "allocs"}, limit: 12},
	{what: "encode an agent_message_chunk", value: metric{"EncodeChunk", "ns-p50"}, unit: "ns"},
	{what: "request and answer through the engine on both sides of a pipe, against the same bytes bare", value: metric{"Echo", "x-base"}, unit: "×"},
	{what: "text turn, beyond the model's own time", value: metric{"TextTurn", "ms-over"}, limit: 1, unit: "ms"},
	{what: "each read tool of a turn, beyond that", value: metric{"ToolTurn", "ms-over/tool"}, limit: 1.5, unit: "ms"},
	{what: "each chunk of a long answer, beyond the model's own time", value: metric{"Stream", "us-over/chunk"}, unit: "µs"},
	{what: "start and end of a command in custody, beyond the same without", value: metric{"Spawn", "ms-over"}, unit: "ms"},
	{what: "the same confined by bubblewrap, beyond the same command in custody alone", value: metric{"Confined/bubblewrap", "ms-over"}, limit: 6, unit: "ms"},
	{what: "confined by Landlock", value: metric{"Confined/landlock", "ms-over"}, limit: 6, unit: "ms"},
	{what: "end of a tree of 50 processes", value: metric{"KillTree/custody", "ms-p50"}, limit: 50, unit: "ms"},
	{what: "the same, against one signal to their process group", value: metric{"KillTree/custody", "x-base"}, unit: "×"},
	{what: "end of such a tree by its guard alone", value: metric{"KillTree/guard", "ms-p50"}, limit: 50, unit: "ms"},
	{what: "call of an MCP server's tool, beyond a bare client of the SDK", value: metric{"MCPCall", "ms-over"}, limit: 0.3, unit: "ms"},
	{what: "judge a command, its paths looked up on disk", value: metric{"PolicyCommand", "us-p50"}, limit: 20, unit: "µs"},
	{what: "judge a call on a file", value: metric{"PolicyPath", "us-p50"}, limit: 20, unit: "µs"},
	{what: "append an event to a new session, against a bare SQLite commit", value: metric{"Append/after=1", "x-base"}, limit: 2, unit: "×"},
	{what: "after 10,000 events", value: metric{"Append/after=10000", "x-base"}, limit: 2, unit: "×"},
	{what: "after 100,000 events", value: metric{"Append/after=100000", "x-base"}, limit: 2, unit: "×"},
	{what: "session/load of 10,000 updates, delivered", value: metric{"Load/updates=10000", "ms-p50"}, limit: 50, unit: "ms"},
	{what: "each of 100,000 updates, against each of 10,000", value: metric{"Load/updates=100000", "us/update"}, over: metric{"Load/updates=10000", "us/update"}, limit: 1.3, unit: "×"},
	{what: "memory when idle, against a program that links the same", value: metric{"Memory", "x-base"}, limit: 1.6, unit: "×"},
	{what: "memory when idle", value: metric{"Memory", "idle-MiB"}, unit: "MiB"},
	{what: "memory after a turn with a tool", value: metric{"Memory", "turn-MiB"}, unit: "MiB"},
	{what: "memory after loading 100,000 updates", value: metric{"Memory", "loaded-MiB"}, unit: "MiB"},
	{what: "round trip that the bridge adds to a WebSocket's, p50", value: metric{"Bridge", "added-us-p50"}, limit: 40, unit: "µs"},
	{what: "round trip through the bridge against the WebSocket alone, p50", value: metric{"Bridge", "x-base"}, limit: 2.2, unit: "×"},
	{what: "the same, p99", value: metric{"Bridge", "x-base-p99"}, limit: 4, unit: "×"},
	{what: "start of the bridge to the first answer through it", value: metric{"BridgeStart", "ms-p50"}, limit: 6, unit: "ms"},
	{what: "connect to a gateway and initialize", value: metric{"GatewayConnect", "ms-p50"}, unit: "ms"},
	{what: "updates of 200 bytes from a driver through the ledger to a WebSocket client, a second of one core", value: metric{"GatewayUpdates", "updates/s/core"}, unit: "updates"},
	{what: "their processor time, the client's included, against a bare pump that writes each as it comes", value: metric{"GatewayUpdates", "x-base"}, limit: 3, unit: "×"},
	{what: "allocations of each, beyond the pump's", value: metric{"GatewayUpdates", "allocs/update"}, limit: 2},
	{what: "session/load of 10,000 updates over a WebSocket, delivered", value: metric{"GatewayLoad", "ms-p50"}, limit: 50, unit: "ms"},
	{what: "memory of an idle gateway, against a program that links the same", value: metric{"GatewayMemory", "x-base"}, limit: 1.6, unit: "×"},
	{what: "memory for each client that follows a session", value: metric{"GatewayMemory", "KiB/client"}, limit: 40, unit: "KiB"},
	{what: "memory for each parked session", value: metric{"GatewayMemory", "KiB/parked"}, limit: 2, unit: "KiB"},
	{what: "1,000 sessions that stream 20 updates a second each: latency of an update, p99, the model's and the clients' included", value: metric{"GatewayCrowd", "ms-p99"}, limit: 50, unit: "ms"},
	{what: "most memory of the gateway meanwhile", value: metric{"GatewayCrowd", "peak-MiB"}, limit: 400, unit: "MiB"},
	{what: "its processor time for each update", value: metric{"GatewayCrowd", "cpu-us/update"}, unit: "µs"},
}

// measured is the value of a target; false when its benchmark did not run.
func (t target) measured(r *results) (float64, bool) {
	v, ok := r.median(t.value.bench, t.value.unit)
	if !ok || t.over == (metric{}) {
		return v, ok
	}
	over, ok := r.median(t.over.bench, t.over.unit)
	return v / over, ok && over != 0
}

// show writes a value the way people read it.
func (t target) show(v float64) string {
	number := fmt.Sprintf("%.2f", v)
	switch {
	case v >= 100 || v == float64(int(v)):
		number = fmt.Sprintf("%.0f", v)
	case v >= 10:
		number = fmt.Sprintf("%.1f", v)
	}
	switch t.unit {
	case "":
		return number
	case "×":
		return "× " + number
	}
	return number + " " + t.unit
}

// verdict says whether a value meets the target.
func (t target) verdict(v float64) string {
	switch {
	case t.limit == 0:
		return ""
	case v <= t.limit:
		return "yes"
	}
	return "**no**"
}
