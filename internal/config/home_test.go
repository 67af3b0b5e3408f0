package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFindHome(t *testing.T) {
	user := t.TempDir()
	tests := []struct {
		name, flag, env, home, want string
	}{
		{"flag first", filepath.Join(user, "f"), filepath.Join(user, "e"), user, filepath.Join(user, "f")},
		{"variable", "", filepath.Join(user, "e"), user, filepath.Join(user, "e")},
		{"tilde", "", "~/e", user, filepath.Join(user, "e")},
		{"default", "", "", user, filepath.Join(user, ".grapnel")},
		{"unknown", "", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			vars := map[string]string{HomeEnv: tt.env, "HOME": tt.home}
			got, err := FindHome(tt.flag, func(name string) string { return vars[name] })
			if string(got) != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
		})
	}
}

func TestFindHomeMakesAbsolute(t *testing.T) {
	t.Chdir(t.TempDir())
	got, err := FindHome("rel", os.Getenv)
	if err != nil || !filepath.IsAbs(string(got)) || filepath.Base(string(got)) != "rel" {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestPaths(t *testing.T) {
	home := write(t, "data_dir = '../store'\n[agents.a]\nworkspace = 'mine'\n[agents.b]\n")
	c, err := Load(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	base := string(home)
	for got, want := range map[string]string{
		c.DataPath():         filepath.Join(filepath.Dir(base), "store"),
		c.StorePath():        filepath.Join(filepath.Dir(base), "store", "sessions.db"),
		c.WorkspacePath("a"): filepath.Join(base, "mine"),
		c.WorkspacePath("b"): filepath.Join(base, "agents", "b", "workspace"),
		home.Run():           filepath.Join(base, "run"),
		home.Skills():        filepath.Join(base, "skills"),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestCreateOnAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Home(file).Create(); err == nil {
		t.Error("a file passes for the configuration directory")
	}
}
