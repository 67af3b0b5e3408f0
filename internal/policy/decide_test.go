package policy

import (
	"strings"
	"testing"
)

func paths(tool string, acts bool, names ...string) Subject {
	s := Subject{Tool: tool, Kind: "read", Acts: acts, Cwd: "/w"}
	if acts {
		s.Kind = "edit"
	}
	for _, n := range names {
		p := look(n, "/w")
		p.Write = acts
		s.Paths = append(s.Paths, p)
	}
	return s
}

func read(names ...string) Subject { return paths("file_read", false, names...) }

// deliver is a read that another tool does.
func deliver(names ...string) Subject {
	s := paths("deliver_file", false, names...)
	s.As = "file_read"
	return s
}

func edit(names ...string) Subject { return paths("file_write", true, names...) }

func remote(tool string) Subject {
	return Subject{Tool: tool, Server: "files", Kind: "read", Acts: true, Cwd: "/w"}
}

func with(s Settings, change func(*Settings)) Settings {
	change(&s)
	return s
}

func TestLevelsAndModes(t *testing.T) {
	levels := []Level{ReadOnly, Supervised, Full, "", "typo"}
	modes := []Mode{ModeAsk, ModeAcceptEdits, ModeFull, ModePlan, ""}
	// The verdicts for a read, an edit, an MCP call and a read elsewhere.
	want := func(l Level, m Mode) string {
		switch {
		case m == ModePlan, l != Supervised && l != Full:
			return "allow deny deny deny"
		case l == Full && m == ModeFull:
			return "allow allow allow allow"
		case m == ModeAcceptEdits:
			return "allow allow ask+ deny"
		}
		return "allow ask+ ask+ deny"
	}
	for _, l := range levels {
		for _, m := range modes {
			p := newPolicy(with(supervised(), func(s *Settings) { s.Level = l }))
			var got []string
			for _, s := range []Subject{read("a"), edit("a"), remote("files__get"), read("../x")} {
				got = append(got, outcomeOf(p.Decide(s, nil, m)))
			}
			if g := strings.Join(got, " "); g != want(l, m) {
				t.Errorf("level %q mode %q: %s, want %s", l, m, g, want(l, m))
			}
		}
	}
}

func TestModesOfALevel(t *testing.T) {
	for l, want := range map[Level]Mode{ReadOnly: ModePlan, Supervised: ModeAsk, Full: ModeFull, "typo": ModePlan} {
		modes := Modes(l)
		if modes[0] != want {
			t.Errorf("%s begins in %s, want %s", l, modes[0], want)
		}
		for _, m := range modes {
			if m == ModeFull && l != Full {
				t.Errorf("%s offers full", l)
			}
		}
	}
}

