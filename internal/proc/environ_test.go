package proc

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnviron(t *testing.T) {
	base := []string{
		"PATH=/bin", "HOME=/h", "TERM=xterm", "LANG=C", "LC_ALL=C", "LC_CTYPE=x", "USER=u", "SHELL=/bin/sh", "TMPDIR=/t",
		"SECRET=1", "GOFLAGS=-mod=mod", "GRAPNEL_SHELL=other", "GRAPNEL_TOKEN=t", "OPENAI_API_KEY=k", "ANTHROPIC_API_KEY=k", "=C:=x", "LC=1",
	}
	got := Environ(base, "GOFLAGS", "GRAPNEL_TOKEN", "OPENAI_API_KEY", "ABSENT")
	want := []string{
		"PATH=/bin", "HOME=/h", "TERM=xterm", "LANG=C", "LC_ALL=C", "LC_CTYPE=x", "USER=u", "SHELL=/bin/sh", "TMPDIR=/t",
		"GOFLAGS=-mod=mod", "GRAPNEL_SHELL=acp",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
