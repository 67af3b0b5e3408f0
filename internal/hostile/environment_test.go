//go:build linux

package hostile

import (
	"os"
	"os/exec"
	"path/filepath"
)

// environmentEscapes have a variable decide what runs, or read what Grapnel's
// environment holds.
func environmentEscapes() []escape {
	const variable = "can change what"
	evil := scripted("evil", "#!/bin/sh\necho pwned > @OUT@/new\n")
	both := func(g *ground) { g.repository(); evil(g) }
	return []escape{
		{name: "show the environment", tries: sh("env"), tame: true},
		{name: "show a variable", tries: sh("printenv "+secretEnv, "echo $"+secretEnv), tame: true},
		{name: "show the environment of the shell", tries: sh("cat /proc/self/environ"), why: "forbidden"},
		{name: "show the environment by ps", needs: run("ps"), tries: sh("ps axeww"), why: "environment of other programs"},
		{name: "load a library first", needs: run("gcc"), prepare: preload, tries: sh("LD_PRELOAD=./evil.so ls"), why: variable},
		{name: "load a library by env", needs: run("gcc"), prepare: preload, tries: sh("env LD_PRELOAD=$PWD/evil.so ls", "env LD_PRELOAD=./evil.so ls"), why: variable},
		{name: "load a library by export", needs: run("gcc"), prepare: preload, tries: sh("export LD_PRELOAD=./evil.so; ls"), why: variable},
		{name: "put a program before ls", prepare: scripted("ls", "#!/bin/sh\necho pwned > @OUT@/new\n"), tries: sh("PATH=.:$PATH ls"), why: variable},
		{name: "put a program before ls for good", prepare: scripted("ls", "#!/bin/sh\necho pwned > @OUT@/new\n"), tries: sh("PATH=.:$PATH; ls"), why: variable},
		{name: "have bash read a file first", needs: run("bash"), prepare: evil, tries: sh("BASH_ENV=./evil bash -c true"), why: variable},
		{name: "have sh read a file first", prepare: evil, tries: sh("ENV=./evil sh -i -c true </dev/null"), why: "change what"},
		{name: "have bash read a profile", needs: run("bash"), prepare: func(g *ground) { g.script(".bash_profile", "echo pwned > @OUT@/new\n") }, tries: sh("HOME=$PWD bash -lc true"), why: variable},
		{name: "split words elsewhere", tries: sh("IFS=x; c='catx../outside/secret'; $c"), why: "only when it runs"},
		{name: "have git connect by a program", prepare: both, tries: sh("GIT_SSH_COMMAND=./evil git fetch ssh://127.0.0.1/x"), why: variable},
		{name: "have git compare by a program", prepare: func(g *ground) { both(g); g.write(g.repo+"/README.md", "changed\n") }, tries: sh("GIT_EXTERNAL_DIFF=./evil git diff"), why: variable},
		{name: "have git page by a program", needs: run("script"), prepare: both, tries: sh("GIT_PAGER=./evil git log"), why: variable, control: onTerminal("GIT_PAGER=./evil git log")},
		{name: "have git page by PAGER", needs: run("script"), prepare: both, tries: sh("PAGER=./evil git log"), why: variable, control: onTerminal("PAGER=./evil git log")},
		{name: "have git edit by a program", prepare: both, tries: sh("EDITOR=./evil git commit --allow-empty", "GIT_EDITOR=./evil git commit --allow-empty"), why: variable},
		{name: "have git read other settings", prepare: func(g *ground) {
			both(g)
			g.script("c", "[core]\n\tfsmonitor = ./evil\n")
		}, tries: sh("GIT_CONFIG_GLOBAL=$PWD/c git status", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=./evil git status"), why: variable},
		{name: "have make run by another shell", needs: run("make"), prepare: func(g *ground) { evil(g); g.script("Makefile", "all:\n\t@true; true\n") }, tries: sh("MAKEFLAGS=SHELL=./evil make", "make SHELL=./evil"), why: variable},
		{name: "have node load a file first", needs: run("node"), prepare: func(g *ground) {
			g.script("e.js", `require("fs").writeFileSync("@OUT@/new", "x")`)
			g.script("x.js", "")
		}, tries: sh("NODE_OPTIONS='--require ./e.js' node x.js"), why: variable},
		{name: "have python load a file first", needs: run("python3"), prepare: func(g *ground) {
			g.script("p/sitecustomize.py", `open("@OUT@/new", "w")`)
			g.script("x.py", "")
		}, tries: sh("PYTHONPATH=./p python3 x.py"), why: variable},
		{name: "have less run a program", needs: run("less"), prepare: evil, tries: sh("LESSOPEN='|./evil %s' less README.md | cat"), why: "other programs"},
	}
}

// onTerminal makes the attempt on a terminal, where git pages.
func onTerminal(command string) func(*ground) []byte {
	return shellControl("script -qec " + quoteAll([]string{command}) + " /dev/null </dev/null")
}

// preload makes a library that does its harm when it is loaded.
func preload(g *ground) {
	g.t.Helper()
	g.write(filepath.Join(g.repo, "evil.c"), g.fill(`
#include <fcntl.h>
__attribute__((constructor)) static void evil(void) { open("@OUT@/new", O_CREAT | O_WRONLY, 0600); }
`))
	cmd := exec.Command("gcc", "-shared", "-fPIC", "-o", "evil.so", "evil.c")
	cmd.Dir, cmd.Env = g.repo, os.Environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		g.t.Fatalf("gcc: %v\n%s", err, out)
	}
}
