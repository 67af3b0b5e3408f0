package ingest

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// kindOf names the kind of an update; the usual ones cost no allocation. A
// discriminator that is no string has no kind.
func kindOf(v jsontext.Value) session.Kind {
	switch string(v) {
	case `"agent_message_chunk"`:
		return session.KindAgentMessage
	case `"agent_thought_chunk"`:
		return session.KindAgentThought
	case `"user_message_chunk"`:
		return session.KindUserMessage
	case `"tool_call"`:
		return session.KindToolCall
	case `"tool_call_update"`:
		return session.KindToolUpdate
	case `"plan"`:
		return session.KindPlan
	case `"usage_update"`:
		return session.KindUsage
	}
	if v.Kind() != jsontext.KindString {
		return ""
	}
	s, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return session.Kind(s)
}
