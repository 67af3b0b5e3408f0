package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// systemPlaces are what programs need to start and to run. They stay readable
// also where a forbidden path covers them.
func systemPlaces() []string {
	return []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
		"/opt", "/nix", "/snap", "/gnu/store", "/home/linuxbrew/.linuxbrew",
		"/run/current-system", "/run/opengl-driver", "/var/lib/snapd/snap",
		"/sys/devices/system", "/sys/fs/cgroup",
	}
}

// etcPlaces are the files of /etc that are no secret and that programs need.
// Everything else there stays out of sight.
func etcPlaces() []string {
	names := []string{
		"ld.so.cache", "ld.so.conf", "ld.so.conf.d", "passwd", "group", "nsswitch.conf", "hosts", "host.conf", "hostname",
		"resolv.conf", "gai.conf", "protocols", "services", "localtime", "timezone", "locale.conf", "default/locale",
		"os-release", "lsb-release", "debian_version", "redhat-release", "alpine-release", "system-release",
		"alternatives", "ssl/certs", "ssl/openssl.cnf", "ssl/cert.pem", "pki/tls/certs", "pki/tls/cert.pem", "pki/tls/openssl.cnf",
		"pki/ca-trust/extracted", "pki/java", "ca-certificates", "crypto-policies", "gitconfig", "gitattributes",
		"profile", "profile.d", "bash.bashrc", "bashrc", "inputrc", "shells", "terminfo", "login.defs",
		"mime.types", "magic", "magic.mime", "fonts", "java", "maven", "gradle", "perl", "python3", "php", "R", "lua", "static",
	}
	for i, n := range names {
		names[i] = "/etc/" + n
	}
	versions, _ := filepath.Glob("/etc/java-*-openjdk") // the pattern is a good one
	return append(names, versions...)
}

// homePlaces are the toolchains people keep in their home directory, below it,
// and git's settings. None of them is where credentials are kept.
func homePlaces() []string {
	return []string{
		".gitconfig", ".gitignore", ".gitignore_global", ".gitattributes", ".config/git/config", ".config/git/ignore", ".config/git/attributes",
		".config/go/env", ".editorconfig", ".hushlogin", ".tool-versions", ".nvmrc", ".python-version",
		".local/bin", ".local/lib", ".local/pipx", ".local/share/pipx", ".local/share/uv", ".local/share/mise", ".local/share/pnpm",
		".local/share/fnm", ".local/share/virtualenvs", ".local/share/rtx", "bin",
		".pyenv", ".virtualenvs", ".venvs", ".rye", ".conda", "miniconda3", "miniforge3", "mambaforge", "anaconda3",
		".nvm", ".fnm", ".volta", ".nodenv", ".n", ".bun", ".deno/bin", ".npm-global", ".yarn", ".config/yarn/global",
		".rustup", ".cargo/bin", ".cargo/env", ".cargo/registry", ".cargo/git", "go/bin", "go/pkg/mod", "sdk", ".goenv", ".gvm", ".gimme",
		".rbenv", ".rvm", ".gem/ruby", ".sdkman/candidates", ".jenv", ".jabba", ".m2/repository", ".m2/wrapper", ".gradle/wrapper", ".gradle/caches",
		".dotnet", ".nuget/packages", ".asdf", ".proto", ".tfenv", ".opam", ".ghcup", ".cabal/bin", ".stack/programs", ".elan", ".juliaup",
		".julia", ".swiftly", ".nix-profile", ".linuxbrew", ".composer/vendor",
	}
}

// devices are the device files every program may count on.
func devices() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
}

// toolchains returns what is installed outside the session's directories: the
// system, the toolchains in the home directory and every directory of PATH.
// Those below a directory in not are left out: a command could have put
// anything there.
func toolchains(home string, path []string, not []string) []string {
	list := systemPlaces()
	if home == "" || home == "/" {
		return append(list, pathDirs(home, path, not)...)
	}
	for _, name := range homePlaces() {
		if p := filepath.Join(home, name); !withinAny(p, not) {
			list = append(list, p)
		}
	}
	return append(list, pathDirs(home, path, not)...)
}

// pathDirs returns the directories of PATH, but for those that are too wide to
// be a place of programs only.
func pathDirs(home string, path []string, not []string) []string {
	var list []string
	for _, dir := range path {
		if !filepath.IsAbs(dir) || within(home, filepath.Clean(dir)) || withinAny(filepath.Clean(dir), not) {
			continue
		}
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || withinAny(real, not) || within(home, real) || strings.Count(real, "/") < 2 {
			continue
		}
		list = append(list, dir)
	}
	return list
}

// goEnv reads the settings that `go env -w` keeps in the home directory.
func goEnv(home string) map[string]string {
	settings := make(map[string]string)
	data, err := os.ReadFile(filepath.Join(home, ".config/go/env"))
	if err != nil {
		return settings
	}
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			settings[name] = value
		}
	}
	return settings
}
