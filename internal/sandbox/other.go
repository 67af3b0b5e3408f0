//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"os"
	"runtime"

	"github.com/grapnel-ai/grapnel/internal/proc"
)

// withheld is what a system call filter refuses; there is none here.
type withheld struct{ inet, unix, truncate bool }

var errLinuxOnly = errors.New("not on " + runtime.GOOS)

func filterFile(withheld) (*os.File, error) { return nil, errLinuxOnly }

func (l *Ladder) probeLandlock(context.Context) attempt { return attempt{err: errLinuxOnly} }

func confineByLandlock(_ view, _ Want, _ int, _ string, s proc.Spec) (proc.Spec, error) {
	return s, errLinuxOnly
}
