package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/ledger/filelock"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

// write records n calls and returns the directory of the log.
func write(t testing.TB, dir string, n int) *Log {
	t.Helper()
	l := New(Options{Dir: dir})
	for i := range n {
		if err := l.Record(t.Context(), Entry{Event: Call, Tool: "shell", What: fmt.Sprint("command ", i), Verdict: "allow"}); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func verify(t testing.TB, dir string) Report {
	t.Helper()
	r, err := Verify(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func lines(t testing.TB, dir string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(string(data), "\n")
}

func rewrite(t testing.TB, dir string, lines []string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, FileName), []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRecordAndVerify(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	write(t, dir, 3)
	write(t, dir, 2) // another process goes on where the first one was
	if r := verify(t, dir); !r.Intact || r.Lines != 5 || r.First != 1 || r.Last != 5 {
		t.Errorf("%+v", r)
	}
	info, err := os.Stat(filepath.Join(dir, FileName))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if r := verify(t, t.TempDir()); !r.Intact || r.Lines != 0 {
		t.Errorf("no log: %+v", r)
	}
}

func TestTampering(t *testing.T) {
	tests := []struct {
		name   string
		change func(l []string) []string
		line   int
		why    string
	}{
		{"changed", func(l []string) []string { l[2] = strings.Replace(l[2], "command 2", "command 9", 1); return l }, 3, "it was changed"},
		{"hash changed", func(l []string) []string { l[2] = strings.Replace(l[2], `"hash":"`, `"hash":"0`, 1); return l }, 3, "cut short or is no line"},
		{"deleted", func(l []string) []string { return append(l[:2:2], l[3:]...) }, 3, "the line numbered 3 is missing before it"},
		{"swapped", func(l []string) []string { l[1], l[2] = l[2], l[1]; return l }, 2, "the line numbered 2 is missing"},
		{"doubled", func(l []string) []string { return append(l[:3:3], l[2:]...) }, 4, "it is number 3, and 4 was due"},
		{"truncated", func(l []string) []string { l[2] = l[2][:40] + "\n"; return l }, 3, "cut short or is no line"},
		{"emptied", func(l []string) []string { l[2] = "\n"; return l }, 3, "cut short or is no line"},
		{"first deleted", func(l []string) []string { return l[1:] }, 1, "the lines before number 2 are missing"},
		{"last deleted", func(l []string) []string { return l[:4] }, 0, "the line numbered 5 is missing at the end"},
		{"last cut short", func(l []string) []string { l[4] = l[4][:30]; return l }, 5, "cut short or is no line"},
		{"all deleted", func([]string) []string { return nil }, 0, "the lines numbered 1 to 5 are missing at the end"},
		{"a foreign line", func(l []string) []string { l[2] += `{"seq":4}` + "\n"; return l }, 4, "cut short or is no line"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, 5)
			rewrite(t, dir, tt.change(lines(t, dir)))
			r := verify(t, dir)
			if r.Intact || r.Bad == nil || r.Bad.Line != tt.line || !strings.Contains(r.Bad.Why, tt.why) {
				t.Fatalf("%+v, bad %+v, want line %d: %s", r, r.Bad, tt.line, tt.why)
			}
			// Going on hides nothing.
			write(t, dir, 2)
			if r := verify(t, dir); r.Intact {
				t.Errorf("after two more lines: %+v", r)
			}
		})
	}
}

// Someone who makes the whole chain anew from a line on is found by the mark,
// as long as nothing is written after.
func TestRewrittenEnd(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	write(t, dir, 5)
	write(t, other, 5)
	rewrite(t, dir, lines(t, other)) // the times differ
	if r := verify(t, dir); r.Intact || !strings.Contains(r.Bad.Why, "not the line that was written") {
		t.Errorf("%+v", r)
	}
}

func TestTornLineIsRepaired(t *testing.T) {
	for _, left := range []int{1, 30, 200} {
		dir := t.TempDir()
		write(t, dir, 3)
		l := lines(t, dir)
		rewrite(t, dir, append(l[:3:3], l[2][:left])) // of a fourth line that was being written
		write(t, dir, 2)
		r := verify(t, dir)
		if !r.Intact || r.Repaired != 1 || r.Lines != 6 {
			t.Fatalf("%d bytes left: %+v, bad %+v", left, r, r.Bad)
		}
		if got := lines(t, dir); !strings.Contains(got[4], `"event":"repaired"`) || strings.Count(strings.Join(got, ""), "command 2") < 1 {
			t.Errorf("the log is\n%s", strings.Join(got, ""))
		}
	}
}

// A line that was whole but lost its newline is not taken for granted.
func TestLineWithoutNewline(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, 2)
	l := lines(t, dir)
	l[1] = strings.TrimSuffix(l[1], "\n")
	rewrite(t, dir, l[:2])
	if r := verify(t, dir); r.Intact {
		t.Errorf("%+v", r)
	}
}

func TestRotation(t *testing.T) {
	dir := t.TempDir()
	l := New(Options{Dir: dir, MaxBytes: 2000})
	other := New(Options{Dir: dir, MaxBytes: 2000})
	for i := range 40 {
		if err := []*Log{l, other}[i%2].Record(t.Context(), Entry{Event: Call, What: fmt.Sprint("command ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	files, err := Files(dir)
	if err != nil || len(files) < 4 {
		t.Fatalf("%v, %v", files, err)
	}
	if r := verify(t, dir); !r.Intact || r.First != 1 || int(r.Last) != 40+len(files)-1 {
		t.Errorf("%+v, bad %+v", r, r.Bad)
	}
	calls := 0
	err = Read(dir, func(l Line) error {
		if l.Entry.Event == Call {
			if want := fmt.Sprint("command ", calls); l.Entry.What != want {
				t.Errorf("%q where %q is due", l.Entry.What, want)
			}
			calls++
		}
		return nil
	})
	if err != nil || calls != 40 {
		t.Errorf("%d calls, %v", calls, err)
	}
	// The oldest file may be put elsewhere; one in the middle may not.
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	if r := verify(t, dir); !r.Intact || r.First == 1 {
		t.Errorf("without the oldest file: %+v, bad %+v", r, r.Bad)
	}
	if err := os.Remove(files[2]); err != nil {
		t.Fatal(err)
	}
	if r := verify(t, dir); r.Intact || !strings.Contains(r.Bad.Why, "are missing before it") {
		t.Errorf("without one in the middle: %+v", r)
	}
}

func TestRecordConcurrently(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		l := New(Options{Dir: dir, MaxBytes: 4000})
		for range 4 {
			wg.Go(func() {
				for range 10 {
					if err := l.Record(t.Context(), Entry{Event: Result}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	if r := verify(t, dir); !r.Intact || r.Lines < 160 {
		t.Errorf("%+v, bad %+v", r, r.Bad)
	}
}

func TestNothingLongOrSecretIsRecorded(t *testing.T) {
	dir := t.TempDir()
	l := New(Options{Dir: dir, Redact: secret.NewRedactor("SEKRET-value-1", "12345678901")})
	long := strings.Repeat("é", 5000) + "\xff"
	err := l.Record(t.Context(), Entry{Event: Call, What: "curl -H SEKRET-value-1", Reason: long, Rule: "\xff\x00", By: "12345678901"})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(lines(t, dir), "")
	if strings.Contains(text, "SEKRET") || strings.Contains(text, "12345678901") || len(text) > 4000 {
		t.Errorf("%d bytes: %.300s", len(text), text)
	}
	if r := verify(t, dir); !r.Intact {
		t.Errorf("%+v", r.Bad)
	}
}

// A secret of a few digits occurs in numbers, times and hashes too; they stay.
func TestShortSecretsLeaveTheChainAlone(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 5, 4, 3, 2, 1, 123456000, time.UTC)
	l := New(Options{Dir: dir, Now: func() time.Time { return now }, Redact: secret.NewRedactor("000000", "123456", DigestOf(nil)[:6])})
	for range 3 {
		if err := l.Record(t.Context(), Entry{Event: Call, What: "echo 123456", Digest: DigestOf(nil)}); err != nil {
			t.Fatal(err)
		}
	}
	if r := verify(t, dir); !r.Intact || r.Lines != 3 {
		t.Errorf("%+v, bad %+v", r, r.Bad)
	}
	if line := lines(t, dir)[0]; !strings.Contains(line, `"what":"echo [redacted]"`) || !strings.Contains(line, DigestOf(nil)) {
		t.Error(line)
	}
}

func TestNilLog(t *testing.T) {
	var l *Log
	if err := l.Record(t.Context(), Entry{Event: Call}); err != nil {
		t.Error(err)
	}
}

func TestLogThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, FileName), 0o700); err != nil {
		t.Fatal(err)
	}
	err := New(Options{Dir: dir}).Record(t.Context(), Entry{Event: Call})
	if err == nil || !strings.HasPrefix(err.Error(), "the audit log "+dir) {
		t.Errorf("error %v", err)
	}
}

// A stopped process that holds the lock does not hang the others for ever.
func TestLockIsBounded(t *testing.T) {
	dir := t.TempDir()
	held, err := filelock.Open(filepath.Join(dir, lockName))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := filelock.Lock(held, filelock.Exclusive); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	err = New(Options{Dir: dir}).Record(t.Context(), Entry{Event: Call})
	if err == nil || !strings.Contains(err.Error(), "if one was stopped, continue or end it") {
		t.Errorf("error %v", err)
	}
	if took := time.Since(start); took > 3*lockBound {
		t.Errorf("took %s", took)
	}
}

func TestReadStopsWithYield(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, 3)
	enough := errors.New("enough")
	if err := Read(dir, func(Line) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("error %v", err)
	}
}

func FuzzRead(f *testing.F) {
	dir := f.TempDir()
	l := New(Options{Dir: dir, Now: func() time.Time { return time.Unix(1, 0) }})
	for range 3 {
		if err := l.Record(f.Context(), Entry{Event: Call}); err != nil {
			f.Fatal(err)
		}
	}
	good := strings.Join(lines(f, dir), "")
	f.Add([]byte(good))
	f.Add([]byte(good[:len(good)-9]))
	f.Add([]byte(strings.Repeat("x", longestLine+9) + "\n" + good))
	f.Add([]byte("\n\n{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		v := verifier{}
		read := 0
		err := readLines(bytes.NewReader(data), "f", func(l Line) error {
			read++
			return v.line(l)
		})
		if err != nil && !errors.Is(err, errBad) {
			t.Fatal(err)
		}
		if err == nil && v.Lines+v.Repaired != read {
			t.Errorf("%d lines read, %+v", read, v.Report)
		}
		if v.Bad == nil && len(data) > 0 && len(data) < len(good) && !strings.HasPrefix(good, string(data)) {
			t.Errorf("taken for good: %q", data)
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	l := New(Options{Dir: b.TempDir(), Redact: secret.NewRedactor("a-secret-that-is-not-there")})
	e := Entry{
		Event: Call, Owner: "local", Session: "s_bl7llulv6c6bvekiqei4e4pfhu", Turn: "t_bl7llulv6c6bvekiqei4e4pfhu",
		Agent: "main", Tool: "shell", What: "go test ./...", Verdict: "allow", Rule: "auto_approve", By: "policy", Digest: DigestOf(nil),
	}
	for b.Loop() {
		if err := l.Record(b.Context(), e); err != nil {
			b.Fatal(err)
		}
	}
}
