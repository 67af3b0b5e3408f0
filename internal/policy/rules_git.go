package policy

import (
	"slices"
	"strings"
)

// git judges a git command. Every one of them reads settings of the repository,
// which can name programs to run.
func (c *call) git() {
	args := c.gitGlobals()
	if len(args) == 0 {
		return
	}
	if !args[0].known {
		c.hard("which git command it runs is known only when it runs")
		return
	}
	sub := args[0].text
	outer := c.args
	c.args = args[1:]
	defer func() { c.args = outer }()
	plain := len(c.args) == len(outer)-1
	c.repo("git settings of the repository can run programs")
	if !c.allKnown() {
		c.hard("an argument is known only when it runs")
	}
	if c.long("upload-pack", "receive-pack", "exec", "open-files-in-pager", "ext-diff", "template", "extcmd") {
		c.hard("its options name programs to run")
	}
	if !c.gitReads(sub) && !c.gitLists(sub) && !c.gitWrites(sub) {
		c.hard("git " + sub + " may be an alias or run other programs")
	}
	if c.gitReaches(sub) {
		c.reach()
	}
	if !plain {
		c.step.general = ""
		c.step.plain = joinLoosely(append([]word{literal("git"), literal(sub)}, c.args...))
	}
	c.gitPaths(sub)
}

// gitGlobals skips the options before the subcommand and returns the rest.
func (c *call) gitGlobals() []word {
	for i := 0; i < len(c.args); i++ {
		switch w := c.args[i]; {
		case !w.known || !strings.HasPrefix(w.text, "-"):
			return c.args[i:]
		case w.text == "-C" && i+1 < len(c.args):
			i++
			c.path(c.args[i], false)
		case slices.Contains([]string{"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--version", "--help", "-v", "-h"}, w.text):
		default:
			c.hard("git " + w.text + " can name programs to run or another repository")
			if w.text == "-c" {
				i++
			}
		}
	}
	return nil
}

// gitPaths judges the arguments as paths, save for messages.
func (c *call) gitPaths(sub string) {
	message := slices.Contains([]string{"commit", "tag", "merge", "stash", "notes", "log", "grep", "config"}, sub)
	for i := 0; i < len(c.args); i++ {
		w := c.args[i]
		switch {
		case message && (w.text == "-m" || w.text == "--message" || w.text == "-am" || w.text == "-e" || w.text == "--grep" || w.text == "--author"):
			i++
		case message && (strings.HasPrefix(w.text, "-m") || strings.HasPrefix(w.text, "--message=") ||
			strings.HasPrefix(w.text, "--grep=") || strings.HasPrefix(w.text, "--author=")):
		case strings.Contains(w.text, "::"):
			c.hard("its address names a program to run")
		case sub == "grep" && i == 0 && !strings.HasPrefix(w.text, "-"):
		default:
			c.operand(w, false)
		}
	}
}

// gitReads judges the commands that only show.
func (c *call) gitReads(sub string) bool {
	switch sub {
	case "status", "log", "diff", "show", "blame", "annotate", "shortlog", "rev-parse", "rev-list", "ls-files", "ls-tree",
		"cat-file", "describe", "merge-base", "name-rev", "for-each-ref", "show-ref", "show-branch", "count-objects",
		"check-ignore", "check-attr", "cherry", "whatchanged", "range-diff", "diff-tree", "diff-index", "diff-files", "var",
		"grep", "version", "verify-pack", "fsck", "check-ref-format", "stripspace", "diff-pairs":
	default:
		return false
	}
	c.step.general = "git " + sub + " *"
	switch {
	case c.long("output"):
		c.hard("it writes a file")
	case c.long("textconv", "filters"):
		c.hard("it runs filter programs")
	case sub == "grep" && c.short("O"):
		c.hard("its options name programs to run")
	case sub == "fsck" && c.long("lost-found"):
		c.raise(Medium, "it writes files")
	}
	return true
}