func TestCalls(t *testing.T) {
	anywhere := func(s *Settings) { s.WorkspaceOnly = false }
	lists := func(auto, always, never string) func(*Settings) {
		return func(s *Settings) {
			s.AutoApprove, s.AlwaysAsk, s.Deny = split(auto), split(always), split(never)
		}
	}
	both := func(fs ...func(*Settings)) func(*Settings) {
		return func(s *Settings) {
			for _, f := range fs {
				f(s)
			}
		}
	}
	none := func(*Settings) {}
	boxed := func(s *Settings) { s.Sandboxed = true }
	labelled := remote("files__rm")
	labelled.Kind = "read"
	writesButSaysRead := edit("a")
	writesButSaysRead.Acts, writesButSaysRead.Kind = false, "read"
	deletes := edit("a")
	deletes.Kind = "delete"

	tests := []struct {
		name string
		set  func(*Settings)
		s    Subject
		mode Mode
		want string
	}{
		{"a read", none, read("a"), ModeAsk, allow},
		{"a tool without effect", none, Subject{Tool: "todo"}, ModeAsk, allow},
		{"forbidden", none, read("/etc/shadow"), ModeAsk, deny},
		{"forbidden at full", with2(Full, anywhere), read("/etc/shadow"), ModeFull, deny},
		{"one forbidden of two", none, read("a", "/etc/shadow"), ModeAsk, deny},
		{"outside", none, read("/elsewhere/x"), ModeAsk, deny},
		{"outside, allowed to look", anywhere, read("/elsewhere/x"), ModeAsk, ask},
		{"outside, tool approved", both(anywhere, lists("file_read", "", "")), read("/elsewhere/x"), ModeAsk, ask},
		{"outside, path approved", both(anywhere, lists("file_read(/elsewhere/**)", "", "")), read("/elsewhere/x"), ModeAsk, allow},
		{"outside, at full", with2(Full, anywhere), read("/elsewhere/x"), ModeFull, allow},
		{"outside edit accepted", anywhere, edit("/elsewhere/x"), ModeAcceptEdits, ask},

		{"an edit", none, edit("a"), ModeAsk, askGrant},
		{"an edit accepted", none, edit("a"), ModeAcceptEdits, allow},
		{"an edit of git's files", none, edit(".git/hooks/pre-commit"), ModeAcceptEdits, ask},
		{"an edit of git's files, approved", lists("file_write", "", ""), edit("sub/.GIT/config"), ModeAsk, ask},
		{"a delete is no edit", none, deletes, ModeAcceptEdits, ask},
		{"an MCP call is no edit", none, remote("files__put"), ModeAcceptEdits, askGrant},
		{"an edit called a read", none, writesButSaysRead, ModeAsk, askGrant},
		{"Z8: a label changes nothing", none, labelled, ModeAsk, askGrant},

		{"auto by tool", lists("file_write", "", ""), edit("a"), ModeAsk, allow},
		{"auto by path", lists("file_write(src/**)", "", ""), edit("src/a/b"), ModeAsk, allow},
		{"auto by path, elsewhere", lists("file_write(src/**)", "", ""), edit("a"), ModeAsk, askGrant},
		{"auto by path, one of two", lists("file_write(src/**)", "", ""), edit("src/a", "a"), ModeAsk, askGrant},
		{"auto by file name", lists("file_write(*.md)", "", ""), edit("src/a.md"), ModeAsk, allow},
		{"auto MCP", lists("mcp(files__*)", "", ""), remote("files__get"), ModeAsk, allow},
		{"auto MCP, other server", lists("mcp(mail__*)", "", ""), remote("files__get"), ModeAsk, askGrant},
		{"mcp() is not for built-in tools", lists("mcp(file_*)", "", ""), edit("a"), ModeAsk, askGrant},
		{"always_ask beats auto_approve", lists("file_write", "file_write", ""), edit("a"), ModeAsk, ask},
		{"always_ask of reads", lists("file_read", "file_read", ""), read("a"), ModeAsk, ask},
		{"always_ask by path", lists("", "file_read(*.pem)", ""), read("a", "b/k.pem"), ModeAsk, ask},
		{"always_ask of what else the call does", lists("deliver_file", "file_read(*.pem)", ""), deliver("b/k.pem"), ModeAsk, ask},
		{"deny of what else the call does", lists("", "", "file_read(*.pem)"), deliver("b/k.pem"), ModeAsk, deny},
		{"neither of another file", lists("", "file_read(*.pem)", "file_read(*.key)"), deliver("a"), ModeAsk, allow},
		{"always_ask is silent at full", both(with2(Full, none), lists("", "file_write", "")), edit("a"), ModeFull, allow},
		{"deny beats always_ask", lists("file_write", "file_write", "file_write"), edit("a"), ModeAsk, deny},
		{"deny by path", lists("", "", "file_write(src/**)"), edit("a", "src/b"), ModeAsk, deny},
		{"deny at full", both(with2(Full, none), lists("", "", "file_write")), edit("a"), ModeFull, deny},
		{"deny everything", lists("", "", "*"), read("a"), ModeAsk, deny},

		{"auto shell", lists("shell", "", ""), shell("rm x; mytool"), ModeAsk, allow},
		{"auto shell, dangerous", lists("shell", "", ""), shell("git push --force"), ModeAsk, ask},
		{"auto shell, high", lists("shell", "", ""), shell("rm -rf x"), ModeAsk, deny},
		{"auto command", lists("shell(git push *)", "", ""), shell("git push origin x"), ModeAsk, allow},
		{"auto command, no arguments", lists("shell(git push *)", "", ""), shell("git push"), ModeAsk, allow},
		{"auto command, another too", lists("shell(git push *)", "", ""), shell("git push; rm x"), ModeAsk, askGrant},
		{"auto command, dangerous", lists("shell(git push *)", "", ""), shell("git push --force"), ModeAsk, ask},
		{"auto exactly the dangerous", lists("shell(git push --force)", "", ""), shell("git push --force"), ModeAsk, allow},
		{"auto exactly the high", lists("shell(rm -rf build)", "", ""), shell("rm -rf build"), ModeAsk, allow},
		{"auto exactly, more of it", lists("shell(rm -rf build)", "", ""), shell("rm -rf build x"), ModeAsk, deny},
		{"auto exactly, always asked", lists("shell(rm x)", "shell", ""), shell("rm x"), ModeAsk, ask},
		{"auto the high by pattern", lists("shell(rm *)", "", ""), shell("rm -rf x"), ModeAsk, deny},
		{"always_ask command", lists("", "shell(ls *)", ""), shell("pwd; ls"), ModeAsk, ask},
		{"always_ask behind a wrapper", lists("", "shell(ls *)", ""), shell("timeout 5 ls"), ModeAsk, ask},
		{"deny command", lists("", "", "shell(git push *)"), shell("ls && git push"), ModeAsk, deny},
		{"deny command with unknown words", lists("", "", "shell(git push *)"), shell("git push $x"), ModeAsk, deny},
		{"deny command with options in front", lists("", "", "shell(git push *)"), shell("git -C . --no-pager push origin"), ModeAsk, deny},
		{"always_ask command with options in front", lists("shell(git *)", "shell(git push *)", ""), shell("git -P push"), ModeAsk, ask},
		{"deny command repeated by xargs", lists("", "", "shell(rm *)"), shell("ls | xargs rm"), ModeAsk, deny},
		{"deny command at full", both(with2(Full, none), lists("", "", "shell(git push *)")), shell("git push"), ModeFull, deny},

		{"a redirection accepted", none, shell("echo x > a"), ModeAcceptEdits, allow},
		{"a redirection into git accepted", none, shell("echo x > .git/config"), ModeAcceptEdits, ask},
		{"a command's own writing", none, shell("cp a b"), ModeAcceptEdits, askGrant},
		{"code of the repository accepted", none, shell("./build.sh"), ModeAcceptEdits, askGrant},
		{"code of the repository accepted, sandboxed", boxed, shell("./build.sh && cargo test && python3 x.py"), ModeAcceptEdits, allow},
		{"code of the repository asked, sandboxed", boxed, shell("./build.sh"), ModeAsk, askGrant},
		{"code of the repository planned, sandboxed", boxed, shell("./build.sh"), ModePlan, deny},
		{"a commit, sandboxed", boxed, shell("git commit -m x"), ModeAcceptEdits, askGrant},
		{"code in the command, sandboxed", boxed, shell("python3 -c 'print(1)'"), ModeAcceptEdits, ask},
		{"an unknown program, sandboxed", boxed, shell("mytool"), ModeAcceptEdits, askGrant},
		{"started outside", none, func() Subject { s := shell("ls"); s.Paths = []Path{look("/elsewhere", "/")}; return s }(), ModeAsk, deny},
		{"started in a forbidden place", with2(Full, anywhere), func() Subject { s := shell("ls"); s.Paths = []Path{look("/etc", "/")}; return s }(), ModeFull, deny},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newPolicy(with(supervised(), tt.set)).Decide(tt.s, nil, tt.mode)
			if outcomeOf(d) != tt.want {
				t.Errorf("%s, want %s", d.Explain(), tt.want)
			}
		})
	}
}

func with2(l Level, more func(*Settings)) func(*Settings) {
	return func(s *Settings) {
		s.Level = l
		more(s)
	}
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func TestExplain(t *testing.T) {
	p := newPolicy(supervised())
	tests := map[string][]string{
		"ls":                   {"allow (low risk): allowed_commands ls"},
		"git status; rm -rf x": {"deny (high risk): high risk", "ask   git status: no sandbox", "deny  rm -rf x: high risk: it deletes whole directories"},
		"git push":             {"ask (medium risk): network: git push changes", "Always allow `git push` with the network in this session"},
	}
	for command, want := range tests {
		got := p.Decide(shell(command), nil, ModeAsk).Explain()
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%q: no %q in\n%s", command, w, got)
			}
		}
	}
}
