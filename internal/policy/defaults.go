package policy

// DefaultAllowedCommands are the commands that flow without configuration: they
// read, or are of low risk unless an argument says otherwise.
func DefaultAllowedCommands() []string {
	return []string{
		"git", "ls", "cat", "head", "tail", "wc", "grep", "egrep", "fgrep", "rg", "find", "fd", "tree", "file", "stat", "du", "df",
		"diff", "cmp", "comm", "sort", "uniq", "cut", "tr", "nl", "rev", "tac", "column", "fold", "fmt", "paste", "join", "sed", "awk",
		"jq", "pwd", "echo", "printf", "basename", "dirname", "realpath", "readlink", "which", "type", "date", "uname", "id", "whoami",
		"env", "printenv", "nproc", "uptime", "seq", "sleep", "expr", "md5sum", "sha1sum", "sha256sum", "cksum", "strings", "od",
		"hexdump", "xxd", "base64", "go", "cargo", "npm", "pnpm", "yarn", "make", "pytest", "tsc", "eslint", "ruff", "mypy",
	}
}

// DefaultAutoApprove are the tools that flow without configuration.
func DefaultAutoApprove() []string {
	return []string{"file_read", "list_dir", "glob_search", "content_search", "todo", "ask_user", "escalate_to_human"}
}

// DefaultForbidden are the paths no tool touches without configuration, with ~
// for the home directory.
func DefaultForbidden() []string {
	return []string{
		"/etc", "/root", "/boot", "/proc", "/sys", "/dev", "/var/run", "/run",
		"~/.ssh", "~/.gnupg", "~/.aws", "~/.azure", "~/.config/gcloud", "~/.config/gh", "~/.kube", "~/.docker", "~/.netrc",
		"~/.npmrc", "~/.pypirc", "~/.cargo/credentials.toml", "~/.git-credentials", "~/.password-store", "~/.local/share/keyrings",
		"~/Library/Keychains", "~/.bash_history", "~/.zsh_history",
	}
}
