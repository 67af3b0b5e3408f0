package audit

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// asWriter makes the test binary a process that appends until it is killed.
const asWriter = "GRAPNEL_TEST_AUDIT_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asWriter); dir != "" {
		writeForEver(dir)
	}
	os.Exit(m.Run())
}

func writeForEver(dir string) {
	l := New(Options{Dir: dir, MaxBytes: 20_000})
	for i := 0; ; i++ {
		err := l.Record(context.Background(), Entry{Event: Call, What: fmt.Sprintf("%d of process %d", i, os.Getpid())})
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		fmt.Println(i)
	}
}

// Several processes append and are killed at any moment: the chain holds, and
// nothing is missing that was told to be recorded.
func TestKilledWriters(t *testing.T) {
	dir := t.TempDir()
	told := map[string]bool{}
	for range 5 {
		var writers []*exec.Cmd
		var outputs []*bufio.Scanner
		for range 3 {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), asWriter+"="+dir)
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			writers, outputs = append(writers, cmd), append(outputs, bufio.NewScanner(out))
		}
		for i, cmd := range writers {
			last := ""
			for n := 0; n < 20 && outputs[i].Scan(); n++ {
				last = outputs[i].Text()
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
			for outputs[i].Scan() {
				last = outputs[i].Text()
			}
			_ = cmd.Wait() // it was killed
			if strings.HasPrefix(last, "failed") || last == "" {
				t.Fatalf("a writer said %q", last)
			}
			told[fmt.Sprintf("%s of process %d", last, cmd.Process.Pid)] = true
		}
	}
	write(t, dir, 1)
	if r := verify(t, dir); !r.Intact || r.Lines < 300 {
		t.Errorf("%+v, bad %+v", r, r.Bad)
	}
	if err := Read(dir, func(l Line) error { delete(told, l.Entry.What); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(told) > 0 {
		t.Errorf("missing: %v", told)
	}
}
