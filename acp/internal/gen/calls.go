package main

import (
	"cmp"
	"slices"
	"strings"
)

// callNames replaces the names that the schema's type names do not give well.
var callNames = map[string]string{"session/update": "SessionUpdate"}

// calls pairs the params and results that carry the same method and side.
func calls(types []*goType) []call {
	var out []call
	for _, t := range types {
		if t.side != "agent" && t.side != "client" {
			continue
		}
		name, request := strings.CutSuffix(t.name, "Request")
		name, notification := strings.CutSuffix(name, "Notification")
		if !request && !notification {
			continue
		}
		if better, ok := callNames[t.method]; ok {
			name = better
		}
		c := call{name: name, wire: t.method, side: t.side, params: t.name, unstable: t.unstable}
		if request {
			c.result = resultOf(types, t)
		}
		out = append(out, c)
	}
	return out
}

func resultOf(types []*goType, request *goType) string {
	for _, t := range types {
		if t.method == request.method && t.side == request.side && strings.HasSuffix(t.name, "Response") {
			return t.name
		}
	}
	return ""
}

// methods returns every method once, sorted.
func methods(types []*goType) []method {
	unstable := map[string]bool{}
	for _, t := range types {
		if t.method != "" {
			unstable[t.method] = t.unstable
		}
	}
	var out []method
	for wire := range unstable {
		out = append(out, method{name: "Method" + goName(wire), wire: wire, unstable: unstable[wire]})
	}
	slices.SortFunc(out, func(a, b method) int { return cmp.Compare(a.wire, b.wire) })
	return out
}
