package hub

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxServers bounds the MCP servers that an active session keeps of all the
// lists its clients pass; the oldest make room.
const maxServers = 64

// take notes the servers a client passes when it joins the active session: its
// agent is to be started again with them. Those of others stay, since they are
// still attached or may come back; of two with one name the newer one holds. The
// gate is held.
func (e *entry) take(passed []jsontext.Value) {
	if fresh, changed := joined(e.servers, passed); changed {
		e.servers = fresh
		e.renew.Store(true)
	}
}

// joined is a new list of the passed servers and of the old ones that have other
// names; false when that is nothing new.
func joined(old, passed []jsontext.Value) (list []jsontext.Value, changed bool) {
	before := make(map[string]jsontext.Value, len(old))
	for _, s := range slices.Backward(old) { // of two with one name the first is used
		before[nameOf(s)] = s
	}
	taken := make(map[string]bool, len(passed))
	for _, s := range passed {
		name := nameOf(s)
		changed = changed || !taken[name] && !alike(before[name], s)
		taken[name] = true
		list = append(list, s)
	}
	for _, s := range old {
		if !taken[nameOf(s)] && len(list) < maxServers {
			list = append(list, s)
		}
	}
	return list, changed
}

// nameOf is the name of a server (ACP McpServer); what has none is known by all
// of it.
func nameOf(server jsontext.Value) string {
	var s struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(server, &s, jsontext.AllowDuplicateNames(true)) != nil || s.Name == "" {
		return string(server)
	}
	return s.Name
}

// alike reports whether two values differ in no more than their writing.
func alike(a, b jsontext.Value) bool {
	a, b = a.Clone(), b.Clone()
	if a.Canonicalize(jsontext.AllowDuplicateNames(true)) != nil || b.Canonicalize(jsontext.AllowDuplicateNames(true)) != nil {
		return false
	}
	return bytes.Equal(a, b)
}
