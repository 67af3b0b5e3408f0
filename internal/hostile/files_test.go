//go:build linux

package hostile

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// readEscapes read what is outside.
func readEscapes() []escape {
	const outside = "outside"
	return []escape{
		{name: "read by dot-dot", tries: file("file_read", "../outside/secret"), why: outside},
		{name: "read by an absolute path", tries: file("file_read", "@OUT@/secret"), why: outside},
		{name: "read a file by a URL", tries: file("file_read", "file://@OUT@/secret"), why: "does not exist"},
		{name: "read through dots that go up and down", tries: file("file_read", "src/../src/../../outside/secret"), why: outside},
		{name: "read through a link", prepare: linked("@OUT@/secret", "l"), tries: file("file_read", "l"), why: outside},
		{name: "read through a relative link", prepare: linked("../../outside/secret", "src/l"), tries: file("file_read", "src/l"), why: outside},
		{name: "read through a linked directory", prepare: linked("@OUT@", "a/b/l"), tries: file("file_read", "a/b/l/secret"), why: outside},
		{
			name: "read through links that lead to links", tries: file("file_read", "l1"), why: outside,
			prepare: func(g *ground) { g.link("l2", "l1"); g.link("src/l3", "l2"); g.link("@OUT@/secret", "src/l3") },
		},
		{name: "read behind a link and dot-dot", prepare: linked("@OUT@/dir", "l"), tries: file("file_read", "l/../secret"), why: ".."},
		{name: "read the environment in /proc", tries: file("file_read", "/proc/self/environ"), why: "forbidden|outside", control: environControl},
		{name: "read through /proc/self/root", tries: file("file_read", "/proc/self/root@OUT@/secret"), why: "forbidden|outside"},
		{name: "read through a link to /proc/self/root", prepare: linked("/proc/self/root", "l"), tries: file("file_read", "l@OUT@/secret"), why: "forbidden|outside"},
		{
			name: "read through a descriptor in /proc", tries: file("file_read", "/proc/@SELF@/fd/@FD@"), why: "forbidden|outside",
			prepare: func(g *ground) { g.openSecret() },
		},
		{
			name: "read through /proc of another process", tries: file("file_read", "/proc/@VICTIM@/environ"), why: "forbidden|outside",
		},
		{name: "read a FIFO", prepare: fifo("pipe"), tries: file("file_read", "pipe"), why: "not a regular file"},
		{name: "read a device through a link", prepare: linked("/dev/zero", "l"), tries: file("file_read", "l"), why: outside},
		{name: "read the users of the system", tries: file("file_read", "/etc/passwd"), why: "forbidden|outside"},
		{name: "read the users through a link", prepare: linked("/etc/passwd", "l"), tries: file("file_read", "l"), why: "forbidden|outside"},
		{name: "read a key of ssh", tries: file("file_read", "@HOME@/.ssh/id_rsa"), why: "forbidden|outside"},
		{name: "read a key of ssh by tilde", tries: file("file_read", "~/.ssh/id_rsa"), why: "~"},
		{name: "read credentials of a cloud", tries: file("file_read", "@HOME@/.aws/credentials"), why: "forbidden|outside"},
		{name: "read a file of the home", tries: file("file_read", "../../home/notes.txt"), why: outside},
		{name: "list outside", tries: file("list_dir", "../outside/dir"), why: outside},
		{name: "list through a link", prepare: linked("@OUT@/dir", "l"), tries: file("list_dir", "l"), why: outside},
		{name: "find names outside", tries: []try{call("glob_search", object{"pattern": "../outside/dir/*"})}, tame: true},
		{name: "find names outside by an absolute pattern", tries: []try{call("glob_search", object{"pattern": "@OUT@/dir/*"})}, why: "outside"},
		{name: "find names through a link", prepare: linked("@OUT@/dir", "l"), tries: []try{call("glob_search", object{"pattern": "l/*"})}, tame: true},
		{name: "search outside", tries: []try{call("content_search", object{"pattern": "SEKRE", "path": "../outside"})}, why: outside},
		{name: "search through a link", prepare: linked("@OUT@", "l"), tries: []try{call("content_search", object{"pattern": "SEKRE", "path": "."})}, tame: true},
		{name: "search below a link", prepare: linked("@OUT@", "l"), tries: []try{call("content_search", object{"pattern": "SEKRE", "path": "l"})}, why: outside},
		{name: "read while links are swapped", prepare: swapping("secret"), tries: many(30, file("file_read", "d/secret")), tame: true, control: untilHarm(file("file_read", "d/secret"))},
		{name: "list while links are swapped", prepare: swapping("dir/x"), tries: many(20, file("list_dir", "d/dir")), tame: true, control: untilHarm(file("file_read", "d/dir/zqmark"))},
		{name: "find while links are swapped", prepare: swapping("dir/x"), tries: many(20, []try{call("glob_search", object{"pattern": "d/**"})}), tame: true, control: untilHarm([]try{call("glob_search", object{"pattern": "d/dir/*"})})},
		{name: "search while links are swapped", prepare: swapping("secret"), tries: many(20, []try{call("content_search", object{"pattern": "SEKRE", "path": "d"})}), tame: true, control: untilHarm(file("file_read", "d/secret"))},
		{name: "deliver while links are swapped", prepare: swapping("secret"), tries: many(20, file("deliver_file", "d/secret")), tame: true, control: untilHarm(file("deliver_file", "d/secret"))},
	}
}