// gitLists judges the commands that list or change, depending on arguments.
func (c *call) gitLists(sub string) bool {
	lists := false
	rest := operands(c.args)
	first := ""
	if len(rest) > 0 {
		first = rest[0].text
	}
	switch sub {
	case "branch":
		lists = len(rest) == 0 && !c.short("dDmMcCfut") && !c.long("delete", "move", "copy", "force", "set-upstream-to", "unset-upstream", "edit-description")
		if c.short("DMCf") || c.long("force") {
			c.hard("it can lose commits")
		}
	case "tag":
		lists = len(rest) == 0 && !c.short("dfasuFm") && !c.long("delete", "force") || c.short("l") && !c.short("dfasuFm") || c.word("--list")
		if c.short("df") || c.long("delete", "force") {
			c.hard("it can lose a tag")
		}
	case "remote":
		lists = len(rest) == 0 || first == "get-url"
	case "stash":
		lists = first == "list" || first == "show"
		if first == "drop" || first == "clear" {
			c.hard("it loses stashed work")
		}
	case "config":
		lists = c.word("--list", "-l", "list", "get", "--get", "--get-all", "--get-regexp", "--show-origin") && len(rest) < 3 &&
			!c.word("set", "unset", "edit", "-e", "--edit", "--unset", "--add", "--replace-all")
		if !lists {
			c.hard("git settings can name programs to run")
		}
	case "worktree", "notes", "bundle":
		lists = first == "list"
	case "reflog":
		lists = first == "" || first == "show"
		if !lists {
			c.hard("it can lose commits")
		}
	case "submodule":
		lists = first == "status" || first == "summary"
		if first == "foreach" {
			c.hard("it runs a command in every submodule")
		}
	case "symbolic-ref":
		lists = len(rest) == 1 && !c.short("dm")
	default:
		return false
	}
	if !lists {
		c.raise(Medium, "git "+sub+" changes the repository")
	}
	return true
}

// gitWrites judges the commands that change the repository, the files or a
// remote.
func (c *call) gitWrites(sub string) bool {
	switch sub {
	case "add", "commit", "checkout", "switch", "restore", "merge", "cherry-pick", "revert", "pull", "fetch", "push", "clone",
		"init", "mv", "rm", "apply", "am", "rebase", "gc", "prune", "repack", "archive", "format-patch", "sparse-checkout",
		"update-index", "update-ref", "bisect", "reset", "clean", "maintenance", "ls-remote", "read-tree", "write-tree",
		"commit-tree", "hash-object", "pack-refs", "rerere", "replace", "merge-tree", "mktree", "mktag", "commit-graph":
	default:
		return false
	}
	c.raise(Medium, "git "+sub+" changes the repository, its files or a remote")
	if reason := c.gitDanger(sub); reason != "" {
		c.hard(reason)
	}
	return true
}

// gitReaches reports the commands that talk to a remote.
func (c *call) gitReaches(sub string) bool {
	switch sub {
	case "push", "pull", "fetch", "clone", "ls-remote", "send-email", "lfs", "svn", "p4", "fetch-pack", "send-pack", "http-push", "imap-send":
		return true
	case "submodule":
		return c.word("update", "add", "init")
	case "remote":
		return c.word("update", "show", "prune", "set-head")
	case "archive":
		return c.long("remote")
	case "maintenance":
		return c.word("run", "start")
	}
	return false
}

// gitDanger returns why a form of a command loses work or runs programs.
func (c *call) gitDanger(sub string) string {
	switch sub {
	case "push":
		forced := slices.ContainsFunc(c.args, func(w word) bool {
			return strings.HasPrefix(w.text, "+") || strings.HasPrefix(w.text, ":")
		})
		if forced || c.short("fd") || c.long("force", "force-with-lease", "force-if-includes", "delete", "mirror", "prune") {
			return "it overwrites or deletes what others have on the remote"
		}
	case "reset":
		if c.long("hard", "merge", "keep") {
			return "it discards uncommitted work"
		}
	case "clean":
		if c.short("f") || c.long("force") {
			return "it deletes files git does not track"
		}
	case "checkout", "switch", "restore":
		if c.short("f") || c.long("force", "discard-changes") {
			return "it discards uncommitted work"
		}
	case "rebase":
		if c.short("xi") || c.long("interactive") {
			return "it runs commands between commits"
		}
	case "bisect":
		if c.word("run") {
			return "it runs a command on every step"
		}
	case "clone", "init":
		if c.short("cu") || c.long("config") {
			return "its options name programs to run"
		}
	case "archive":
		if c.short("o") || c.long("output", "remote") {
			return "it writes a file or runs programs"
		}
	case "gc", "prune", "update-ref", "replace":
		if c.short("d") || c.long("prune", "expire", "stdin", "delete") {
			return "it can lose commits"
		}
	case "rm":
		if c.short("rf") || c.long("force") {
			return "it deletes files"
		}
	}
	return ""
}
