package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

const (
	// linkBytes bounds what is read of a linked file into the prompt; the rest
	// the model reads with its tools.
	linkBytes = 256 << 10
	// linkWait is how long a client may take to show its buffer of a file.
	linkWait = 10 * time.Second
	// linkName bounds a name or an address that is quoted, in bytes.
	linkName = 2000
)

// Reasons a linked file is named only.
var (
	errNotText = errors.New("not a text file")
	errDenied  = errors.New("the policy denies reading it")
)

// linkText shows a linked file's text when it lies inside a root, and else the
// reference alone; nothing is fetched.
func (t *turn) linkText(ctx context.Context, b *contentBlock) string {
	name, ok := filePath(b.URI)
	if !ok {
		return fmt.Sprintf("[Link: %s] %s", quoted(b.Name), quoted(b.URI))
	}
	reference := fmt.Sprintf("[File: %s] %s", quoted(b.Name), quoted(name))
	content, err := t.linkedFile(ctx, name)
	if err != nil {
		return reference
	}
	return fmt.Sprintf("%s\n<file path=%q>\n%s\n</file>", reference, name, t.clean(content))
}

// quoted keeps what a client calls a thing on one line, of bounded length.
func quoted(s string) string {
	return printable.Clip(strings.NewReplacer("\n", " ", "\t", " ").Replace(printable.Text(s)), linkName)
}

func (t *turn) linkedFile(ctx context.Context, name string) (string, error) {
	if t.Hands.Only {
		return t.readAway(ctx, name)
	}
	target, err := t.roots.Resolve(name)
	if err != nil {
		return "", err
	}
	defer target.Close()
	if !target.InRoot() {
		return "", fsroot.ErrOutside
	}
	if !t.mayRead(target) {
		return "", errDenied
	}
	if text, ok := t.clientText(ctx, target.Abs); ok {
		return text, nil
	}
	data, err := target.ReadFile(linkBytes)
	if err == nil && !isText(data) {
		err = errNotText
	}
	return string(data), err
}

// mayRead asks the policy: a person who links a file need not be asked, but
// what the configuration denies stays denied.
func (t *turn) mayRead(target *fsroot.Target) bool {
	path := policy.Path{Abs: target.Abs, Root: target.Root.Path, InRoot: true}
	s := policy.Subject{Tool: "file_read", Kind: "read", Cwd: t.info.Cwd, Paths: []policy.Path{path}}
	return t.policy.Within(t.bound).Decide(s, nil, t.choiceNow().Mode).Verdict != policy.Deny
}

// clientText is the client's own text of a file, with what is not saved yet.
func (t *turn) clientText(ctx context.Context, path string) (string, bool) {
	if t.Hands.FS == nil {
		return "", false
	}
	ctx, cancel := context.WithTimeout(ctx, linkWait)
	defer cancel()
	text, err := t.Hands.FS.ReadTextFile(ctx, path, 0, 0)
	return text, err == nil && len(text) <= linkBytes && isText([]byte(text))
}

func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

// filePath returns the path of a file: URI or of a plain absolute path.
func filePath(uri string) (string, bool) {
	if filepath.IsAbs(uri) {
		return uri, true
	}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || (u.Host != "" && u.Host != "localhost") {
		return "", false
	}
	return filepath.FromSlash(u.Path), true
}
