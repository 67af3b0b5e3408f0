package policy

import "testing"

func TestRunsCode(t *testing.T) {
	for path, want := range map[string]bool{
		"/w/.git":                         true,
		"/w/.git/hooks/pre-commit":        true,
		"/w/sub/.GIT/config":              true,
		`C:\w\.git\config`:                true,
		"/home/u/.bashrc":                 true,
		"/home/u/.Profile":                true,
		"/home/u/.config/fish/a.fish":     true,
		"/home/u/.config/app/a.toml":      false,
		"/w/.envrc":                       true,
		"/w/.vscode/tasks.json":           true,
		"/w/.github/workflows/ci.yml":     true,
		"/w/.github/CODEOWNERS":           false,
		"/w/github/workflows/ci.yml":      false,
		"/w/.gitlab-ci.yml":               true,
		"/w/Jenkinsfile":                  true,
		"/w/.gitignore":                   false,
		"/w/src/.bashrc.go":               false,
		"/w/profile":                      false,
		"/w/package.json":                 false,
		"/w/Makefile":                     false,
		"/u/Library/LaunchAgents/a.plist": true,
		"":                                false,
	} {
		if got := runsCode(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
