package serve

import (
	"os"
	"path/filepath"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// placeholderCwd is what some clients send for "anywhere".
const placeholderCwd = "."

// workDir is resolveCwd for this connection. A directory that is the client's,
// because all hands are, is taken by its name.
func (c *conn) workDir(asked, workspace string) (string, error) {
	if !c.capabilities().handsOnly {
		return c.server.resolveCwd(asked, workspace)
	}
	if !filepath.IsAbs(asked) {
		return "", session.Invalidf("cwd must be an absolute path of the client, not %q", asked)
	}
	return filepath.Clean(asked), nil
}

// roots checks additional directories the same way; none may be relative.
func (c *conn) roots(dirs []string) ([]string, error) {
	if err := bounded("additionalDirectories", len(dirs), maxRoots); err != nil {
		return nil, err
	}
	if !c.capabilities().handsOnly {
		return resolveRoots(dirs)
	}
	roots := make([]string, 0, len(dirs))
	for _, d := range dirs {
		if !filepath.IsAbs(d) {
			return nil, session.Invalidf("additionalDirectories must be absolute paths, not %q", d)
		}
		roots = append(roots, filepath.Clean(d))
	}
	return roots, nil
}

// resolveCwd turns the directory a client asked for into the session's
// boundary: absolute, through symlinks, existing. None, the placeholder and
// the install root mean the agent's workspace.
func (s *Server) resolveCwd(asked, workspace string) (string, error) {
	if asked == "" || asked == placeholderCwd {
		asked = workspace
	} else if !filepath.IsAbs(asked) {
		return "", session.Invalidf("cwd must be an absolute path, not %q", asked)
	}
	dir, err := realDir(asked)
	if err != nil {
		return "", err
	}
	if s.opts.InstallRoot != "" && dir == s.opts.InstallRoot {
		return realDir(workspace)
	}
	return dir, nil
}

// resolveRoots checks additional directories the same way; none may be
// relative.
func resolveRoots(dirs []string) ([]string, error) {
	roots := make([]string, 0, len(dirs))
	for _, d := range dirs {
		if !filepath.IsAbs(d) {
			return nil, session.Invalidf("additionalDirectories must be absolute paths, not %q", d)
		}
		dir, err := realDir(d)
		if err != nil {
			return nil, err
		}
		roots = append(roots, dir)
	}
	return roots, nil
}

// knownAs is the name by which sessions of a directory are stored; one that is
// gone keeps the name it was asked by.
func knownAs(path string) string {
	if dir, err := realDir(path); err == nil && filepath.IsAbs(path) {
		return dir
	}
	return path
}

func realDir(path string) (string, error) {
	dir, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", session.Invalidf("directory %s cannot be used: %v", path, err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", session.Invalidf("%s is not a directory", path)
	}
	return dir, nil
}
