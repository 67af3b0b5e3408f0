package doctor

import (
	"strings"
	"testing"
)

func TestPattern(t *testing.T) {
	tools := []string{"file_read", "file_write", "shell"}
	for entry, want := range map[string]string{
		"file_read": "", "shell(git *)": "", "mcp(files__*)": "", "files__get": "", "file_*": "", "*": "",
		"file_wrte":  "name a tool such as file_write",
		"mpc(files)": "there is no tool mpc",
		"shell(":     "has to end in a pattern in parentheses",
	} {
		f, found := Pattern("main", "deny", entry, tools)
		if found != (want != "") || !strings.Contains(f.Message+f.Fix, want) {
			t.Errorf("%s: %v, %+v", entry, found, f)
		}
	}
}
