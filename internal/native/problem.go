package native

import "context"

// tellOfProblem tells people that the configuration was broken while the session
// was open, once each time; what was read before stays in force.
func (t *turn) tellOfProblem(ctx context.Context) error {
	if t.agent.Problem == nil {
		return nil
	}
	err := t.agent.Problem()
	if err == nil {
		t.problem = ""
		return nil
	}
	text := err.Error()
	if text == t.problem {
		return nil
	}
	t.problem = text
	return t.sink.Emit(ctx, notice(t.id, "warning", "The configuration was changed and cannot be used; what it said before stays in force", text))
}
