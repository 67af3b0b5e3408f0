package fieldtest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
)

// Run runs another command of grapnel in this world, to its end, and returns
// what it printed and its exit code.
func (w *World) Run(args ...string) (stdout, stderr string, code int) {
	w.T.Helper()
	argv := append(slices.Clone(w.Wrap), os.Args[0], "--config-dir", w.Home)
	argv = append(argv, args...)
	cmd := exec.CommandContext(w.T.Context(), argv[0], argv[1:]...)
	cmd.Env = append(append(os.Environ(), AsMain+"=1"), w.Env...)
	cmd.Dir = w.Cwd
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.String(), complaint.String(), exit.ExitCode()
	}
	if err != nil {
		w.T.Fatal(err)
	}
	return out.String(), complaint.String(), 0
}
