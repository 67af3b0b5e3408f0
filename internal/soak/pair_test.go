package soak

import "encoding/json"

// message is one of a conversation as the model gets it.
type message struct {
	Role      string `json:"role"`
	Answers   string `json:"tool_call_id"`
	ToolCalls []struct {
		ID string `json:"id"`
	} `json:"tool_calls"`
}

// paired checks the newest conversation sent to the model: every tool call is
// followed by its one result, and no result comes without its call.
func (r *run) paired() {
	r.t.Helper()
	requests := r.Model.Requests()
	var body struct {
		Messages []message `json:"messages"`
	}
	if err := json.Unmarshal(requests[len(requests)-1].Body, &body); err != nil {
		r.t.Fatal(err)
	}
	waiting := make(map[string]bool)
	for i, m := range body.Messages {
		if m.Role != "tool" && len(waiting) > 0 {
			r.t.Errorf("message %d of %d comes before the results of %v", i, len(body.Messages), waiting)
			return
		}
		if m.Role == "tool" && !waiting[m.Answers] {
			r.t.Errorf("message %d of %d is a result of no open call: %s", i, len(body.Messages), m.Answers)
		}
		delete(waiting, m.Answers)
		for _, call := range m.ToolCalls {
			waiting[call.ID] = true
		}
	}
	if len(waiting) > 0 {
		r.t.Errorf("calls without a result: %v", waiting)
	}
}
