package docs

import (
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	link    = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.*)$`)
	address = regexp.MustCompile("https?://[^\\s)'\"`>\\]]+")
	// absolute finds absolute paths.
	absolute = regexp.MustCompile("(?m)(?:^|[\\s`'\"(=])(/[a-z]+)/")
)

// hosts are where documents may lead.
var hosts = []string{
	"github.com", "agentclientprotocol.com", "keepachangelog.com", "semver.org", "127.0.0.1", "example.com", "chat.example.com",
}

// places are where absolute paths of documents may begin.
var places = []string{"/home", "/etc", "/proc", "/sys", "/private", "/boot", "/grapnel"} // the last is an example of a URL's

// TestLinksLeadSomewhere follows every link, headings included.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, p := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(withoutBlocks(p), -1) {
			u, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: %v", p.name, err)
				continue
			}
			if u.IsAbs() {
				continue // TestAddresses
			}
			target := p.name
			if u.Path != "" {
				target = path.Join(path.Dir(p.name), u.Path)
			}
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(target)))
			if info, statErr := os.Stat(filepath.Join(root, filepath.FromSlash(target))); statErr == nil && info.IsDir() {
				err = nil
			}
			switch {
			case err != nil:
				t.Errorf("%s links to %s, which is not there", p.name, m[1])
			case u.Fragment != "" && !slices.Contains(anchors(string(text)), u.Fragment):
				t.Errorf("%s links to %s: no heading of that name", p.name, m[1])
			}
		}
	}
}

// withoutBlocks is a page without its fenced blocks.
func withoutBlocks(p page) string {
	text := p.text
	for _, b := range p.blocks {
		text = strings.Replace(text, b.text, "", 1)
	}
	return text
}

// anchors are the names of a page's headings, as GitHub makes them.
func anchors(text string) []string {
	var names []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		names = append(names, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1]))
	}
	return names
}

// TestAddresses keeps addresses to places that are known, and paths to those
// every reader has.
func TestAddresses(t *testing.T) {
	for _, p := range pages(t) {
		for _, a := range address.FindAllString(p.text, -1) {
			u, err := url.Parse(a)
			if err != nil || !slices.Contains(hosts, u.Hostname()) {
				t.Errorf("%s leads to %s, whose host is not known here", p.name, a)
			}
		}
		for _, m := range absolute.FindAllStringSubmatch(p.text, -1) {
			if !slices.Contains(places, m[1]) {
				t.Errorf("%s names a path below %s, which readers do not have", p.name, m[1])
			}
		}
	}
}

// TestWords keeps out words that speak of how the project is made, and not of
// the project.
func TestWords(t *testing.T) {
	unwanted := regexp.MustCompile(`(?i)\b(helpers?|issues?|todo:|fixme|tbd|coming soon)\b`)
	for _, p := range pages(t) {
		for n, line := range strings.Split(p.text, "\n") {
			if found := unwanted.FindString(line); found != "" {
				t.Errorf("%s:%d: %q", p.name, n+1, found)
			}
		}
	}
}

// codePath finds what looks like a path of the repository in a code span.
var codePath = regexp.MustCompile("`((?:acp|cmd|docs|internal|interop|scripts)/[\\w./*-]*)`")

// TestPathsExist looks up every file and package that the documents name.
func TestPathsExist(t *testing.T) {
	for _, p := range pages(t) {
		for _, m := range codePath.FindAllStringSubmatch(p.text, -1) {
			if found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which is not there", p.name, m[1])
			}
		}
	}
}

// message finds the messages that troubleshooting explains.
var message = regexp.MustCompile("(?m)^### `(.*)`$")

// TestMessagesAreReal looks for each message that troubleshooting explains in
// the code, piece by piece. What differs from case to case is written … there.
func TestMessagesAreReal(t *testing.T) {
	source := sources(t)
	text, err := os.ReadFile(filepath.Join(root, "docs", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	messages := message.FindAllStringSubmatch(string(text), -1)
	if len(messages) < 20 {
		t.Errorf("only %d messages found: is the test looking right?", len(messages))
	}
	for _, m := range messages {
		for _, part := range regexp.MustCompile("…|: |; ").Split(m[1], -1) {
			if part = strings.Trim(part, " :;,()."); part != "" && !strings.Contains(source, part) {
				t.Errorf("no code says %q, of %q", part, m[1])
			}
		}
	}
}

// sources is the code of the program, tests left out, as it stands in strings.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, dir := range []string{"acp", "cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := os.ReadFile(name)
			all.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return strings.ReplaceAll(all.String(), `\"`, `"`)
}
