package sandbox

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/proc"
)

// sandboxExec is the program of macOS that runs another under a profile.
const sandboxExec = "/usr/bin/sandbox-exec"

func (l *Ladder) probeSeatbelt(ctx context.Context) attempt {
	if _, err := os.Stat(sandboxExec); err != nil {
		return attempt{err: errors.New(sandboxExec + " is missing")}
	}
	return attempt{err: l.run(ctx, Seatbelt, func(v view, program string, s proc.Spec) (proc.Spec, error) {
		return seatbelt(v, Want{}, program, s), nil
	})}
}

// seatbelt returns the spec that runs s under a profile.
func seatbelt(v view, w Want, program string, s proc.Spec) proc.Spec {
	s.Argv = append([]string{sandboxExec, "-p", profile(v, w), program}, s.Argv[1:]...)
	return s
}

// profileHead is what every program needs on macOS. Of several rules that
// match, the last one holds.
const profileHead = `(version 1)
(deny default)
(allow process-fork process-exec)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(allow file-read* (literal "/") (subpath "/System") (subpath "/Library/Apple") (subpath "/Library/Developer") (subpath "/Library/Frameworks") (subpath "/Library/Java") (subpath "/Applications/Xcode.app") (subpath "/private/var/db/timezone") (subpath "/private/var/db/dyld") (subpath "/private/var/select") (literal "/private/etc/localtime") (literal "/dev/autofs_nowait"))
(allow file-read* file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random") (literal "/dev/urandom") (literal "/dev/tty") (literal "/dev/dtracehelper") (subpath "/dev/fd"))
(allow file-ioctl (literal "/dev/tty") (literal "/dev/dtracehelper"))
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.system.logger") (global-name "com.apple.system.notification_center") (global-name "com.apple.trustd.agent"))
(allow ipc-posix-sem)
(allow pseudo-tty)
`

// profile says the view in Seatbelt's words.
func profile(v view, w Want) string {
	var b strings.Builder
	b.WriteString(profileHead)
	if w.Network {
		b.WriteString("(allow network-outbound (remote ip))\n(allow network-inbound network-bind (local ip))\n")
		b.WriteString("(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n(allow system-socket)\n")
	}
	for _, p := range v.places {
		where := "(literal " + quoted(p.path) + ")"
		if p.dir {
			where = "(subpath " + quoted(p.path) + ")"
		}
		switch p.access {
		case hidden:
			b.WriteString("(deny file-read* file-write* " + where + ")\n")
		case readOnly:
			b.WriteString("(allow file-read* " + where + ")\n(deny file-write* " + where + ")\n")
		case readWrite:
			b.WriteString("(allow file-read* file-write* " + where + ")\n")
		}
	}
	return b.String()
}

// quoted writes a string of the profile's language.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
