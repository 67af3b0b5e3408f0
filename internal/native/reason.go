package native

// whyUnanswered says why a request for permission got no answer, in words. A
// reason that is not one of the session's own is in words already.
func whyUnanswered(reason string) string {
	switch reason {
	case "expired":
		return "it timed out"
	case "nobody_able":
		return "nobody who could answer is attached"
	case "bad_answer":
		return "the answer was none of those offered"
	case "turn_over":
		return "the turn ended first"
	case "driver_gone", "interrupted":
		return "the agent was ended first"
	case "store_failure":
		return "it could not be recorded"
	case "":
		return "no reason was given"
	}
	return reason
}
