package policy

import (
	"path"
	"strings"
	"testing"
)

// TestFormsThatHideWhatRuns are commands that read as harmless ones and run
// another program, write a file, or read behind a link.
func TestFormsThatHideWhatRuns(t *testing.T) {
	set := supervised()
	set.AllowedCommands = append(set.AllowedCommands, "file", "strings", "zstdcat", "md5sum")
	p := newPolicy(set)
	for _, command := range []string{
		"command sh -c 'touch x' -v",
		"command touch x -V",
		"builtin eval 'touch x' -v",
		"trap 'touch x' EXIT -",
		"trap -- 'touch x' EXIT -",
		"read -aPATH <<< ./bin; ls",
		"read -raPATH <<< ./bin; ls",
		"echo evil < a > /dev/stdin",
		"echo evil 1<a 2>/dev/stdout",
		"echo evil 2<a >/dev/stderr",
		"echo evil <a 2>&0 >/dev/stderr",
		"echo evil 3<a 1<&3 2>/dev/stdout",
		"sed -n 's/[]/]/;p;/w out/p' a",
		"sed -n 's/[^]/]/;p;/w out/p' a",
		"sed -n 's/[[:alpha:]/]/;p;/w out/p' a",
		`awk 'BEGIN { print SYMTAB["ENVI" "RON"]["HOME"] }'`,
		"file -f list",
		"tree -R -L 1",
		"strings @list",
		"zstdcat a -o b",
		"md5sum -c list",
		"echo \u202e a",
		"echo \x1b[2J",
		"echo \xff",
		"diff dir a",
		"diff a dir",
	} {
		if d := p.Decide(inRepository(command), nil, ModeAsk); d.Verdict == Allow {
			t.Errorf("%s: %s", command, d.Explain())
		}
	}
}

// TestPatternsThatBringInWords: the names of files in the repository are options
// and programs for what a pattern is given to.
func TestPatternsThatBringInWords(t *testing.T) {
	p := newPolicy(supervised())
	for _, command := range []string{
		"find . -exe? touch x ';'",
		"find . -name [+-]* touch x ';'",
		"find . -name *",
		"grep -? pat .",
		"rg -p*/evil pat .",
		"git grep [-]*",
		"git log --grep [-]*",
		"test -? 'a[$(ls)]'",
		"env -u [ab]/* ls",
		"echo x | xargs -E [ab]/* echo",
		"nice -n [ab]* ls",
		"awk -F [ab]* 1 f",
		"awk -v [ab]* 1 f",
		"uniq [ab]*",
	} {
		if d := p.Decide(inRepository(command), nil, ModeAsk); d.Verdict == Allow || d.Grant != nil && !strings.HasPrefix(command, "uniq") {
			t.Errorf("%s: %s", command, d.Explain())
		}
	}
}

// TestUsualFormsStillFlow: what looks like the above and is not.
func TestUsualFormsStillFlow(t *testing.T) {
	p := newPolicy(supervised())
	for _, command := range []string{
		"command -v go", "command -pv go", "command ls", "trap - EXIT", "read -r line < a", "ls > /dev/stdout", "ls >&2", "cat 0< a",
		"sed 's/[[:alpha:]]*/x/' a", "sed 's/[]x]/y/' a", "find . -name *.go", "awk -F: 1 a", "uniq a", "diff a b", "diff a - < b",
		"env -u X ls", "ls [ab]*",
	} {
		if d := p.Decide(inRepository(command), nil, ModeAsk); d.Verdict != Allow {
			t.Errorf("%s: %s", command, d.Explain())
		}
	}
}

// TestStdinIsNotAFileToEdit: in accept-edits too, what is read is not written
// behind its name.
func TestStdinIsNotAFileToEdit(t *testing.T) {
	s := supervised()
	s.Sandboxed = true
	for _, command := range []string{"tee /dev/stdin < .envrc", "cp a /dev/stdin < .git/hooks/post-checkout"} {
		if d := newPolicy(s).Decide(inRepository(command), nil, ModeAcceptEdits); d.Verdict == Allow {
			t.Errorf("%s: %s", command, d.Explain())
		}
	}
}

// TestProgramsAreFoundFromEveryDirectory: a script that has changed directory
// runs what lies there.
func TestProgramsAreFoundFromEveryDirectory(t *testing.T) {
	s := supervised()
	s.Sandboxed = true
	subject := inRepository("cd sub && ./out")
	subject.Look = func(name, from string) Path {
		if path.Join(from, name) == "/w/sub/out" {
			return Path{Abs: "/elsewhere"}
		}
		return look(name, from)
	}
	if d := newPolicy(s).Decide(subject, nil, ModeAcceptEdits); d.Verdict == Allow {
		t.Error(d.Explain())
	}
}

// inRepository is a command in a directory with files named to be options, and
// with the directories a, b and dir.
func inRepository(command string) Subject {
	s := shell(command)
	s.Glob = func(pattern, from string) ([]Path, bool) {
		if dir, ok := strings.CutSuffix(pattern, "/.*"); ok {
			if dir != "dir" {
				return nil, true
			}
			return []Path{look("dir/.", from)}, true
		}
		var found []Path
		for _, name := range []string{"+", "-delete", "-exec", "-v", "a", "a.go", "b", "a/x", "b/evil", "-pre=./evil"} {
			ok, err := path.Match(pattern, name)
			if err != nil {
				return nil, false
			}
			if ok {
				p := look(name, from)
				p.Option = strings.HasPrefix(name, "-")
				found = append(found, p)
			}
		}
		return found, true
	}
	return s
}
