package sandbox

import (
	"testing"
)

func TestBasic(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		out, code := w.sh(Want{}, `id; pwd; ls -la; ls -la ~; cat ~/.gitconfig; cat file; echo x > new; cat /etc/passwd | head -1; cat ~/.ssh/id; cat ~/Documents/letter; cat ~/.grapnel/config.toml; env; echo t > $TMPDIR/x; cat $TMPDIR/x; echo hi >/dev/null; mount | wc -l; python3 --version; go version; node --version`)
		t.Log(code, out)
	})
}
