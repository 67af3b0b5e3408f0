package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"time"
)

const (
	// commandTimeout bounds a cmd: reference; long enough for a password
	// manager that asks its user to unlock.
	commandTimeout = 60 * time.Second
	// commandGrace is how long a killed command may keep its output open.
	commandGrace = 2 * time.Second
)

// fromCommand runs command in the system's shell and returns what it prints.
// Its standard error is dropped: password managers may print the secret there.
func fromCommand(ctx context.Context, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	if runtime.GOOS == "windows" {
		cmd = exec.CommandContext(ctx, "cmd.exe", "/d", "/c", command)
	}
	cmd.WaitDelay = commandGrace
	out := &bounded{left: maxFileBytes}
	cmd.Stdout = out
	err := cmd.Run()
	if out.full {
		return "", fmt.Errorf("the secret's cmd: printed more than %d bytes; is it the right command?", maxFileBytes)
	}
	if err != nil {
		return "", commandError(ctx, err)
	}
	return clean(out.buf.Bytes(), "the secret's cmd: printed nothing; run it by hand to see why")
}

func commandError(ctx context.Context, err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && ctx.Err() == nil {
		return fmt.Errorf("the secret's cmd: ended with status %d; run it by hand to see why (%w)", exit.ExitCode(), ErrMissing)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("the secret's cmd: gave no answer within %s; run it by hand to see why", commandTimeout)
	}
	return fmt.Errorf("run the secret's cmd: %w", err)
}

// bounded keeps the first bytes written to it and fails on the rest.
type bounded struct {
	buf  bytes.Buffer
	left int
	full bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(p) > b.left {
		b.full = true
		return 0, io.ErrShortWrite
	}
	b.left -= len(p)
	return b.buf.Write(p)
}
