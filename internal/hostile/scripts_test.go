//go:build linux

package hostile

// bySystem are words of the system, or of the policy where no sandbox works,
// that say why a program could not do what it wanted.
const bySystem = "no sandbox confines it|ermission denied|o such file|ead-only|not permitted|unreachable|refused|denied|outside the session's|busy|nonexistent|o such process|cross-device|put back"

// scriptEscapes put a program into the repository and have it run, which is
// unasked where a sandbox works: there it is the system that stops them.
func scriptEscapes() []escape {
	shell := []struct{ name, body string }{
		{"writes outside", "echo pwned > @OUT@/new"},
		{"writes over a file outside", "echo pwned > @OUT@/canary"},
		{"removes what is outside", "rm -r @OUT@/dir; rm @OUT@/canary </dev/null"},
		{"makes a directory outside", "mkdir @OUT@/d"},
		{"changes permissions outside", "chmod 777 @OUT@/canary @OUT@"},
		{"moves a file outside", "mv @OUT@/canary ."},
		{"reads outside", "cat @OUT@/secret"},
		{"lists outside", "ls @OUT@/dir"},
		{"reads the home", "cat ~/notes.txt"},
		{"reads keys", "cat ~/.ssh/id_rsa ~/.aws/credentials ~/.netrc"},
		{"writes keys", "echo ssh-ed25519 BBBB >> ~/.ssh/authorized_keys"},
		{"writes profiles", "echo evil >> ~/.bashrc; echo evil >> ~/.profile"},
		{"writes settings of git for the user", "git config --global core.pager ./evil"},
		{"reads the configuration", "cat @OWN@/config.toml"},
		{"writes the configuration", "echo '[autonomy]' >> @OWN@/config.toml"},
		{"replaces the configuration", "echo '[autonomy]' > x; mv x @OWN@/config.toml"},
		{"reads the data", "cat @OWN@/data/planted-token; strings @OWN@/data/sessions.db"},
		{"removes the data", "rm @OWN@/data/planted-token </dev/null"},
		{"reads beside the sockets", "cat @OWN@/run/planted"},
		{"follows a link of its own", "ln -s @OUT@ l; cat l/secret; echo pwned > l/new"},
		{"follows a dangling link", "ln -s @OUT@/new l; echo pwned > l"},
		{"writes to a hard link", "ln @OUT@/canary h && echo pwned > h"},
		{"reads through /proc/self/root", "cat /proc/self/root@OUT@/secret"},
		{"reads through another process", "cat /proc/@VICTIM@/root@OUT@/secret"},
		{"reads through the directory of its parent", "cat /proc/$PPID/cwd/../outside/secret"},
		{"reads environments", "cat /proc/*/environ; cat /proc/@VICTIM@/environ"},
		{"shows its own environment", "env; cat /proc/self/environ; cat /proc/$PPID/environ; cat @OUT@/canary"},
		{"ends a process", "kill -9 @VICTIM@; sleep 0.1"},
		{"leaves a file in /tmp", "echo x > /tmp/hostile-@MARK@; echo x > /var/tmp/hostile-@MARK@; cat @OUT@/canary"},
		{"mounts", "unshare -rm sh -c 'mount --bind @OUT@ src && cat src/secret'"},
		{"becomes root of its own", "unshare -r cat @OUT@/secret"},
		{"goes into another namespace", "nsenter -t @VICTIM@ -m -p cat @OUT@/secret"},
		{"changes its root", "chroot / cat @OUT@/secret"},
		{"replaces its directory", "cd .. && mv repo x && ln -s @OUT@ repo && cat repo/secret"},
		{"stays by setsid", "setsid sleep @MARK@ >/dev/null 2>&1 & cat @OUT@/canary"},
		{"stays by nohup", "nohup sleep @MARK@ >/dev/null 2>&1 & cat @OUT@/canary"},
		{"stays and ignores signals", "(trap '' TERM HUP INT; setsid sh -c \"trap '' TERM; sleep @MARK@ & sleep @MARK@\" >/dev/null 2>&1 &) ; cat @OUT@/canary"},
		{"starts again when ended", "(setsid sh -c 'while :; do sleep @MARK@; done' >/dev/null 2>&1 &); cat @OUT@/canary"},
	}
	var list []escape
	for _, s := range shell {
		list = append(list, escape{
			name: "a script " + s.name, accept: true, why: bySystem,
			prepare: scripted("evil.sh", "#!/bin/sh\n: > ran\n"+s.body+"\n"), tries: sh("sh ./evil.sh 2>&1"), runs: true,
		})
	}
	for i := range list {
		switch list[i].name {
		case "a script changes permissions outside":
			list[i].beyond = "landlock" // it has no rules for the rights of files
		case "a script mounts", "a script becomes root of its own", "a script goes into another namespace":
			list[i].needs = run("unshare", "nsenter")
		}
	}
	list = append(list, pythonEscapes()...)
	list = append(list, repositoryEscapes()...)
	return append(list, skillEscapes()...)
}

