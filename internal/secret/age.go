package secret

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"filippo.io/age"
)

// ErrKey is matched by the errors of age: references that are there but cannot
// be read: no key file, the wrong one, or damaged text.
var ErrKey = errors.New("the secret cannot be decrypted")

const (
	keyFileMode = 0o600
	keyDirMode  = 0o700
)

// Seal encrypts a value for the identity in keyFile and returns it as an age:
// reference. The key file, in the form of age-keygen, is made with its directory
// when it is missing; mended reports that others could read it and that it was
// closed to them.
func Seal(keyFile, value string) (ref string, mended bool, err error) {
	if err := createKey(keyFile); err != nil {
		return "", false, err
	}
	if mended, err = closeToOthers(keyFile); err != nil {
		return "", false, err
	}
	id, err := readKey(keyFile)
	if err != nil {
		return "", mended, err
	}
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, id.Recipient())
	if err == nil {
		_, err = io.WriteString(w, value)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return "", mended, fmt.Errorf("encrypt the secret: %w", err)
	}
	return string(SchemeAge) + ":" + base64.StdEncoding.EncodeToString(sealed.Bytes()), mended, nil
}

// fromAge decrypts what Seal returned, without its scheme.
func fromAge(text, keyFile string) (string, error) {
	if keyFile == "" {
		return "", fmt.Errorf("%w: there is no directory of keys here", ErrKey)
	}
	sealed, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return "", damaged()
	}
	id, err := readKey(keyFile)
	if err != nil {
		return "", err
	}
	r, err := age.Decrypt(bytes.NewReader(sealed), id)
	if _, other := errors.AsType[*age.NoIdentityMatchError](err); other {
		return "", fmt.Errorf("%w by the key in %s, which is not the one it was encrypted for; put that key back, or set the secret again with grapnel secret set", ErrKey, keyFile)
	}
	if err != nil {
		return "", damaged()
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxFileBytes+1))
	if err != nil || len(plain) > maxFileBytes {
		return "", damaged()
	}
	return clean(plain, "the encrypted secret is empty; set it again with grapnel secret set")
}

func damaged() error {
	return fmt.Errorf("%w: the age: text is cut short or changed; set it again with grapnel secret set", ErrKey)
}

// readKey reads the identity in a key file that nobody else can read.
func readKey(name string) (*age.X25519Identity, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: its key file %s does not exist; put it back, or set the secret again with grapnel secret set", ErrKey, name)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFileBytes {
		return nil, fmt.Errorf("%w: %s is not a key file", ErrKey, name)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%w: its key file %s can be read by others; run chmod 600 on it", ErrKey, name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	for line := range strings.Lines(string(data)) {
		if id, err := age.ParseX25519Identity(strings.TrimSpace(line)); err == nil {
			return id, nil
		}
	}
	return nil, fmt.Errorf("%w: %s holds no age key (a line that begins AGE-SECRET-KEY-1); put the right file there", ErrKey, name)
}

// createKey makes a key file unless there is one. Of two processes that make it
// at once, one wins, and both go on with its key.
func createKey(name string) error { return createKeyBy(name, os.Link) }

// createKeyBy makes it by a link, which puts it in its place as a whole.
func createKeyBy(name string, link func(from, to string) error) error {
	if _, err := os.Lstat(name); err == nil {
		return nil
	}
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, keyDirMode); err != nil {
		return fmt.Errorf("make the directory of keys: %w", err)
	}
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	text := fmt.Sprintf("# created: %s\n# public key: %s\n%s\n", time.Now().Format(time.RFC3339), id.Recipient(), id)
	temp, err := writeKey(dir, text)
	if err != nil {
		return fmt.Errorf("write the key file: %w", err)
	}
	defer os.Remove(temp)
	err = link(temp, name)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = writeNew(name, text) // FAT, for one, has no links
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("write the key file: %w", err)
	}
	return nil
}

// writeNew writes a key file where there is none. Who reads it meanwhile finds
// no key, and can try again.
func writeNew(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, keyFileMode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// writeKey writes a file in dir to the disk; os.CreateTemp makes it readable by
// its user only.
func writeKey(dir, text string) (string, error) {
	f, err := os.CreateTemp(dir, ".key-*")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// closeToOthers takes away what others may do with a key file and its
// directory, and reports whether they could read it.
func closeToOthers(name string) (mended bool, err error) {
	if runtime.GOOS == "windows" {
		return false, nil
	}
	for path, mode := range map[string]fs.FileMode{name: keyFileMode, filepath.Dir(name): keyDirMode} {
		info, err := os.Stat(path)
		if err != nil {
			return mended, fmt.Errorf("look at the key file: %w", err)
		}
		if info.Mode().Perm()&0o077 == 0 {
			continue
		}
		if err := os.Chmod(path, mode); err != nil {
			return mended, fmt.Errorf("close %s to other users: %w", path, err)
		}
		mended = true
	}
	return mended, nil
}
