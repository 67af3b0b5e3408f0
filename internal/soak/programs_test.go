//go:build linux

package soak

import "strings"

// simple is one program with arguments.
func (g *grammar) simple() string {
	switch g.IntN(36) {
	case 34:
		return g.edit()
	case 0, 1, 2:
		return "cat " + g.options("-n", "-A", "-", "-s", "--", "-E") + g.words(3)
	case 3, 4:
		return "ls " + g.options("-l", "-a", "-R", "-L", "-d", "-la", "--color=always", "--recursive", "-H", "-i", "-1", "--dereference", "-lR") + g.words(2)
	case 5, 6:
		return "grep " + g.options("-n", "-r", "-R", "-i", "-e a", "-f "+g.word(), "-f"+g.inside(), "--file="+g.outside(), "-v", "-c", "-l", "--include=*.go", "-E", "-P", "-rn", "--exclude-from="+g.outside(), "-A 1", "-z", "-o", "--color") + g.one("a", "'.'", "-", g.word()) + " " + g.words(3)
	case 7:
		return g.one("head", "tail") + " " + g.options("-n 1", "-c 3", "-n"+g.word(), "-1", "-q", "-v", "--lines=2", "-n +2", "--pid=1") + g.words(2)
	case 8, 9:
		return "find " + g.options("-L", "-H", "-P", "-O3", "-D -name", "-D tree") + g.words(2) + " " + g.findTests()
	case 10, 11:
		return "sed " + g.sed() + " " + g.words(2) + g.one("", "", "", " -- -l", " -- -e p a", " -l -- -e 'w ../outside/new' a")
	case 12, 13:
		return "awk " + g.awk() + " " + g.words(2) + g.one("", "", "", " -l", " -- -l")
	case 14:
		return "sort " + g.options("-u", "-n", "-r", "-k 1", "-o "+g.word(), "-o"+g.inside(), "--output="+g.outside(), "-T ../outside", "-T.", "--compress-program=./evil", "--files0-from=list0", "-m", "-c", "-R", "--random-source="+g.outside(), "-S 1", "--parallel=1", "--temp=..", "-t a", "-uo"+g.outside(), "--batch-size=2", "--debug") + g.words(2)
	case 15:
		return g.one("uniq", "comm", "cmp", "diff") + " " + g.options("-c", "-d", "-u", "-1", "-i", "-r", "-q", "-s", "-N", "-y", "--from-file="+g.word(), "--to-file=a", "-x a", "-X "+g.word(), "-l", "--recursive", "-12", "--line-format=%l", "-z", "--ignore-file-name-case", "--output-delimiter=a", "-D", "--suppress-common-lines") + g.words(3)
	case 16:
		return "wc " + g.options("-l", "-c", "--files0-from=list0", "-L", "--files0-from=-", "-w", "--total=always") + g.words(2)
	case 17:
		return "jq " + g.options("-r", "-n", "-c", "-R", "-s", "-f "+g.word(), "--from-file a", "--rawfile x "+g.word(), "--slurpfile x "+g.outside(), "--arg x y", "--args", "-L ..", "--argfile x "+g.word(), "-e", "--tab", "-S", "--seq", "--stream", "-nf"+g.outside(), "--library-path ..") +
			g.one(".", "'.a'", "'.a.b[]'", "-n", "'include \"x\"; .'", "'import \"a\" as x; .'", "input", "'inputs'", "env", "'$ENV'", "input_filename", "'$__loc__'", "'[.,1]|tojson'", "'input_line_number'", "'getpath([\"a\"])'", g.word()) + " " + g.words(2)
	case 18:
		return "printf " + g.one("'%s\\n'", "%d", "'\\x41'", "-v x", "%b", "'%q'", "'%n'", "'%(%s)T'", "%s", "-- %s") + " " + g.words(3)
	case 19, 20:
		return "echo " + g.options("-n", "-e", "-E", "--") + g.words(3)
	case 21:
		return "date " + g.one("", "+%s", "-d yesterday", "-f "+g.word(), "-r "+g.word(), "-u", "--reference="+g.outside(), "-R", "--file="+g.inside(), "-s 0", "-I", "'+%Y %m'", "--date=@0", "--debug -d now", "01010000", "-uf"+g.outside(), "-d a -f list")
	case 22:
		return g.one("stat", "file", "readlink", "realpath", "du", "df", "basename", "dirname", "nl") + " " +
			g.options("-L", "-f", "-c %n", "-a", "-s", "-h", "-e", "-m "+g.word(), "-C", "--files-from="+g.word(), "-z", "-k", "--files0-from=list0", "-b", "--printf=%n", "-x", "-D", "-H", "-l", "-P", "--exclude-from="+g.outside(), "-X "+g.outside(), "-d 1", "--relative-to="+g.outside(), "-i", "--magic-file a", "-S", "-p", "--suffix=a", "-0") + g.words(3)
	case 23:
		return "tr " + g.options("-d", "-s", "-c", "-t") + g.one("a b", "'a-z' 'A-Z'", "[:lower:] [:upper:]", g.word()+" "+g.word())
	case 24:
		return "cut " + g.options("-d, ", "-f1", "-c1-3", "-d "+g.word(), "-b1", "--output-delimiter=a", "-s", "-z") + "-f1 " + g.words(2)
	case 25:
		return g.one("pwd", "true", "false", "whoami", "uname -a", ":", "test "+g.test(), "[ "+g.test()+" ]", "pwd -P", "true > "+g.word(), "uname", "wait", "exit", "umask 0", "set -e", "set -x", "shift", "return", "unset x", "read x", "read -r x y", "hash", "type ls", "command -V ls", "times", "jobs", "ulimit -a", "trap", "trap - EXIT", "set -- "+g.words(2), "set -f", "set +f", "set", "export", "readonly x", "local x", "export LANG=C", "getopts a x", "kill -l", "umask", "break")
	case 26:
		return "which " + g.options("-a") + g.words(2)
	case 27:
		return "cd " + g.one(g.word(), "src", "src/sub", "-", "", "-P src", "-L in", "in", "src/up", "out", "..", "--", "src && cd ..", "./src", "$x")
	case 28:
		return g.one("xargs ", "xargs -n 1 ", "xargs -0 ", "xargs -I{} ", "xargs -a list ", "xargs -r ", "xargs -d, ", "xargs -E x ") + g.one("echo", "cat", "ls", "wc", "echo {}", "printf %s", "grep a", "head {}", "test", "true", "basename", "sort", "uniq", "tr a")
	case 29:
		return g.one("rm", "mv", "cp", "mkdir", "touch", "ln -s", "tee", "chmod 600", "git status", "git diff", "tar tf", "tar cf", "./evil", "ls.sh", "sh sh.sh", ". ./sh.sh", "evil", "python3 -c 1", "perl -e 1", "env", "less", "vi", "id", "install", "truncate -s 0", "tree", "rg a", "dd of=a", "bash -c "+g.spelled(g.word0()), "sh -c 'cat a'", "sh -c 'cat ../outside/a'", "source sh.sh", "alias ls=cat", "shuf", "split", "csplit", "tac", "rev", "paste", "join", "od", "xxd", "base64", "md5sum", "strings", "expand", "fold", "fmt", "column", "seq 3", "expr 1 + 1", "sleep 0", "ps", "hostname", "sum", "cksum", "nproc", "tty") + " " + g.words(2)
	case 30:
		return "ls " + g.words(3)
	case 31:
		return g.spelled(g.one("ls", "cat", "pwd", "echo", "./ls", "src/grep", "/bin/ls", "/usr/bin/cat", "/usr/bin/../bin/cat", "../outside/evil", "out/evil")) + " " + g.words(2)
	case 32:
		return "tail " + g.options("-f", "-F", "--follow", "--retry", "-n1") + g.inside()
	}
	return g.one("awk", "sed", "find", "grep", "sort", "jq", "cat", "ls", "echo", "printf", "test", "cd", "tr", "diff", "du", "stat", "file", "uniq", "date", "wc", "tail") + " " + g.words(4)
}

