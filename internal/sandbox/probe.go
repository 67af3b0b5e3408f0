package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/proc"
)

// said is what the command of a trial says when it has started and could not
// read what it must not.
const said = "confined"

// escape is a command that tries to read a file it is not granted. It says so if
// it cannot, and is silent if it can.
const escape = `cat "$1" >/dev/null 2>&1 || echo ` + said

// errNotConfined is a rung that starts commands and holds nothing back.
var errNotConfined = errors.New("it runs commands, but does not keep them from reading other files")

// run makes the trial of one rung: wrap confines a command.
func (l *Ladder) run(ctx context.Context, r Rung, wrap func(view, string, proc.Spec) (proc.Spec, error)) error {
	dir, err := l.makeTemp()
	if err != nil {
		return err
	}
	defer func() { _ = removeAll(dir) }()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		return err
	}
	s := proc.Spec{
		Argv: []string{"sh", "-c", escape, "sh", secret}, Dir: "/",
		Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin:" + l.opts.Path, "LANG=C"},
	}
	program, err := proc.Look(s)
	if err != nil {
		return err
	}
	sc := newScene()
	for _, p := range toolchains("", filepath.SplitList(l.opts.Path), []string{dir}) {
		sc.add(p, readOnly)
	}
	for _, p := range etcPlaces() {
		sc.add(p, readOnly)
	}
	if s, err = wrap(sc.view(), program, s); err != nil {
		return err
	}
	return l.judge(ctx, r, s)
}

// judge runs the trial and reads what it says.
func (l *Ladder) judge(ctx context.Context, r Rung, s proc.Spec) error {
	ctx, cancel := context.WithTimeoutCause(ctx, l.opts.ProbeTime, fmt.Errorf("it did not start a command within %v", l.opts.ProbeTime))
	defer cancel()
	var out, errs bytes.Buffer
	s.Stdout, s.Stderr = &out, &errs
	p, err := proc.Start(ctx, s)
	if err != nil {
		return err
	}
	exit, err := p.Wait()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case strings.TrimSpace(out.String()) == said:
		return nil
	case exit.Code == 0 && errs.Len() == 0:
		return errNotConfined
	}
	return fmt.Errorf("it does not start commands: %s", reason(errs.String(), exit))
}

// reason is the first line a failed trial wrote, or how it ended.
func reason(text string, exit proc.Exit) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > 200 {
		line = line[:200]
	}
	switch {
	case line != "":
		return strings.ToValidUTF8(line, "?")
	case exit.Signal != "":
		return "ended by " + exit.Signal
	}
	return fmt.Sprintf("exit code %d", exit.Code)
}
