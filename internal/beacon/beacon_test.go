package beacon

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
)

func home(t *testing.T) (string, *instance.Instance) {
	t.Helper()
	dir := t.TempDir()
	in, err := instance.Open(run(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	return dir, in
}

func TestFindReturnsWhatALivingGatewayWrote(t *testing.T) {
	dir, in := home(t)
	if _, err := Find(dir); !errors.Is(err, ErrNone) {
		t.Errorf("before: %v", err)
	}
	want := Beacon{
		URL: "http://127.0.0.1:1", ACP: "ws://127.0.0.1:1/acp", Socket: in.Socket(), PID: os.Getpid(),
		Instance: in.ID(), Version: "1", Started: time.Unix(1700000000, 0).UTC(),
	}
	if err := Write(dir, want); err != nil {
		t.Fatal(err)
	}
	got, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(dir); !errors.Is(err, ErrNone) {
		t.Errorf("after its end: %v", err)
	}
}

func TestOneThatDrainsIsOnlyLookedAt(t *testing.T) {
	dir, in := home(t)
	want := Beacon{Instance: in.ID(), Draining: true}
	if err := Write(dir, want); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(dir); !errors.Is(err, ErrNone) {
		t.Errorf("found: %v", err)
	}
	got, err := Look(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRemovePutsItOut(t *testing.T) {
	dir, in := home(t)
	if err := Write(dir, Beacon{Instance: in.ID()}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Remove(dir); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Find(dir); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}

func TestABrokenBeaconIsNone(t *testing.T) {
	dir, in := home(t)
	for name, text := range map[string]string{
		"empty": "", "no JSON": "{", "list": "[]", "no instance": "{}", "path": `{"instance":"../x"}`,
		"huge": `{"instance":"` + in.ID() + `","url":"` + string(make([]byte, maxBytes)) + `"}`,
	} {
		if err := os.WriteFile(filepath.Join(run(dir), fileName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if b, err := Find(dir); !errors.Is(err, ErrNone) {
			t.Errorf("%s: %+v %v", name, b, err)
		}
	}
}

func TestOneGatewayClaimsADirectory(t *testing.T) {
	dir, _ := home(t)
	release, err := Claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Claim(dir); !errors.Is(err, ErrTaken) {
		t.Errorf("second claim: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	again, err := Claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again(); err != nil {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"url":"http://x","pid":1,"instance":"i_x","started":"2026-01-01T00:00:00Z"}`))
	f.Add([]byte(`{"pid":1e9}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := decode(text)
		if err != nil {
			return
		}
		again, err := json.Marshal(b)
		if err != nil {
			return // a time beyond what JSON can say
		}
		if got, err := decode(again); err != nil || !cmp.Equal(b, got) {
			t.Errorf("%+v came back as %+v, %v", b, got, err)
		}
	})
}
