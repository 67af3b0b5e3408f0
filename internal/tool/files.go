package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// subject begins the facts policy judges a call by.
func (e *Env) subject(s Spec) policy.Subject {
	subject := policy.Subject{Tool: s.Name, Kind: s.Kind, Acts: s.Acts, Cwd: e.Cwd}
	if e.Away != nil {
		subject.Roots = e.Away.Roots
		return subject
	}
	if e.Roots == nil {
		return subject // tools that touch no file work without roots
	}
	for _, r := range e.Roots.Roots() {
		subject.Roots = append(subject.Roots, r.Path)
	}
	return subject
}

// pathOf describes a target to policy.
func pathOf(t *fsroot.Target, write bool) policy.Path {
	p := policy.Path{Abs: t.Abs, InRoot: t.InRoot(), Write: write}
	if p.InRoot {
		p.Root = t.Root.Path
	}
	return p
}

// look resolves a path that a command mentions, for policy.
func (e *Env) look(path, from string) policy.Path {
	if e.Away != nil {
		return e.Away.Look(path, from)
	}
	p := e.Roots.Look(path, from)
	return policy.Path{Abs: p.Abs, Root: p.Root, InRoot: p.InRoot, Forbidden: p.Forbidden}
}

// judge asks the early question of Env.Judge.
func (e *Env) judge(s policy.Subject) error {
	if e.Judge == nil {
		return nil
	}
	return e.Judge(s)
}

// display shortens a path below the working directory for people.
func (e *Env) display(abs string) string {
	if rel, err := filepath.Rel(e.Cwd, abs); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return abs
}

// resolveFile resolves a path that should name a file.
func (e *Env) resolveFile(path string) (*fsroot.Target, error) {
	if path == "" {
		return nil, errors.New(`the argument "path" is missing`)
	}
	if e.Away != nil {
		return e.Away.Resolve(path, e.Cwd)
	}
	t, err := e.Roots.Resolve(path)
	if err != nil {
		return nil, err
	}
	if t.IsDir() {
		_ = t.Close()
		return nil, fmt.Errorf("%q is a directory; use list_dir to see what is in it", path)
	}
	return t, nil
}

// file is a text file as the person sees it: the client's buffer where the
// client has one, else what is on disk.
type file struct {
	document
	exists bool
	client session.FS // set when the text came from the client and goes back there
}

// load reads the whole file. A missing one is no error.
func (e *Env) load(ctx context.Context, t *fsroot.Target) (file, error) {
	var f file
	if t.Exists {
		data, err := t.ReadFile(e.limits().FileBytes)
		if err != nil {
			return f, err
		}
		if f.document, err = decodeText(data); err != nil {
			return f, fmt.Errorf("%q cannot be read as text: %w", e.display(t.Abs), err)
		}
		f.exists = true
	}
	hand := e.clientFS(t)
	if hand == nil || !f.enc.plain() {
		return f, nil
	}
	text, err := e.readClient(ctx, hand, t.Abs)
	switch {
	case err == nil:
		return file{document: document{text: text}, exists: true, client: hand}, nil
	case notServed(err) && e.Away != nil:
		return f, orGone(err)
	case notServed(err):
		return f, nil
	case !t.Exists && !errors.Is(err, context.DeadlineExceeded):
		return file{client: hand}, nil // clients say in many ways that there is nothing
	case errors.Is(err, fs.ErrNotExist):
		return file{client: hand}, nil
	}
	return f, fmt.Errorf("the client could not read %q: %w", e.display(t.Abs), err)
}

// clientFS returns the client's file system when it is the one to use.
func (e *Env) clientFS(t *fsroot.Target) session.FS {
	if e.Away != nil {
		return e.Hands.FS
	}
	if e.Hands.FS == nil || t.Root.Name == fsroot.NameWorkspace || !t.InRoot() {
		return nil
	}
	return e.Hands.FS
}

func (e *Env) readClient(ctx context.Context, hand session.FS, path string) (string, error) {
	ctx, cancel := e.clientContext(ctx)
	defer cancel()
	text, err := hand.ReadTextFile(ctx, path, 0, 0)
	if err != nil {
		return "", clientError(ctx, err)
	}
	if limit := e.limits().FileBytes; int64(len(text)) > limit {
		return "", fmt.Errorf("it is longer than the limit of %d bytes", limit)
	}
	return text, nil
}

// save writes text where the file came from.
func (e *Env) save(ctx context.Context, t *fsroot.Target, f file, text string) error {
	if f.client == nil {
		data := document{text: text, enc: f.enc}.bytes()
		return t.WriteFile(data, fsroot.WriteOptions{MakeParents: true, IfUnchanged: true})
	}
	now, err := e.readClient(ctx, f.client, t.Abs)
	if f.exists && err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the client could not read %q: %w", e.display(t.Abs), err)
	}
	if changed := now != f.text || (err == nil) != f.exists; changed {
		return fmt.Errorf("%q was changed by someone else since it was read; read it again", e.display(t.Abs))
	}
	ctx, cancel := e.clientContext(ctx)
	defer cancel()
	if err := f.client.WriteTextFile(ctx, t.Abs, text); err != nil {
		return fmt.Errorf("the client could not write %q: %w", e.display(t.Abs), clientError(ctx, err))
	}
	return nil
}

// clientContext bounds one request to the client: some never answer.
func (e *Env) clientContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, e.limits().ClientTimeout)
}

// clientError makes a timeout of ours recognizable and readable.
func clientError(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("it did not answer in time: %w", context.DeadlineExceeded)
	}
	return err
}

// notServed reports that the client does not serve the method it offered, or
// has left.
func notServed(err error) bool {
	var e *acp.Error
	return errors.Is(err, session.ErrHandsGone) || errors.As(err, &e) && e.Code == acp.CodeMethodNotFound
}
