package policy

import "strings"

// builder judges build and test tools. They run what the repository says.
func (c *call) builder() bool {
	switch c.name {
	case "go":
		c.golang()
	case "cargo":
		c.cargo()
	case "npm", "pnpm", "yarn", "bun":
		c.node()
	case "npx", "pnpx", "bunx", "uvx", "pipx", "corepack":
		c.reach()
		c.hard("it fetches a program and runs it")
	case "make", "gmake", "cmake", "ninja", "meson", "just", "task", "rake", "gradle", "gradlew", "mvn", "sbt", "ant", "bazel", "buck2",
		"pytest", "tox", "nox", "jest", "vitest", "mocha", "tsc", "eslint", "prettier", "ruff", "black", "mypy", "pylint", "flake8",
		"isort", "rspec", "rubocop", "phpunit", "ctest", "dotnet", "swift", "xcodebuild", "zig", "mix", "rebar3", "stack", "cabal",
		"dune", "lein", "clj", "gcc", "g++", "clang", "clang++", "cc", "c++", "rustc", "rustfmt", "javac", "java", "kotlinc", "scalac",
		"golangci-lint", "staticcheck", "gopls", "shellcheck", "pre-commit", "tsx", "ts-node", "webpack", "vite", "esbuild", "turbo", "nx":
		c.repo(c.name + " runs code or settings of the repository")
		c.paths(c.args, false)
	default:
		return false
	}
	return true
}

func (c *call) subcommand() string {
	if rest := operands(c.args); len(rest) > 0 && rest[0].known {
		return rest[0].text
	}
	return ""
}

func (c *call) golang() {
	sub := c.subcommand()
	c.repo("go runs code or settings of the repository")
	if c.goOption("exec", "toolexec", "vettool", "overlay", "modfile", "compiler", "C") {
		c.hard("its options name programs to run or other directories")
	}
	for _, w := range c.args {
		if strings.Contains(w.text, "-ext") {
			c.hard("its options name programs to run") // -ldflags=-extld=…
		}
	}
	switch sub {
	case "build", "test", "vet", "list", "fmt", "fix":
		c.step.general = "go " + sub + " *"
	case "version", "help", "doc", "":
	case "env":
		if c.short("wu") {
			c.hard("go settings can name programs to run")
		}
	case "run", "generate", "tool":
		for _, w := range operands(c.args) {
			if strings.Contains(w.text, "@") {
				c.reach()
				c.hard("it fetches a program and runs it")
			}
		}
	case "get", "install", "mod", "work", "clean", "telemetry":
		if sub == "get" || sub == "install" || c.word("download", "tidy") {
			c.reach()
		}
		c.raise(Medium, "it changes modules or installed programs")
	default:
		c.hard("go " + sub + " is not known here")
	}
	c.paths(c.args, c.word("-o"))
}

// goOption reports a flag of the go command, written with one dash or two.
func (c *call) goOption(names ...string) bool {
	for _, w := range c.args {
		if !strings.HasPrefix(w.text, "-") {
			continue
		}
		flag, _, _ := strings.Cut(strings.TrimLeft(w.text, "-"), "=")
		for _, n := range names {
			if flag == n {
				return true
			}
		}
	}
	return false
}

func (c *call) cargo() {
	sub := c.subcommand()
	c.repo("cargo runs code of the repository")
	if c.long("config") {
		c.hard("its options name programs to run")
	}
	switch sub {
	case "build", "test", "check", "clippy":
		c.step.general = "cargo " + sub + " *"
	case "b", "t", "c", "run", "r", "fmt", "doc", "bench", "tree", "metadata", "nextest", "":
	case "install", "add", "remove", "update", "fetch", "vendor", "clean", "new", "init", "fix", "generate-lockfile":
		if !c.word("clean", "new", "init", "fix", "remove") {
			c.reach()
		}
		c.raise(Medium, "it changes dependencies or files")
	default:
		c.hard("cargo " + sub + " is not known here")
	}
	c.paths(c.args, false)
}

