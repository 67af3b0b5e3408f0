package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// environ returns env with temporary files and caches where a confined command
// can write. Variables that are set to something already keep it, but TMPDIR.
func (b *Box) environ(st Status, w Want, env []string) ([]string, error) {
	if w.Everything {
		return env, nil
	}
	tmp, err := b.temp()
	if err != nil {
		return nil, fmt.Errorf("a directory for the command's temporary files could not be made: %w", err)
	}
	if st.Rung == Bubblewrap {
		tmp = "/tmp"
	}
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "TMPDIR=") })
	env = append(env, "TMPDIR="+tmp)
	if b.session.Cache == "" || os.MkdirAll(b.session.Cache, 0o700) != nil {
		return env, nil // it works without, slower
	}
	for _, kv := range caches(b.session.Cache, b.ladder.opts.Home, w.Network, env) {
		name, _, _ := strings.Cut(kv, "=")
		if _, set := lookup(env, name); !set {
			env = append(env, kv)
		}
	}
	return env, nil
}

// caches are the variables by which build tools find their caches. Those of the
// user are read where they are.
func caches(dir, home string, network bool, env []string) []string {
	at := func(name, sub string) string { return name + "=" + filepath.Join(dir, sub) }
	list := []string{
		at("XDG_CACHE_HOME", "xdg"), at("GOCACHE", "go-build"), at("npm_config_cache", "npm"), at("PIP_CACHE_DIR", "pip"),
		at("UV_CACHE_DIR", "uv"), at("YARN_CACHE_FOLDER", "yarn"), at("CCACHE_DIR", "ccache"), at("STATICCHECK_CACHE", "staticcheck"),
		at("GOLANGCI_LINT_CACHE", "golangci-lint"), at("PRE_COMMIT_HOME", "pre-commit"),
		"npm_config_update_notifier=false",
	}
	if modules := filepath.Join(dir, "go-mod"); network || exists(filepath.Join(modules, "cache")) {
		list = append(list, goModules(modules, home, env)...)
	}
	return list
}

// goModules has go keep modules in a directory of the agent's own, where what
// the user has downloaded is found before the network is asked. That costs go
// a copy, so the user's directory is used as it is, unwritable, until the agent
// has fetched something.
func goModules(dir, home string, env []string) []string {
	settings := goEnv(home)
	value := func(name, fallback string) string {
		if v, ok := lookup(env, name); ok {
			return v
		}
		if v := settings[name]; v != "" {
			return v
		}
		return fallback
	}
	gopath, _, _ := strings.Cut(value("GOPATH", filepath.Join(home, "go")), string(os.PathListSeparator))
	downloads := filepath.Join(value("GOMODCACHE", filepath.Join(gopath, "pkg/mod")), "cache/download")
	proxy := value("GOPROXY", "https://proxy.golang.org,direct")
	return []string{
		"GOMODCACHE=" + dir,
		"GOPROXY=file://" + downloads + "," + proxy,
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func lookup(env []string, name string) (string, bool) {
	for _, kv := range slices.Backward(env) {
		if n, v, ok := strings.Cut(kv, "="); ok && n == name {
			return v, true
		}
	}
	return "", false
}
