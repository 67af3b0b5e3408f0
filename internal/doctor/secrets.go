package doctor

import (
	"errors"
	"io/fs"
	"os"
	"runtime"

	"github.com/grapnel-ai/grapnel/internal/audit"
)

// KeyFile looks at the key that stored secrets are encrypted for: it is read only
// where nobody else can read it.
func KeyFile(path string) Finding {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ok("key", "%s does not exist yet; grapnel secret set makes it", path)
	case err != nil:
		return fail("key", "check its owner and permissions", "%s cannot be looked at: %v", path, err)
	case !info.Mode().IsRegular():
		return fail("key", "put the key file back", "%s is not a file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0: // which has no permission bits
		return fail("key", "chmod 600 "+path, "other users can reach %s (mode %#o), so it is not used", path, info.Mode().Perm())
	}
	return ok("key", "%s is yours alone", path)
}

// Audit follows the chain of the audit log in a directory to its end.
func Audit(dir string) Finding {
	r, err := audit.Verify(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && r.Intact && r.Lines == 0:
		return ok("audit", "the audit log has no lines yet")
	case err != nil:
		return fail("audit", "check the owner and permissions of "+dir, "the audit log cannot be read: %v", err)
	case !r.Intact:
		return warn("audit", "look at it with grapnel audit verify; find out who changed it, or whether the power failed, and move the log's files elsewhere to begin a new one",
			"the audit log is not as it was written: %s line %d: %s", r.Bad.File, r.Bad.Line, r.Bad.Why)
	}
	return ok("audit", "the audit log is intact: %d lines, the last is number %d", r.Lines, r.Last)
}