// node judges the package managers of JavaScript.
func (c *call) node() {
	sub := c.subcommand()
	c.repo(c.name + " runs scripts of the repository")
	if c.long("script-shell", "node-options", "prefix", "userconfig", "globalconfig") {
		c.hard("its options change what it runs")
	}
	switch sub {
	case "test", "t", "run", "run-script", "start", "build", "lint", "tst", "ls", "list", "why", "root", "prefix", "bin", "pkg", "help", "":
	case "outdated", "view", "info", "audit":
		c.reach()
	case "install", "i", "ci", "add", "update", "up", "upgrade", "uninstall", "remove", "rm", "dedupe", "prune", "rebuild", "link", "pack", "cache":
		c.reach()
		c.raise(Medium, "it installs packages, which run scripts")
	default:
		c.reach()
		c.hard(c.name + " " + sub + " fetches and runs programs or changes an account")
	}
	c.paths(c.args, false)
}

// installer judges package managers.
func (c *call) installer() bool {
	switch c.name {
	case "pip", "pip3", "uv", "poetry", "pdm", "rye", "conda", "mamba", "gem", "bundle", "bundler", "composer", "luarocks", "cpan", "cpanm",
		"opam", "nix", "nix-env", "brew", "apt", "apt-get", "dpkg", "dnf", "yum", "rpm", "pacman", "apk", "zypper", "snap", "flatpak",
		"port", "choco", "winget", "scoop", "asdf", "mise", "nvm", "rustup", "rbenv", "pyenv", "volta":
	default:
		return false
	}
	c.raise(Medium, "it installs packages, which run scripts")
	switch c.subcommand() {
	case "list", "show", "freeze", "check", "info", "":
	case "exec", "run", "shell", "tool", "tools", "x", "develop":
		c.reach()
		c.hard("it runs another program")
	default:
		c.reach()
	}
	c.paths(c.args, false)
	return true
}

// interpreter judges the languages' own programs: code on the command line is
// never granted for a session, a script of the repository is its code.
func (c *call) interpreter() bool {
	inline, module := "", ""
	switch base := strings.TrimRight(c.name, "0123456789."); base {
	case "python", "pypy":
		inline, module = "c", "m"
	case "node", "deno":
		inline = "epr"
	case "ruby":
		inline = "er"
	case "perl":
		inline = "eEnpMmI"
	case "php":
		inline = "rBREd"
	case "lua", "luajit":
		inline = "el"
	case "Rscript", "R", "julia", "elixir", "erl", "ghci", "runghc", "groovy", "scala", "swipl", "tclsh", "wish", "guile", "racket", "sbcl", "clojure", "ocaml", "pwsh":
		inline = "eEc"
	default:
		return false
	}
	c.repo("it runs code of the repository")
	switch {
	case len(c.args) == 1 && c.word("--version", "-V", "-v", "--help", "-h"):
		return true
	case c.inlineCode(inline):
		c.hard("it runs code given on the command line")
	case module != "" && c.word("-"+module):
		c.raise(Medium, "it runs a module")
		if c.word("pip", "ensurepip") {
			c.reach()
		}
	case len(operands(c.args)) == 0 || c.word("-") || !c.allKnown():
		c.hard("it runs code known only when it runs")
	case strings.HasPrefix(c.name, "deno"):
		c.hard("deno runs code from files or the network")
	}
	c.paths(c.args, false)
	return true
}

// inlineCode reports an option that brings code, or a long one, before the first
// operand.
func (c *call) inlineCode(letters string) bool {
	for _, w := range c.args {
		switch {
		case !w.known:
			return true
		case !strings.HasPrefix(w.text, "-"):
			return false
		case strings.HasPrefix(w.text, "--") || strings.ContainsAny(w.text[1:], letters):
			return true
		}
	}
	return false
}
