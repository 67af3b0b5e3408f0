package policy

import "strings"

// runsCode reports whether what a file says makes programs run later, in a call
// that no policy judges: when a person opens a shell, an editor or a directory,
// makes a commit, or pushes it.
func runsCode(abs string) bool {
	parts := strings.Split(strings.ToLower(slashed(abs)), "/")
	for i, part := range parts {
		if runsCodeIn(part) || i > 0 && runsCodeBelow(parts[i-1], part) {
			return true
		}
	}
	return runsCodeAs(parts[len(parts)-1])
}

// runsCodeIn names directories of which every file may: of version control,
// with its settings and hooks, of editors with their tasks, and of CI services.
func runsCodeIn(dir string) bool {
	switch dir {
	case ".git", ".hg", ".svn", ".jj", ".husky", ".githooks",
		".vscode", ".idea", ".zed", ".devcontainer",
		".circleci", ".buildkite":
		return true
	}
	return false
}

// runsCodeBelow names directories that only count below another.
func runsCodeBelow(parent, dir string) bool {
	switch parent + "/" + dir {
	case ".github/workflows", ".github/actions",
		".config/fish", ".config/git", ".config/systemd", ".config/autostart", ".config/environment.d",
		"library/launchagents":
		return true
	}
	return false
}

// runsCodeAs names files: profiles of shells and desktops, settings of tools
// that name programs, and what CI services and commits run.
func runsCodeAs(name string) bool {
	switch name {
	case ".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout",
		"profile.ps1", "microsoft.powershell_profile.ps1",
		".inputrc", ".xinitrc", ".xprofile", ".xsession", ".xsessionrc", ".pam_environment",
		".envrc", ".gitconfig", ".gitmodules", ".npmrc", ".yarnrc", ".yarnrc.yml", ".mcp.json",
		".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml",
		".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile", ".drone.yml", ".woodpecker.yml":
		return true
	}
	return false
}