// pythonEscapes do what takes more than a shell.
func pythonEscapes() []escape {
	connect := func(family, address string) string {
		return "s = socket.socket(socket." + family + ")\ns.connect(" + address + ")\nprint(s.recv(100))"
	}
	bodies := []struct{ name, body string }{
		{"connects", connect("AF_INET", `("127.0.0.1", @TCP@)`)},
		{"connects to version 6", connect("AF_INET6", `("::ffff:127.0.0.1", @TCP@)`)},
		{"sends a datagram", `s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b"x", ("127.0.0.1", @UDP@)); time.sleep(0.1)`},
		{"fetches a page", `import urllib.request; print(urllib.request.urlopen("http://127.0.0.1:@TCP@/").read())`},
		{"connects to a socket of the user's", connect("AF_UNIX", `"@UNIX@"`)},
		{"connects to a socket without a file", connect("AF_UNIX", `"\0@ABSTRACT@"`)},
		{"sends to a socket of the user's", `s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM); s.connect_ex("@UNIX@"); open("@OUT@/canary")`},
		{"connects to Grapnel", `
import glob
found = glob.glob("@OWN@/run/*") or ["@OWN@/run/planted"]
for name in found:
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(name)
        print("REA" + "CHED")
    except OSError as e:
        print(name, e)
open("@OWN@/run/planted").read() and print("REA" + "CHED")`},
		{"traces a process", `
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.ptrace(16, @VICTIM@, 0, 0) == 0: # PTRACE_ATTACH
    print("REA" + "CHED")
    os.waitpid(@VICTIM@, 0)
    libc.ptrace(17, @VICTIM@, 0, 0)
else:
    print(os.strerror(ctypes.get_errno()))`},
		{"reads the memory of a process", `
for line in open("/proc/@VICTIM@/maps"):
    if "[stack]" in line:
        a, b = [int(x, 16) for x in line.split()[0].split("-")]
        m = open("/proc/@VICTIM@/mem", "rb"); m.seek(a); print(m.read(b - a))`},
		{"signals a process", `os.kill(@VICTIM@, 9); time.sleep(0.1)`},
		{"becomes a daemon", `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in (0, 1, 2): os.close(fd)
        os.execvp("sleep", ["sleep", "@MARK@"])
    os._exit(0)
open("@OUT@/canary")`},
		{"opens a file by its handle", `
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
h = ctypes.create_string_buffer(256); h[0:4] = (128).to_bytes(4, "little"); m = ctypes.c_int()
print(libc.name_to_handle_at(-100, b"@OUT@/secret", h, ctypes.byref(m), 0), os.strerror(ctypes.get_errno()))
fd = libc.open_by_handle_at(os.open("/", os.O_RDONLY), h, 0)
print(os.read(fd, 100) if fd >= 0 else os.strerror(ctypes.get_errno()))
print(open("@OUT@/secret").read())`},
	}
	var list []escape
	for _, b := range bodies {
		list = append(list, escape{
			name: "a program " + b.name, accept: true, why: bySystem, needs: run("python3"), runs: true,
			prepare: scripted("evil.py", "import os, socket, time\nopen('ran', 'w')\n"+b.body+"\n"),
			tries:   sh("python3 evil.py 2>&1"), silent: b.name == "sends a datagram",
		})
	}
	return list
}