// edit is a program that changes files, and mostly only those inside.
func (g *grammar) edit() string {
	return g.one("cp", "mv", "rm", "mkdir", "touch", "rmdir", "ln", "tee", "truncate -s 0", "install", "sed -i s/a/b/", "sort -o b.txt", "chmod 600", "gofmt -w", "patch", "split", "dos2unix", "unlink") + " " +
		g.options("-r", "-f", "-p", "-s", "-L", "-P", "-a", "-v", "-n", "-T", "-t src", "-t"+g.outside(), "--target-directory="+g.outside(), "-S ../x", "--suffix=/../../outside/new", "-b", "-i", "-d", "-D", "--parents", "--backup", "-u", "-l", "-x", "-R", "--reference="+g.outside(), "-H", "-o "+g.word(), "--", "-m 700", "--attributes-only", "-c") +
		g.word() + " " + g.one(g.inside(), g.word(), "", "new", "src")
}

// options are none, one or two of a list.
func (g *grammar) options(list ...string) string {
	s := ""
	for g.chance(3) {
		s += g.one(list...) + " "
	}
	return s
}

func (g *grammar) findTests() string {
	s := ""
	for !g.chance(3) {
		s += " " + g.one("-name '*.go'", "-name a", "-type f", "-print", "-maxdepth 2", "-newer "+g.word(), "-path './a*'", "-size +0", "-print0", "-ls", "-printf '%p\\n'", "-o", "!", "\\( -name a \\)", "-prune", "-follow",
			"-exec cat {} ';'", "-exec ./evil {} +", "-execdir ls ';'", "-ok ls ';'", "-delete", "-fprint "+g.word(), "-fls "+g.word(), "-fprintf "+g.outside()+" x", "-fprint0 new", "-files0-from list0", "-lname a", "-samefile "+g.word(), "-regex '.*'", "-quit", "-xdev", "-empty", "-depth", "-perm 600", "-user 0", "-mtime 1", "-not -name a", "-name "+g.word(), "-newermt 2020-01-01", "-anewer a", "-inum 1", "-links 1", "-fstype tmpfs", "-d", "-exec", "-iname "+g.glob(), "-mindepth 1", "-true", ",", "-D search", "-context a", "-okdir ls", "-ilname x", "-used 1")
	}
	return s
}

