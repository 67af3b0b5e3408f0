package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal returns the two ends of a terminal: what a person has, and what
// a program gets.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there is no terminal to be had: %v", err)
	}
	t.Cleanup(func() { person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// What is typed when grapnel secret set asks is stored, encrypted, and not shown
// on the terminal.
func TestTypedSecretIsNotShown(t *testing.T) {
	person, program := openTerminal(t)
	home := t.TempDir()
	cmd := exec.Command("grapnel", "--config-dir", home, "secret", "set", "providers.openai.api_key")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close() // so that the end of the command ends what can be read
	var seen bytes.Buffer
	typed := false
	if err := person.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Logf("reads of the terminal are not bounded: %v", err)
	}
	buf := make([]byte, 1024)
	for {
		n, err := person.Read(buf)
		seen.Write(buf[:n])
		if !typed && strings.Contains(seen.String(), "(not shown): ") {
			typed = true
			if _, err := person.WriteString("sk-typed-by-hand\n"); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil || !typed {
		t.Fatalf("%v, typed %v:\n%s", err, typed, &seen)
	}
	if strings.Contains(seen.String(), "sk-typed") || !strings.Contains(seen.String(), "Set providers.openai.api_key, encrypted.") {
		t.Errorf("the terminal shows\n%s", &seen)
	}
	text, err := os.ReadFile(filepath.Join(home, "config.toml"))
	if err != nil || !bytes.Contains(text, []byte(`api_key = "age:`)) {
		t.Errorf("the file is %q, %v", text, err)
	}
}
