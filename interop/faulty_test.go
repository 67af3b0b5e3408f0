//go:build interop

package interop

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/interop/testbed"
)

// TestClientFindsFaults has the client look at an agent full of faults: what it
// does not find there it would not find in ours.
func TestClientFindsFaults(t *testing.T) {
	t.Parallel()
	bed := testbed.New(t, testbed.Anthropic)
	faulty := filepath.Join(testbed.Root(t), "interop", "client", "faulty.mjs")
	reports := run(t, bed, []scenario{{Name: "text", Agent: []string{nodeBinary(t), faulty}, Cwd: bed.Work, Prompt: "hi"}})
	var found strings.Builder
	for _, v := range reports[0].Violations {
		found.Write(v.What)
		found.WriteByte('\n')
	}
	for _, want := range []string{
		"schema: InitializeResponse/agentCapabilities/loadSession",
		"stdout holds a line that is not JSON",
		"schema: NewSessionResponse/modes/currentModeId",
		"schema: SessionNotification/update/sessionUpdate",
		"parser: SessionNotification/update",
		"schema: SessionNotification/update/used",
		"no such notification: session/no_such_notification",
		"files was not offered",
		"jsonrpc is not 2.0",
		"a response to nothing that was asked",
		"the agent ended with code 3",
	} {
		if !strings.Contains(found.String(), want) {
			t.Errorf("the client does not find %q", want)
		}
	}
	if t.Failed() {
		t.Logf("it finds:\n%s", &found)
	}
}
