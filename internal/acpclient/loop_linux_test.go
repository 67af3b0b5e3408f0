package acpclient

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// seat is a person at a terminal with the client and the fake agent.
type seat struct {
	t      *testing.T
	bench  *bench
	person *os.File
	seen   buffer
	ended  chan error
	from   int // of what has been seen before
}

func newSeat(t *testing.T, how string) *seat {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there is no terminal to be had: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &seat{t: t, bench: newBench(t, how), person: person, ended: make(chan error, 1)}
	s.bench.opts.Terminal, s.bench.opts.Stdout, s.bench.opts.Stderr = program, program, program
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := person.Read(buf)
			_, _ = s.seen.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	go func() { s.ended <- Run(t.Context(), s.bench.opts) }()
	t.Cleanup(func() {
		_ = program.Close()
		_, _ = person.Write([]byte{'\n'}) // a read that was left behind
		_ = person.Close()
		<-read
	})
	return s
}

// press sends keys as a terminal does.
func (s *seat) press(keys string) {
	s.t.Helper()
	if _, err := s.person.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// see waits for a text behind what was seen before.
func (s *seat) see(text string) {
	s.t.Helper()
	there := func() bool { return strings.Contains(s.seen.String()[s.from:], text) }
	for deadline := time.Now().Add(30 * time.Second); !there(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("the terminal never shows %q: %q", text, s.seen.String())
		}
	}
	all := s.seen.String()
	s.from += strings.Index(all[s.from:], text) + len(text)
}

// end waits for the end of the client.
func (s *seat) end() error {
	s.t.Helper()
	return <-s.ended
}

func TestPermissionAtATerminal(t *testing.T) {
	s := newSeat(t, "ok")
	s.see(":help lists commands")
	for _, c := range []struct{ key, outcome string }{
		{"y", `"optionId":"x1"`},
		{"2", `"optionId":"x2"`},
		{"n", `"optionId":"nope-7"`},
		{"\x1b", `"optionId":"nope-7"`},
		{"9zq\x1b[A3", `"optionId":"nope-7"`}, // keys that mean nothing
	} {
		s.press(`permit "title":"touch\u001b]0;x\u0007 \u202efile","rawInput":{"command":"touch x"}}` + "\r")
		s.see("Allow this? touch file")
		s.see(`input: {"command":"touch x"}`)
		s.see("1 or y: Sure (allow once)")
		s.see("press a key: ")
		for _, key := range strings.SplitAfter(c.key, "") {
			s.press(key)
		}
		s.see(c.outcome)
	}
	if strings.Contains(s.seen.String(), "\x1b]") || strings.ContainsRune(s.seen.String(), '\u202e') {
		t.Errorf("the agent reaches the terminal: %q", s.seen.String())
	}
	s.press("\x04")
	if err := s.end(); err != nil {
		t.Error(err)
	}
}

// Keys from before a question do not answer it; they are there afterwards.
func TestKeysTypedAheadAnswerNothing(t *testing.T) {
	s := newSeat(t, "ok")
	s.see(":help lists commands")
	s.press(`later "title":"x"}` + "\ryes")
	s.see("press a key: ")
	s.press("n")
	s.see(`"optionId":"nope-7"`)
	s.see("> yes")
	s.press("\x15\x04")
	if err := s.end(); err != nil {
		t.Error(err)
	}
}

func TestWithdrawnQuestion(t *testing.T) {
	s := newSeat(t, "ok")
	s.see(":help lists commands")
	s.press(`withdraw "title":"x"}` + "\r")
	s.see("press a key: ")
	from := s.from
	s.see("the question was withdrawn: x")
	s.from = from // the agent may have been faster
	s.see("error: ")
	s.press("say next\r")
	s.see("next")
	s.press(":quit\r")
	if err := s.end(); err != nil {
		t.Error(err)
	}
}

func TestForm(t *testing.T) {
	s := newSeat(t, "ok")
	s.see(":help lists commands")
	form := `form {"type":"object","required":["n"],"properties":{"name":{"type":"string","title":"Your name","default":"Ada"},` +
		`"n":{"type":"integer"},"color":{"type":"string","enum":["red","blue"]},"ok":{"type":"boolean"}}}` + "\r"
	s.press(form)
	s.see("Tell me")
	s.see("Your name [Ada]: ")
	s.press("\r")
	s.see("n: ")
	s.press("\r")
	s.see("n is needed")
	s.press("x\r")
	s.see("that is no whole number")
	s.press("42\r")
	s.see("color (red, blue): ")
	s.press("green\r")
	s.see("choose one of red, blue")
	s.press("blue\r")
	s.see("ok (true, false): ")
	s.press("\r")
	s.see(`"action":"accept"`)
	s.press(form)
	s.see("Your name [Ada]: ")
	s.press("\x1b")
	s.see(`"action":"decline"`)
	s.press("\x04")
	if err := s.end(); err != nil {
		t.Error(err)
	}
}

func TestAgentEndsUnderThePerson(t *testing.T) {
	s := newSeat(t, "ok")
	s.see(":help lists commands")
	s.press("die\r")
	s.see("partial")
	if err := s.end(); !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "exited with code 3: boom: no quota") {
		t.Error(err)
	}
}

func TestLoginAtATerminal(t *testing.T) {
	s := newSeat(t, "auth")
	s.see("the agent wants a login:")
	s.see(":login browser   Log in by browser")
	s.press(":login browser\r")
	s.see("logged in")
	s.see("log in first") // this agent never is content
	s.press("\x03")
	s.see("Ctrl+C again or Ctrl+D quits")
	s.press("\x03")
	if err := s.end(); !errors.Is(err, ErrInterrupted) {
		t.Error(err)
	}
}

// TestX4LateUpdates shows what comes while a line is being typed above that line.
func TestX4LateUpdates(t *testing.T) {
	s := newSeat(t, "ok")
	s.see(":help lists commands")
	s.press("after\r")
	s.see("(empty reply)")
	s.press("typing")
	s.see("one two three\r\n> typing")
	s.see("four five\r\n> typing")
	s.press("\x15\x04")
	if err := s.end(); err != nil {
		t.Error(err)
	}
}
