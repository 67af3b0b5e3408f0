package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Look returns the path of the program that Start would run, or the error that
// it would return.
func Look(spec Spec) (string, error) { return find(spec) }

// find checks the working directory and returns the path of the program, or a
// *StartError that blames the right one of them.
func find(spec Spec) (string, error) {
	if len(spec.Argv) == 0 || spec.Argv[0] == "" {
		return "", &StartError{Command: "a child", Path: `""`, Reason: ErrCommandMissing}
	}
	name := spec.Argv[0]
	if err := checkDir(name, spec.Dir); err != nil {
		return "", err
	}
	if strings.ContainsRune(name, '/') || filepath.Base(name) != name {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(spec.Dir, path)
		}
		return abs(name, path)
	}
	return search(name, spec)
}

func checkDir(name, dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &StartError{Command: name, Path: dir, Reason: ErrDirMissing}
	case err != nil:
		return &StartError{Command: name, Path: dir, Reason: ErrStart, Cause: err}
	case !info.IsDir():
		return &StartError{Command: name, Path: dir, Reason: ErrDirNotDirectory}
	}
	return nil
}

// search looks name up in the PATH the child will have, not in ours.
func search(name string, spec Spec) (string, error) {
	var unusable error
	for _, dir := range filepath.SplitList(lookupEnv(spec.Env, "PATH")) {
		if dir == "" || !filepath.IsAbs(dir) {
			continue // the current directory is never searched
		}
		path, err := abs(name, filepath.Join(dir, name))
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, ErrCommandMissing) && unusable == nil {
			unusable = err
		}
	}
	if unusable != nil {
		return "", unusable
	}
	return "", &StartError{Command: name, Path: name, Reason: ErrCommandMissing}
}

// abs returns path made absolute if it is a program.
func abs(name, path string) (string, error) {
	path, err := executable(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &StartError{Command: name, Path: path, Reason: ErrCommandMissing}
	case errors.Is(err, fs.ErrPermission):
		return "", &StartError{Command: name, Path: path, Reason: ErrNotExecutable}
	case err != nil:
		return "", &StartError{Command: name, Path: path, Reason: ErrStart, Cause: err}
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", &StartError{Command: name, Path: path, Reason: ErrStart, Cause: err}
	}
	return path, nil
}

// interpreter returns the program that the first line of a script names, or
// path itself when it is no script.
func interpreter(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return path
	}
	defer func() { _ = f.Close() }()
	var buf [256]byte // the kernel reads no further either
	n, _ := f.Read(buf[:])
	line, _, _ := strings.Cut(string(buf[:n]), "\n")
	if fields := strings.Fields(strings.TrimPrefix(line, "#!")); strings.HasPrefix(line, "#!") && len(fields) > 0 {
		return fields[0]
	}
	return path
}
