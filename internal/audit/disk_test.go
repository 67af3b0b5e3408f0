package audit_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/fieldtest"
)

// On a full disk an entry is recorded whole or refused, and once there is room
// the chain goes on.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	resize, undo, err := fieldtest.SmallDisk(dir, "64k")
	if err != nil {
		if os.Getenv("CI") != "" && os.Getuid() == 0 {
			t.Fatal(err)
		}
		t.Skipf("there is no small disk to be had: %v", err)
	}
	defer undo()
	l := audit.New(audit.Options{Dir: dir})
	recorded := 0
	var full error
	for full == nil && recorded < 1000 {
		if full = l.Record(t.Context(), audit.Entry{Event: audit.Call, What: fmt.Sprint("command ", recorded, strings.Repeat(" x", 100))}); full == nil {
			recorded++
		}
	}
	if full == nil || !strings.Contains(full.Error(), "no space left") || !strings.HasPrefix(full.Error(), "the audit log "+dir) {
		t.Fatalf("%d entries, %v", recorded, full)
	}
	if err := audit.New(audit.Options{Dir: dir}).Record(t.Context(), audit.Entry{Event: audit.Call, What: strings.Repeat("y", 900)}); err == nil {
		t.Error("another process found room")
	}
	if err := resize("1m"); err != nil {
		t.Fatal(err)
	}
	if err := l.Record(t.Context(), audit.Entry{Event: audit.Call}); err != nil {
		t.Fatal(err)
	}
	if r, err := audit.Verify(dir); err != nil || !r.Intact || r.Lines != recorded+1 {
		t.Errorf("%+v, bad %+v, %v; %d were recorded", r, r.Bad, err, recorded+1)
	}
}
