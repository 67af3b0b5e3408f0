// Package doctor looks for what keeps Grapnel from working on this machine. Each
// check takes the values it needs and returns what it found, with what to do
// about it; it repairs nothing, and shows no secret.
package doctor

import "fmt"

// Status says how bad a finding is.
type Status string

// The statuses.
const (
	OK   Status = "ok"
	Warn Status = "warn" // works, but not as it should
	Fail Status = "fail" // something does not work
	Skip Status = "skip" // not looked at
)

// Finding is what a check found.
type Finding struct {
	Check   string `json:"check"` // "config", "store", …
	Status  Status `json:"status"`
	Message string `json:"message"`      // one sentence
	Fix     string `json:"fix,omitzero"` // what to do; empty when nothing is
}

// Failed reports whether a finding among them says that something does not work.
func Failed(findings []Finding) bool {
	for _, f := range findings {
		if f.Status == Fail {
			return true
		}
	}
	return false
}

func ok(check, format string, args ...any) Finding {
	return Finding{Check: check, Status: OK, Message: fmt.Sprintf(format, args...)}
}

func warn(check, fix, format string, args ...any) Finding {
	return Finding{Check: check, Status: Warn, Message: fmt.Sprintf(format, args...), Fix: fix}
}

func fail(check, fix, format string, args ...any) Finding {
	return Finding{Check: check, Status: Fail, Message: fmt.Sprintf(format, args...), Fix: fix}
}

// Skipped is the finding of a check that could not be made.
func Skipped(check, why string) Finding {
	return Finding{Check: check, Status: Skip, Message: why}
}