// sed is a sed script with its options.
func (g *grammar) sed() string {
	var parts []string
	for len(parts) == 0 || g.chance(3) {
		parts = append(parts, g.one("", "1", "$", "/a/", "1,2", "/a/,/b/", "\\,a,", "2!", "1~2", "/[/]/", "\\aaa", "0,/a/", "/a/I", "1,+1", "//")+
			g.one("p", "d", "s/a/b/", "s/a/b/g", "s|a|b|", "s/a/b/w "+g.outside(), "s/.*/cat ..\\/outside\\/a/e", "e cat ../outside/a", "e", "w "+g.outside(), "r "+g.outside(), "R ../outside/a", "W ../outside/new", "y/a/b/", "=", "q", "Q1", "n", "N;P;D", "h;G", "x", "l", "z", "F", "b", "b x;: x", "t", "T", ": x", "a\\\nx", "a x", "i\\", "c y", "{p;p}", "{p", "}", "s/a/b/;w ../outside/new", "s/[/]/e/", "s/a/\\\n/", "s/a/b/pe", "sxaxbxe", "s/\\//x/", "#n", "# comment\np", "v", "m x", "s/a/b/ge", "s\\a\\b\\", "y/\\n/x/", "s,a,b,w ../outside/new", "s/a/b/M", "s/a/b/2", "a\\", "$!d", "b;w ../outside/new", "r/dev/stdin", "s/x/\\e/", "s/a/&&/", "0~3p", "e;", "se a e e", "s a b ", "s/a/b\\/e"))
	}
	script := strings.Join(parts, g.one(";", "\n", "; ", " ;", "\n\n"))
	return g.options("-n", "-E", "-r", "-s", "-u", "-z", "-i", "-i.bak", "-f script.sed", "-fscript.sed", "--in-place", "--posix", "--sandbox", "-e p", "-ne", "--expression=p", "--file=script.sed", "-l 5", "--debug", "-Enf script.sed", "--follow-symlinks", "-e", "--expr", "--null-data", "-nf"+g.inside(), "-b") + g.spelled(script)
}

// awk is an awk program with its options.
func (g *grammar) awk() string {
	program := g.one("", "NR==1", "/a/", "BEGIN", "END", "$1 == \"a\"", "NR<3 || NR>5", "a ~ /b/", "/a/,/b/", "BEGINFILE") +
		g.one("{print}", "{print $1}", "{print $0 > \"../outside/new\"}", "{print | \"cat\"}", "{system(\"cat ../outside/a\")}", "{getline x < \"../outside/a\"; print x}", "{\"cat ../outside/a\" | getline; print}", "{ARGV[1]=\"../outside/a\"; ARGC=2}", "{printf \"%s\\n\", $1}", "{print length}", "{a[$1]++} END{for(k in a) print k}", "{print > $1}", "{print >> \"a\"}", "{x = $1 > 2; print x}", "{nextfile}", "{close(\"a\")}", "{print toupper($0)}", "{@include \"x\"}", "{f=\"system\"; @f(\"id\")}", "{gsub(/a/, \"b\"); print}", "{print ENVIRON[\"HOME\"]}", "{exit}", "{print substr($0,1,2)}", "{srand(); print rand()}", "{FS=\":\"}", "{print -1 \" \" -1}", "{print \"|\"}", "{print /[/]/}", "function f(x) {return x}", "{\nprint\n}", "{RS=\"\"}", "{print FILENAME}", "{FILENAME=\"../outside/a\"}", "{while((getline line) > 0) print line}", "{print$1}", "{sys\\\ntem(\"cat ../outside/a\")}", "{fflush()}", "{print length() \"\" ; next}")
	return g.options("-F:", "-F ,", "-v x=1", "-v x="+g.word(), "-f prog.awk", "-fprog.awk", "--", "-W exec prog.awk", "-We", "--version", "-v FS=a", "-vARGV=1", "-F", "-v", "--file=prog.awk", "-f/dev/stdin", "--exec prog.awk", "-E prog.awk", "-i inplace", "-l x", "--include=x", "-Winteractive", "-Wdump") + g.spelled(program)
}
