package tool

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/printable"
)

type git struct{}

type gitArgs struct {
	ignored
	Args []string `json:"args"`
}

func (git) Spec() Spec {
	return Spec{
		Name: "git",
		Description: "Reads the repository: status, log, diff, show, branch --list, blame, ls-files or rev-parse. " +
			"For anything else use shell.",
		Schema: jsontext.Value(`{
			"type": "object",
			"properties": {
				"args": {
					"type": "array",
					"items": {"type": "string"},
					"minItems": 1,
					"description": "the subcommand and its arguments, like [\"log\", \"--oneline\", \"-n\", \"20\"]"
				}
			},
			"required": ["args"],
			"additionalProperties": false
		}`),
		Kind: KindExecute,
	}
}

func (g git) Prepare(_ context.Context, env *Env, input jsontext.Value) (*Call, error) {
	var args gitArgs
	if err := decode(input, &args); err != nil {
		return nil, err
	}
	if len(args.Args) > 0 && args.Args[0] == "git" {
		args.Args = args.Args[1:]
	}
	if err := checkGit(args.Args); err != nil {
		return nil, err
	}
	t, err := env.resolveDir("")
	if err != nil {
		return nil, err
	}
	cmd := command{argv: gitCommand(args.Args), env: gitEnv(), timeout: env.limits().Timeout, quiet: true, confine: Confinement{ReadOnly: true}}
	call := env.commandCall(g.Spec(), t, cmd)
	call.Title = commandTitle("git " + strings.Join(args.Args, " "))
	call.Subject.Argv = append([]string{"git"}, args.Args...)
	for _, arg := range args.Args[1:] {
		if outward(arg) {
			call.Subject.Paths = append(call.Subject.Paths, env.look(arg, env.Cwd))
		}
	}
	return call, nil
}

// gitReads are the subcommands that only read.
func gitReads() []string {
	return []string{"status", "log", "diff", "show", "branch", "blame", "ls-files", "rev-parse"}
}

// gitRefused are options that write a file, run a program or read files that
// are not the repository's. Git also takes them shortened.
func gitRefused() []string {
	return []string{
		"--output", "--ext-diff", "--textconv", "--no-index", "--show-signature", "--help",
		"--contents", "--exclude-from", "--ignore-revs-file", "--parseopt", "--sq-quote",
	}
}

// checkGit allows what reads. Errors are for the model.
func checkGit(args []string) error {
	if len(args) == 0 {
		return errors.New(`the argument "args" is missing; it starts with the subcommand`)
	}
	if !slices.Contains(gitReads(), args[0]) {
		return fmt.Errorf("git %s is not one of %s; use shell for it", printable.Clip(args[0], 40), strings.Join(gitReads(), ", "))
	}
	for _, arg := range args {
		if strings.ContainsRune(arg, 0) {
			return errors.New("an argument holds a NUL byte")
		}
	}
	for _, arg := range args[1:] {
		if arg == "--" {
			break
		}
		if refusedOption(arg) {
			return fmt.Errorf("git %s %s does more than read the repository; use shell for it", args[0], printable.Clip(arg, 40))
		}
	}
	if args[0] == "branch" {
		return checkBranch(args[1:])
	}
	return nil
}

// refusedOption also finds the shortened forms of refused options.
func refusedOption(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	if !strings.HasPrefix(name, "--") || name == "--" || name == "--text" {
		return false
	}
	return slices.ContainsFunc(gitRefused(), func(r string) bool { return strings.HasPrefix(r, name) })
}

// checkBranch allows the forms of git branch that list.
func checkBranch(args []string) error {
	list := slices.Contains(args, "--list") || slices.Contains(args, "-l")
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		switch name {
		case "--list", "-l", "-a", "--all", "-r", "--remotes", "-v", "-vv", "--verbose", "--show-current",
			"--contains", "--no-contains", "--merged", "--no-merged", "--points-at", "--sort", "--format", "--no-color", "-i", "--ignore-case":
			continue
		}
		if strings.HasPrefix(arg, "-") || !list {
			return fmt.Errorf("git branch %s does more than list; add --list, or use shell for it", printable.Clip(arg, 40))
		}
	}
	return nil
}

// outward reports whether an argument could be a path out of the repository.
func outward(arg string) bool {
	return filepath.IsAbs(arg) || slices.Contains(strings.Split(filepath.ToSlash(arg), "/"), "..")
}

// gitCommand adds what keeps a repository's own configuration from running
// programs. Filters of attributes remain; policy counts with them.
func gitCommand(args []string) []string {
	argv := []string{"git", "--no-pager"}
	for _, setting := range []string{
		"core.fsmonitor=false", "core.hooksPath=" + noPath, "log.showSignature=false", "diff.external=",
		"gpg.program=" + noPath, "gpg.ssh.program=" + noPath, "gpg.x509.program=" + noPath,
		"diff.ignoreSubmodules=dirty", "color.ui=false",
	} {
		argv = append(argv, "-c", setting)
	}
	argv = append(argv, args[0])
	switch args[0] {
	case "log", "diff", "show":
		argv = append(argv, "--no-ext-diff", "--no-textconv")
	case "blame":
		argv = append(argv, "--no-textconv")
	}
	return append(argv, args[1:]...)
}

// noPath names no program and no directory.
const noPath = "/dev/null"

// gitEnv keeps git from asking, locking, fetching and paging.
func gitEnv() []string {
	return []string{
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_PAGER=cat", "GIT_EXTERNAL_DIFF=", "GIT_ASKPASS=", "SSH_ASKPASS=",
	}
}
