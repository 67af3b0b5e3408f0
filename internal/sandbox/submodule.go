package sandbox

import (
	"bytes"
	"encoding/binary"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// git in a working tree looks into every repository that the index names as a
// submodule, and runs what the settings there say. A command can write the
// index, and a repository in its place. So those are compared too.

const (
	// maxModules bounds the submodules that are looked at.
	maxModules = 1000
	// maxIndex is the largest index that is read, in bytes.
	maxIndex = 256 << 20
)

// modules returns the settings of the repositories that the index of the working
// tree at dir names, and those of theirs, by their paths in the tree.
func modules(root *os.Root, dir string) map[string]map[string]setting {
	found := make(map[string]map[string]setting)
	for todo := []string{"."}; len(todo) > 0; todo = todo[1:] {
		for _, link := range gitlinks(filepath.Join(dir, filepath.FromSlash(todo[0]))) {
			name := path.Join(todo[0], link)
			if _, seen := found[name]; seen || len(found) >= maxModules {
				continue
			}
			found[name] = moduleSettings(root, path.Join(name, ".git"))
			todo = append(todo, name)
		}
	}
	return found
}

// moduleSettings is what makes git run programs in a repository, with where it
// is; nil where there is none.
func moduleSettings(root *os.Root, dot string) map[string]setting {
	return gitTree{dir: dot}.look(root)
}

// putBackModules undoes changes to the repositories of submodules. One that is
// new is put aside, unless its settings are those that git itself writes.
func (t gitTree) putBackModules(root *os.Root) (changed []string, errs []error) {
	now := modules(root, t.root)
	for _, name := range slices.Sorted(maps.Keys(now)) {
		dot := path.Join(name, ".git")
		was, known := t.modules[name]
		is := now[name]
		switch {
		case known && maps.Equal(was, is) || len(is) == 0 || t.harmless(name, is):
		case len(was) == 0:
			changed = append(changed, dot)
			errs = append(errs, replace(root, dot, setting{}, false, true))
		default:
			m := gitTree{root: t.root, dir: dot, before: was}
			list, err := m.putBack(root)
			changed, errs = append(changed, list...), append(errs, err)
		}
	}
	return changed, errs
}

// harmless reports a submodule whose repository runs nothing, or lies where
// settings are compared already.
func (t gitTree) harmless(name string, is map[string]setting) bool {
	dot := path.Join(name, ".git")
	if pointer := is[dot]; pointer.mode.IsRegular() {
		return t.ownModule(name, pointer.data)
	}
	for file, s := range is {
		switch rest := strings.TrimPrefix(file, dot); {
		case rest == "" || rest == "/hooks":
			if !s.mode.IsDir() {
				return false
			}
		case rest == "/config":
			if !s.mode.IsRegular() || !plainSettings(s.data) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// ownModule reports a pointer into the modules of the tree's own repository.
func (t gitTree) ownModule(name, pointer string) bool {
	line, _, _ := strings.Cut(pointer, "\n")
	to, ok := strings.CutPrefix(line, "gitdir:")
	if !ok {
		return false
	}
	to = from(filepath.Join(t.root, filepath.FromSlash(name)), strings.TrimSpace(to))
	real, err := filepath.EvalSymlinks(to)
	return err == nil && slices.ContainsFunc(gitDirs(t.root), func(dir string) bool {
		return real == to && within(real, filepath.Join(dir, "modules"))
	})
}

// plainSettings reports settings as git init, clone and remote write them. What
// is not understood is not plain.
func plainSettings(text string) bool {
	section := ""
	for line := range strings.Lines(text) {
		line = strings.ToLower(strings.TrimSpace(line))
		name, _, _ := strings.Cut(line, "=")
		switch {
		case line == "":
		case strings.ContainsAny(line, "\\\r\x00"):
			return false
		case line[0] == '[' && line[len(line)-1] == ']' && strings.Count(line, "]") == 1:
			section, _, _ = strings.Cut(line[1:len(line)-1], " ")
		case !slices.Contains(plainNames(section), strings.TrimSpace(name)):
			return false
		}
	}
	return true
}

func plainNames(section string) []string {
	switch section {
	case "core":
		return []string{"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks", "autocrlf", "eol"}
	case "user":
		return []string{"name", "email"}
	case "remote":
		return []string{"url", "fetch", "pushurl"}
	case "branch":
		return []string{"remote", "merge", "rebase"}
	}
	return nil
}

// gitlinks returns the paths that the index of the working tree at dir names as
// submodules.
func gitlinks(dir string) []string {
	repository := filepath.Join(dir, ".git")
	if info, err := os.Lstat(repository); err != nil || !info.IsDir() {
		to, ok := strings.CutPrefix(firstLine(repository), "gitdir:")
		if !ok {
			return nil
		}
		repository = from(dir, strings.TrimSpace(to))
	}
	files, _ := filepath.Glob(filepath.Join(escapePattern(repository), "sharedindex.*")) // the pattern is a good one
	var links []string
	for _, file := range append(files, filepath.Join(repository, "index")) {
		info, err := os.Lstat(file)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxIndex {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for _, hash := range []int{20, 32} { // of SHA-1 and SHA-256
			links = append(links, indexLinks(data, hash)...)
		}
	}
	return slices.DeleteFunc(links, func(name string) bool { return !filepath.IsLocal(filepath.FromSlash(name)) })
}

func escapePattern(name string) string {
	if filepath.Separator == '\\' {
		return name // has no escapes there
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

// gitlinkMode is the mode of an index entry that is a submodule.
const gitlinkMode = 0o160000

// indexLinks reads a git index (gitformat-index, versions 2 to 4) with hashes of
// that many bytes as far as it makes sense.
func indexLinks(data []byte, hash int) []string {
	if len(data) < 12 || string(data[:4]) != "DIRC" {
		return nil
	}
	version := binary.BigEndian.Uint32(data[4:])
	left := binary.BigEndian.Uint32(data[8:])
	var links []string
	name := ""
	for pos := 12; left > 0 && pos+42+hash < len(data); left-- {
		start := pos
		mode := binary.BigEndian.Uint32(data[pos+24:])
		extended := data[pos+40+hash]&0x40 != 0
		if pos += 42 + hash; version >= 3 && extended {
			pos += 2
		}
		prefix := ""
		if version == 4 {
			drop, n := indexOffset(data[min(pos, len(data)):])
			if n == 0 || drop > len(name) {
				return links
			}
			pos += n
			prefix = name[:len(name)-drop]
		}
		if pos >= len(data) {
			return links
		}
		end := bytes.IndexByte(data[pos:], 0)
		if end < 0 {
			return links
		}
		name = prefix + string(data[pos:pos+end])
		if mode == gitlinkMode && name != "" {
			links = append(links, name)
		}
		if pos += end + 1; version < 4 {
			pos = start + (pos-1-start+8)&^7 // entries are padded with 1 to 8 NULs
		}
	}
	return links
}

// indexOffset reads a number in the encoding of pack offsets; n is its length, 0
// when it is none.
func indexOffset(data []byte) (value, n int) {
	for n < len(data) && n < 5 {
		b := data[n]
		n++
		value = value<<7 | int(b&0x7f)
		if b&0x80 == 0 {
			return value, n
		}
		value++
	}
	return 0, 0
}