// writeEscapes write what is outside, or what makes others run programs. They
// are tried where edits happen unasked.
func writeEscapes() []escape {
	const outside = "outside"
	list := []escape{
		{name: "write by dot-dot", tries: write("../outside/new"), why: outside},
		{name: "write by an absolute path", tries: write("@OUT@/new"), why: outside},
		{name: "write into a directory with the same beginning", tries: write("@REPO@-evil/new"), why: outside, prepare: func(g *ground) {
			g.outside = g.repo + "-evil"
			g.write(filepath.Join(g.outside, "canary"), "alive\n")
		}},
		{name: "write through a dangling link", prepare: linked("@OUT@/new", "l"), tries: write("l"), why: "outside"},
		{name: "write through a relative dangling link", prepare: linked("../../outside/new", "src/l"), tries: write("src/l"), why: "outside"},
		{name: "write through a linked directory", prepare: linked("@OUT@", "d"), tries: write("d/new"), why: outside},
		{name: "write through a dangling link in the middle", prepare: linked("@OUT@/no", "d"), tries: write("d/new"), why: "outside", control: mkdirThenWrite},
		{name: "write over a file through a link", prepare: linked("@OUT@/canary", "l"), tries: write("l"), why: outside},
		{
			name: "edit through a link", prepare: linked("@OUT@/canary", "l"), why: outside,
			tries: []try{call("file_edit", object{"path": "l", "old_text": "alive", "new_text": "pwned"})},
		},
		{name: "write to a hard link", prepare: hardLinked("canary", "h"), tries: write("h"), tame: true},
		{
			name: "edit a hard link", prepare: hardLinked("canary", "h"), tame: true,
			tries: []try{call("file_edit", object{"path": "h", "old_text": "alive", "new_text": "pwned"})},
		},
		{name: "write to a FIFO", prepare: fifo("pipe"), tries: write("pipe"), why: "not a regular file"},
		{name: "write to a descriptor in /proc", tries: write("/proc/self/cwd/../outside/new"), why: "ambiguous", control: procWrite},
		{name: "write through /proc/self/root", tries: write("/proc/self/root@OUT@/new"), why: "forbidden|outside"},
		{name: "write a hook of git", prepare: (*ground).repository, tries: write(".git/hooks/pre-commit"), why: "can make later commands run other programs"},
		{name: "write a hook through a link", prepare: func(g *ground) { g.repository(); g.link(".git/hooks", "h") }, tries: write("h/pre-commit"), why: "can make later commands run other programs"},
		{
			name: "edit the settings of git", prepare: (*ground).repository, why: "can make later commands run other programs",
			tries: []try{call("file_edit", object{"path": ".git/config", "old_text": "[core]", "new_text": "[core]\n\tfsmonitor = ./evil"})},
		},
		{name: "write the keys that may log in", tries: write("@HOME@/.ssh/authorized_keys"), why: "forbidden|outside"},
		{name: "write the keys through a link", prepare: linked("@HOME@/.ssh", "d"), tries: write("d/authorized_keys"), why: "forbidden|outside"},
		{name: "write the profile of the shell", tries: write("@HOME@/.bashrc"), why: outside},
		{name: "write the profile by dot-dot", tries: write("../../home/.profile"), why: outside},
		{
			name: "edit while links are swapped", prepare: swapping("canary"), tame: true,
			tries:   many(20, []try{call("file_edit", object{"path": "d/canary", "old_text": "i", "new_text": "I"})}),
			control: untilHarm(write("d/canary")),
		},
		{name: "write while links are swapped", prepare: swapping("new"), tries: many(30, write("d/new")), tame: true, control: untilHarm(write("d/new"))},
	}
	for i := range list {
		list[i].accept = true
	}
	return list
}

// linked makes a link in the repository.
func linked(target, name string) func(*ground) {
	return func(g *ground) { g.link(target, name) }
}

func hardLinked(target, name string) func(*ground) {
	return func(g *ground) {
		g.t.Helper()
		if err := os.Link(filepath.Join(g.outside, target), filepath.Join(g.repo, name)); err != nil {
			g.t.Fatal(err)
		}
	}
}

func fifo(name string) func(*ground) {
	return func(g *ground) {
		g.t.Helper()
		if err := syscall.Mkfifo(filepath.Join(g.repo, name), 0o600); err != nil {
			g.t.Fatal(err)
		}
	}
}

// many repeats tries.
func many(n int, tries []try) []try {
	var all []try
	for range n {
		all = append(all, tries...)
	}
	return all
}

// swapping replaces the directory d by a link outside and back, until the
// escape has been tried. Both hold a file, of different contents.
func swapping(name string) func(*ground) {
	return func(g *ground) {
		g.write(filepath.Join(g.repo, "d", name), "inside\n")
		g.link("@OUT@", "e")
		d, e := filepath.Join(g.repo, "d"), filepath.Join(g.repo, "e")
		stop := make(chan struct{})
		var swapper sync.WaitGroup
		swapper.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = exchange(d, e)
				}
			}
		})
		g.t.Cleanup(func() {
			close(stop)
			swapper.Wait()
		})
	}
}

// untilHarm repeats careless tries until they have done harm.
func untilHarm(tries []try) func(*ground) []byte {
	return func(g *ground) []byte {
		var seen []byte
		for range 10_000 {
			seen = append(seen, g.carelessly(tries)...)
			if len(g.harm(seen)) > 0 {
				break
			}
		}
		return seen
	}
}

// mkdirThenWrite is an agent that makes the directory a link names.
func mkdirThenWrite(g *ground) []byte {
	_ = os.Mkdir(filepath.Join(g.outside, "no"), 0o700)
	return g.carelessly(write("d/new"))
}

// environControl has a process with Grapnel's environment read its own.
func environControl(g *ground) []byte {
	return g.carelessly(sh("cat /proc/self/environ"))
}

// procWrite has a process in the repository write through its link there.
func procWrite(g *ground) []byte {
	return g.carelessly(sh("echo pwned > /proc/self/cwd/../outside/new"))
}
