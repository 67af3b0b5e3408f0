package mcp

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPrefixOf(t *testing.T) {
	for in, want := range map[string]string{
		"files":                        "files",
		"my-files_2":                   "my-files_2",
		"my files!":                    "my_files",
		"a__b":                         "a_b",
		"_a_":                          "a",
		"日本":                           "mcp",
		"":                             "mcp",
		"7up":                          "mcp_7up",
		"-x":                           "mcp_x",
		"io.github.x":                  "io_github_x",
		"a-very-long-name-of-a-server": "a-very-long-nam_" + hashOf("a-very-long-name-of-a-server"),
	} {
		if got := prefixOf(in); got != want {
			t.Errorf("%q became %q, not %q", in, got, want)
		}
	}
}

func TestPrefixes(t *testing.T) {
	long := strings.Repeat("n", 24)
	got := prefixes([]Server{{Name: "a b"}, {Name: "a_b"}, {Name: "a.b"}, {Name: "a_b_2"}, {Name: long}, {Name: long}})
	want := []string{"a_b", "a_b_2", "a_b_3", "a_b_2_2", long, long[:22] + "_2"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestToolName(t *testing.T) {
	for in, want := range map[string]string{
		"read_file":             "s__read_file",
		"a-B_9":                 "s__a-B_9",
		"get.x":                 "s__get_x_" + hashOf("get.x"),
		"get/x":                 "s__get_x_" + hashOf("get/x"),
		"é":                     "s____" + hashOf("é"),
		strings.Repeat("x", 61): "s__" + strings.Repeat("x", 61),
		strings.Repeat("x", 62): "s__" + strings.Repeat("x", 52) + "_" + hashOf(strings.Repeat("x", 62)),
	} {
		if got := toolName("s", in); got != want {
			t.Errorf("%q became %q, not %q", in, got, want)
		}
	}
}

// FuzzNames: every name is one that providers take, names its server before the
// first separator, and no two tools of a server share one unless they are the
// same.
func FuzzNames(f *testing.F) {
	f.Add("files", "read_file", "write_file")
	f.Add("a__b", "c", "C")
	f.Add("\x00\xff", "get.x", "get_x")
	f.Add(strings.Repeat("s", 100), strings.Repeat("t", 100), strings.Repeat("t", 101))
	f.Add("_", "__", "")
	valid := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	f.Fuzz(func(t *testing.T, server, one, other string) {
		prefix := prefixOf(server)
		if strings.Contains(prefix, separator) || strings.HasSuffix(prefix, "_") || len(prefix) > maxPrefix {
			t.Fatalf("server %q has prefix %q", server, prefix)
		}
		a, b := toolName(prefix, one), toolName(prefix, other)
		for _, name := range []string{a, b} {
			if before, _, _ := strings.Cut(name, separator); !valid.MatchString(name) || before != prefix {
				t.Fatalf("server %q has a tool named %q", server, name)
			}
		}
		if a == b && one != other && isPlain(one) == isPlain(other) {
			t.Fatalf("%q and %q are both %q", one, other, a)
		}
	})
}

// isPlain reports whether a tool's name can stay as it is.
func isPlain(tool string) bool {
	return tool != "" && !strings.ContainsFunc(tool, func(r rune) bool { return !isNameRune(r) })
}