// repositoryEscapes have what works in a repository run something later,
// outside any sandbox, or run by other tools.
func repositoryEscapes() []escape {
	script := func(name, body string) escape {
		return escape{
			name: "a script " + name, accept: true, why: bySystem, runs: true,
			prepare: func(g *ground) { g.repository(); g.script("evil.sh", "#!/bin/sh\n: > ran\n"+body+"\n") },
			tries:   sh("sh ./evil.sh 2>&1"),
		}
	}
	evil := "#!/bin/sh\n: > ran\necho pwned > @OUT@/new\n"
	made := func(name string, files map[string]string, command string, needs ...string) escape {
		return escape{
			name: name, accept: true, why: bySystem, needs: needs, tries: sh(command), runs: true,
			prepare: func(g *ground) {
				g.script("evil.sh", evil)
				for file, text := range files {
					g.script(file, text)
				}
			},
		}
	}
	return []escape{
		script("writes a hook", "echo evil > .git/hooks/pre-commit"),
		script("replaces the hooks", "mv .git/hooks x; mkdir .git/hooks; cp evil.sh .git/hooks/pre-commit"),
		script("writes settings of git", "git config core.fsmonitor ./evil.sh; printf '[core]\\n\\tfsmonitor = ./evil.sh\\n' >> .git/config"),
		script("replaces the settings of git", "cp .git/config x; echo '[core]' >> x; mv x .git/config"),
		script("replaces the repository", "mv .git x; cp -r x .git; printf '[core]\\n\\tfsmonitor = ./evil.sh\\n' >> .git/config"),
		script("has the repository elsewhere", "cp -r .git g; printf '[core]\\n\\tfsmonitor = ./evil.sh\\n' >> g/config; echo ../g > .git/commondir"),
		script("adds settings for one tree", "printf '[core]\\n\\tfsmonitor = ./evil.sh\\n' > .git/config.worktree; git config extensions.worktreeConfig true"),
		made("make runs a script", map[string]string{"Makefile": "all:\n\t@sh ./evil.sh\n"}, "make 2>&1", "make"),
		made("npm runs a script", map[string]string{"package.json": `{"scripts":{"test":"sh ./evil.sh"}}`}, "npm test 2>&1", "npm"),
		made("a program by its path runs", nil, "./evil.sh 2>&1"),
		made("python runs a module beside it", map[string]string{"json.py": "import subprocess\nsubprocess.run(['sh', './evil.sh'])\n", "x.py": "import json\n"}, "python3 x.py 2>&1", "python3"),
		made("a link made by a program is written through", map[string]string{"evil.sh": "#!/bin/sh\n: > ran\nln -s @OUT@/new l\n"}, "sh ./evil.sh; echo x > l"),
	}
}

// skillEscapes have Grapnel read instructions that are somewhere else.
func skillEscapes() []escape {
	skill := "---\nname: evil\ndescription: does evil things\n---\n"
	return []escape{
		{
			name: "instructions behind a link", tries: file("file_read", "AGENTS.md"), why: "outside", control: readControl("AGENTS.md"),
			prepare: func(g *ground) { g.link("@OUT@/secret", "AGENTS.md"); g.link("@HOME@/.ssh/id_rsa", "CLAUDE.md") },
		},
		{
			name: "a skill behind a link", tries: []try{call("read_skill", object{"name": "evil"})}, why: "skill",
			control: readControl(".agents/skills/evil/SKILL.md"),
			prepare: func(g *ground) {
				g.write(g.outside+"/skill/SKILL.md", skill+g.secret)
				g.link("@OUT@/skill", ".agents/skills/evil")
			},
		},
		{
			name: "a skill's file behind a link", tries: []try{call("read_skill", object{"name": "evil", "file": "l"})}, why: "outside|link",
			control: readControl(".agents/skills/evil/l"),
			prepare: func(g *ground) {
				g.script(".agents/skills/evil/SKILL.md", skill)
				g.link("@OUT@/secret", ".agents/skills/evil/l")
			},
		},
		{
			name: "a skill's file by dot-dot", tries: []try{call("read_skill", object{"name": "evil", "file": "../../../../outside/secret"})}, why: "outside|folder",
			control: readControl(".agents/skills/evil/../../../../outside/secret"),
			prepare: func(g *ground) { g.script(".agents/skills/evil/SKILL.md", skill) },
		},
		{
			name: "a skill by a path", tries: []try{call("read_skill", object{"name": "../../../outside/skill"})}, why: "no such skill", control: readControl("../outside/skill/SKILL.md"),
			prepare: func(g *ground) {
				g.write(g.outside+"/skill/SKILL.md", skill+g.secret)
				g.script(".agents/skills/good/SKILL.md", "---\nname: good\ndescription: is good\n---\n")
			},
		},
		{name: "deliver a file outside", tries: file("deliver_file", "../outside/secret"), why: "outside"},
		{name: "deliver a link", tries: file("deliver_file", "l"), prepare: linked("@OUT@/secret", "l"), why: "outside"},
		{name: "deliver the configuration", tries: file("deliver_file", "@OWN@/config.toml"), why: "outside|forbidden"},
		{name: "deliver a FIFO", tries: file("deliver_file", "pipe"), prepare: fifo("pipe"), why: "not a regular file"},
		{name: "deliver the users", tries: file("deliver_file", "/etc/passwd"), why: "outside|forbidden"},
	}
}

// readControl is an agent that reads a file of the repository wherever it leads.
func readControl(path string) func(*ground) []byte {
	return func(g *ground) []byte { return g.carelessly(file("file_read", path)) }
}
