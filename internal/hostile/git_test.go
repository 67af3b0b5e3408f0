//go:build linux

package hostile

// gitEscapes have git run programs, which its options and the settings of a
// repository can name.
func gitEscapes() []escape {
	const options, settings = "run", "settings of the repository can run programs"
	evil := scripted("evil", "#!/bin/sh\necho pwned > @OUT@/new\n")
	repo := func(more ...func(*ground)) func(*ground) {
		return func(g *ground) {
			g.repository()
			evil(g)
			for _, m := range more {
				m(g)
			}
		}
	}
	configured := func(args ...string) func(*ground) {
		return repo(func(g *ground) { g.git(append([]string{"config"}, args...)...) }, changed)
	}
	list := []escape{
		{name: "git -c core.pager", needs: run("script"), prepare: repo(), tries: sh("git -c core.pager=./evil log"), why: options, control: onTerminal("git -c core.pager=./evil log")},
		{name: "git -c core.sshCommand", prepare: repo(), tries: sh("git -c core.sshCommand=./evil fetch ssh://127.0.0.1/x"), why: options},
		{name: "git -c alias", prepare: repo(), tries: sh("git -c alias.x='!./evil' x </dev/null"), why: options},
		{name: "git -c diff.external", prepare: repo(changed), tries: sh("git -c diff.external=./evil diff"), why: options},
		{name: "git --exec-path", prepare: repo(func(g *ground) { g.script("git-x", "#!/bin/sh\necho pwned > @OUT@/new\n") }), tries: sh("git --exec-path=$PWD x"), why: options},
		{name: "git --git-dir", prepare: configured("alias.st", "!./evil"), tries: sh("cp -r .git other; git --git-dir=other st </dev/null"), why: options},
		{name: "git alias of the repository", prepare: configured("alias.st", "!./evil"), tries: sh("git st </dev/null"), why: "alias"},
		{name: "git config names a program", prepare: repo(), tries: sh("git config core.fsmonitor ./evil && git status"), why: options},
		{name: "git config for the user", prepare: repo(), tries: sh("git config --global core.fsmonitor /bin/x"), why: options},
		{name: "git log writes", prepare: repo(), tries: sh("git log --output=../outside/new"), why: "outside"},
		{name: "git diff reads outside", prepare: repo(), tries: sh("git diff --no-index ../outside/secret README.md"), why: "outside"},
		{name: "git grep pages by a program", prepare: repo(), tries: sh("git grep -O./evil repository"), why: options},
		{name: "git rebase runs", prepare: repo(func(g *ground) { g.git("commit", "-q", "--allow-empty", "-m", "second") }), tries: sh("git rebase -x ./evil HEAD~1 </dev/null"), why: options},
		{name: "git bisect runs", prepare: repo(func(g *ground) { g.git("commit", "-q", "--allow-empty", "-m", "second") }), tries: sh("git bisect start HEAD HEAD~1; git bisect run ./evil </dev/null"), why: options},
		{name: "git clone by a program", prepare: repo(), tries: sh("git -c protocol.ext.allow=always clone 'ext::./evil' x"), why: options},
		{name: "git archive writes", prepare: repo(), tries: sh("git archive -o ../outside/new.tar HEAD"), why: options},
		{name: "git worktree outside", prepare: repo(), tries: sh("git worktree add ../outside/tree"), why: "outside"},
		{name: "git elsewhere", prepare: repo(), tries: sh("git -C ../outside init"), why: "outside"},
		{name: "git hash-object reads outside", prepare: repo(), tries: sh("git cat-file -p $(git hash-object -w ../outside/secret)"), why: "outside"},
		{name: "git blame reads outside", prepare: repo(), tries: sh("git blame --contents ../outside/secret README.md"), why: "outside"},
		{name: "git status runs the monitor", prepare: configured("core.fsmonitor", "./evil"), tries: sh("git status"), why: settings},
		{name: "git status runs a filter", prepare: filtered, tries: sh("git status", "git diff"), why: settings},
		{name: "git diff converts by a program", prepare: converted, tries: sh("git diff"), why: settings},
		{name: "git diff compares by a program", prepare: configured("diff.external", "./evil"), tries: sh("git diff"), why: settings + "|cannot create"},
		{name: "git log pages by a program", needs: run("script"), prepare: configured("core.pager", "./evil"), tries: sh("git log"), why: settings, control: onTerminal("git log")},
		{name: "git commit runs a hook", prepare: hooked("pre-commit"), tries: sh("git commit --allow-empty -m x"), why: "changes the repository"},
		{name: "git checkout runs a hook", prepare: hooked("post-checkout"), tries: sh("git checkout -b x"), why: "changes the repository"},
		{name: "git hooks elsewhere", prepare: configured("core.hooksPath", "src"), tries: sh("cp evil src/post-checkout; git checkout -b x"), why: "changes"},
		{name: "git add runs a filter", prepare: filtered, tries: sh("git add -A"), why: "changes the repository"},
	}
	tool := func(args ...string) []try { return []try{call("git", object{"args": args})} }
	return append(list,
		escape{name: "the git tool runs the monitor", prepare: configured("core.fsmonitor", "./evil"), tries: tool("status"), why: settings},
		escape{name: "the git tool runs a filter", prepare: filtered, tries: tool("status"), why: settings},
		escape{name: "the git tool converts by a program", prepare: converted, tries: tool("diff"), why: settings},
		escape{name: "the git tool compares by a program", prepare: configured("diff.external", "./evil"), tries: tool("diff"), why: settings},
		escape{name: "the git tool compares by options", prepare: configured("diff.external", "./evil"), tries: tool("diff", "--ext-diff"), why: "more than read"},
		escape{name: "the git tool writes", prepare: repo(), tries: tool("log", "--output=../outside/new"), why: "more than read"},
		escape{name: "the git tool writes by a short name", prepare: repo(), tries: tool("log", "--outp=../outside/new"), why: "more than read", control: shellControl("git log --output=../outside/new")},
		escape{name: "the git tool reads outside", prepare: repo(), tries: tool("diff", "--no-index", "../outside/secret", "README.md"), why: "more than read"},
		escape{name: "the git tool reads by blame", prepare: repo(), tries: tool("blame", "--contents", "../outside/secret", "README.md"), why: "more than read"},
		escape{name: "the git tool commits", prepare: hooked("pre-commit"), tries: tool("commit", "--allow-empty", "-m", "x"), why: "is not one of"},
		escape{name: "the git tool takes settings", prepare: repo(), tries: tool("-c", "alias.x=!./evil", "x"), why: "is not one of"},
	)
}

// changed changes a file that git follows.
func changed(g *ground) { g.write(g.repo+"/README.md", "# changed\n") }

// filtered has the repository filter its files by a program.
func filtered(g *ground) {
	g.repository()
	g.script("evil", "#!/bin/sh\necho pwned > @OUT@/new\ncat\n")
	g.git("config", "filter.f.clean", "./evil")
	g.write(g.repo+"/.gitattributes", "*.md filter=f\n")
	g.write(g.repo+"/README.md", "# A REPOSITORY\n") // as long as it was, so that git has to look
}

// converted has the repository convert its files to text by a program.
func converted(g *ground) {
	g.repository()
	g.script("evil", "#!/bin/sh\necho pwned > @OUT@/new\ncat \"$1\"\n")
	g.git("config", "diff.f.textconv", "./evil")
	g.write(g.repo+"/.gitattributes", "*.md diff=f\n")
	changed(g)
}

func hooked(hook string) func(*ground) {
	return func(g *ground) {
		g.repository()
		g.script(".git/hooks/"+hook, "#!/bin/sh\necho pwned > @OUT@/new\n")
	}
}
