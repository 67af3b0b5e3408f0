package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeFile makes or replaces a file in one step. Links to it stay, and what is
// no file, such as a pipe or a device, is written to and never replaced.
func writeFile(name string, write func(io.Writer) error) error {
	if err := writeTo(name, write); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func writeTo(name string, write func(io.Writer) error) error {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a directory; name a file in it")
	case err == nil && !info.Mode().IsRegular():
		return writeThrough(name, write)
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	return writeBeside(name, write)
}

// writeThrough writes to what is there.
func writeThrough(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return reason(err)
	}
	return finish(f, write)
}

// writeBeside writes a new file, for its user only, and gives it the name when
// it is whole.
func writeBeside(name string, write func(io.Writer) error) error {
	dir := filepath.Dir(name)
	f, err := os.CreateTemp(dir, ".grapnel-export-*")
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the directory %s does not exist", dir)
	}
	if err != nil {
		return fmt.Errorf("make a file in %s: %w", dir, reason(err))
	}
	err = finish(f, write)
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// finish writes to f through a buffer and closes it.
func finish(f *os.File, write func(io.Writer) error) error {
	out := bufio.NewWriter(f)
	err := write(out)
	if err == nil {
		err = out.Flush()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// reason is err without the name of a file that the user did not name.
func reason(err error) error {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return failed.Err
	}
	return err
}
