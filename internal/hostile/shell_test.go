//go:build linux

package hostile

// shellEscapes use the shell's own grammar.
func shellEscapes() []escape {
	const outside = "outside"
	return []escape{
		{name: "print a file outside", tries: sh("cat ../outside/secret"), why: outside},
		{name: "print a link", prepare: linked("@OUT@/secret", "l"), tries: sh("cat l"), why: outside},
		{name: "print a key", tries: sh("cat ~/.ssh/id_rsa"), why: "forbidden"},
		{name: "print a key by HOME", tries: sh("cat ${HOME}/.ssh/id_rsa"), why: "forbidden"},
		{name: "print the users", tries: sh("cat /etc/passwd"), why: "forbidden"},
		{name: "print the users in pieces", tries: sh(`cat /et"c/pa"ss''wd`), why: "forbidden"},
		{name: "substitute a command", tries: sh(`echo "$(cat ../outside/secret)"`), why: outside},
		{name: "substitute a command's name", tries: sh(`$(printf 'ca%s' t) ../outside/secret`), why: "only when it runs"},
		{name: "substitute in backticks", tries: sh("echo `cat ../outside/secret`"), why: outside},
		{name: "substitute a process", needs: run("bash"), tries: sh("bash -c 'cat <(cat ../outside/secret)'"), why: outside},
		{name: "substitute a process that writes", needs: run("bash"), tries: sh("bash -c 'echo x > >(tee ../outside/new)'; sleep 0.1"), why: outside},
		{name: "substitute in a heredoc", tries: sh("cat <<E\n$(cat ../outside/secret)\nE"), why: outside},
		{name: "give a shell a heredoc", tries: sh("sh <<'E'\ncat ../outside/secret\nE"), why: "runs whatever it reads"},
		{name: "give a shell a pipe", tries: sh("echo 'cat ../outside/secret' | sh"), why: "runs whatever it reads"},
		{name: "give a shell what is coded", tries: sh("echo Y2F0IC4uL291dHNpZGUvc2VjcmV0 | base64 -d | sh"), why: "runs whatever it reads"},
		{name: "read by a variable", tries: sh("f=../outside/secret; cat $f"), why: "only when it runs"},
		{name: "run a variable", tries: sh("c='cat ../outside/secret'; $c"), why: "only when it runs"},
		{name: "give a shell a variable", tries: sh(`c='cat ../outside/secret'; sh -c "$c"`), why: "only when it runs"},
		{name: "evaluate text", tries: sh("eval 'cat ../outside/secret'"), why: "eval"},
		{name: "evaluate a variable", tries: sh(`x='cat ../outside/secret'; eval "$x"`), why: "eval"},
		{name: "shadow a command by a function", tries: sh("ls() { cat ../outside/secret; }; ls"), why: outside},
		{name: "shadow a command by an alias", tries: sh("alias ls='cat ../outside/secret'\nls"), why: "alias"},
		{name: "run at the end", tries: sh("trap 'cat ../outside/secret' EXIT"), why: "later"},
		{name: "run a file in the shell", prepare: scripted("e.sh", "cat ../outside/secret\n"), tries: sh(". ./e.sh"), why: "in this shell"},
		{name: "run in arithmetic", needs: run("bash"), tries: sh(`bash -c 'x="a[\$(cat ../outside/secret >&2)]"; echo $((x))'`), why: "arithmetic"},
		{name: "run in a test", needs: run("bash"), tries: sh(`bash -c 'test -v "a[\$(cat ../outside/secret >&2)]"'`), why: "variable"},
		{name: "run by an indirect expansion", needs: run("bash"), tries: sh(`bash -c 'x="a[\$(cat ../outside/secret >&2)]"; echo ${!x}'`), why: "indirect"},
		{name: "expand a pattern", tries: sh("cat ../outsid?/se[c]ret"), why: outside},
		{name: "expand a pattern through a link", prepare: linked("@OUT@", "l"), tries: sh("cat l/s*"), why: outside},
		{name: "expand a pattern to a link", prepare: linked("@OUT@/secret", "link-x"), tries: sh("cat link-*"), why: outside},
		{name: "expand braces", needs: run("bash"), tries: sh("bash -c 'cat ../{outside,x}/secret'"), why: "only when it runs"},
		{name: "expand a pattern for its names", tries: sh("echo ../outside/dir/*"), why: outside},
		{name: "expand a pattern in a loop", tries: sh(`for f in ../outside/dir/*; do echo "$f"; done`), why: outside},
		{name: "expand a pattern in a list", needs: run("bash"), tries: sh(`bash -c 'x=(../outside/dir/*); echo "${x[@]}"'`), why: outside},
		{name: "go elsewhere first", tries: sh("cd .. && cat outside/secret"), why: outside},
		{name: "go elsewhere by a variable", tries: sh("cd $HOME && cat notes.txt"), why: outside},
		{name: "go elsewhere by a link", prepare: linked("@OUT@", "l"), tries: sh("cd l && cat secret"), why: outside},
		{name: "go elsewhere in a loop", tries: sh("for i in 1 2; do cd ..; done; cat */outside/secret; cat */*/outside/secret"), why: outside},
		{name: "redirect outside", accept: true, tries: sh("echo x > ../outside/new"), why: outside},
		{name: "redirect through a dangling link", accept: true, prepare: linked("@OUT@/new", "l"), tries: sh("echo x > l"), why: outside},
		{name: "redirect into a profile", accept: true, tries: sh("echo evil >> ~/.bashrc"), why: outside},
		{name: "redirect into a hook", accept: true, prepare: (*ground).repository, tries: sh("echo evil > .git/hooks/pre-commit"), why: "run other programs"},
		{name: "redirect from outside", tries: sh("cat < ../outside/secret"), why: outside},
		{name: "redirect by a variable", accept: true, tries: sh("f=../outside/new; echo x > $f"), why: "only when it runs"},
		{name: "redirect by a descriptor", accept: true, tries: sh("exec 3> ../outside/new; echo x >&3"), why: outside},
		{name: "write what a link made meanwhile names", accept: true, tries: sh("ln -s @OUT@/new l && echo x > l"), why: outside},
		{name: "hide a command behind a quotation", tries: sh("echo $'\\'; cat ../outside/secret #'"), why: "other than bash", control: shellControl("echo $'\\'; cat ../outside/secret #'")},
	}
}

// scripted puts a program into the repository.
func scripted(name, text string) func(*ground) {
	return func(g *ground) { g.script(name, text) }
}

// programEscapes have programs do it that are harmless by their names.
func programEscapes() []escape {
	const runs = "run"
	evil := scripted("evil", "#!/bin/sh\necho pwned > @OUT@/new\n")
	return []escape{
		{name: "find and run", tries: sh("find . -name README.md -exec cp {} ../outside/new ';'"), why: "outside"},
		{name: "find and run a shell", tries: sh(`find . -name README.md -exec sh -c 'cat ../outside/secret' ';'`), why: "outside"},
		{name: "find and delete", tries: sh("find ../outside -name canary -delete"), why: "deletes what it finds"},
		{name: "find and write", tries: sh("find . -fprint ../outside/new"), why: "outside"},
		{name: "find through links", prepare: linked("@OUT@/dir", "l"), tries: sh("find -L . -name 'zq*'"), why: "links"},
		{name: "list through links", prepare: linked("@OUT@/dir", "l"), tries: sh("ls -LR ."), why: "links"},
		{name: "search through links", prepare: linked("@OUT@", "l"), tries: sh("grep -R SEKRE ."), why: "links"},
		{name: "compare through links", prepare: func(g *ground) {
			g.link("@OUT@", "a")
			g.write(g.repo+"/b/secret", "x\n")
			g.write(g.repo+"/c/a/secret", "x\n")
		}, tries: sh("diff -r . c"), why: "links"},
		{name: "search for a dash", tries: sh("grep -v - ../outside/secret"), why: "outside"},
		{name: "search behind two dashes", tries: sh("grep -v -- -x ../outside/secret"), why: "outside"},
		{name: "call a link like an option", prepare: linked("@OUT@/secret", "-l"), tries: sh("cat -- -l"), why: "outside"},
		{name: "find behind an option that takes a word", tries: sh("find -D -name ../outside/dir"), why: "outside|behind -D"},
		{name: "give many arguments", tries: sh("echo ../outside/secret | xargs cat"), why: "only when it runs"},
		{name: "read a list of names", prepare: func(g *ground) { g.write(g.repo+"/list", g.outside+"/secret") }, tries: sh("xargs cat < list"), why: "only when it runs"},
		{name: "delete outside", tries: sh("rm ../outside/canary"), why: "outside"},
		{name: "delete a tree outside", tries: sh("rm -rf ../outside"), why: "whole directories"},
		{name: "move from outside", tries: sh("mv ../outside/canary ."), why: "outside"},
		{name: "copy to outside", tries: sh("cp README.md ../outside/new"), why: "outside"},
		{name: "copy into a hook", prepare: func(g *ground) { g.repository(); evil(g) }, tries: sh("cp evil .git/hooks/pre-commit"), why: "run other programs"},
		{name: "change permissions outside", tries: sh("chmod 777 ../outside/canary"), why: "outside"},
		{name: "make a link and follow it", tries: sh("ln -s ../outside/secret l && cat l", "cat l"), why: "link"},
		{name: "make a hard link and write", tries: sh("ln ../outside/canary h && echo x > h"), why: "outside"},
		{name: "write by tee", accept: true, tries: sh("echo x | tee ../outside/new"), why: "outside"},
		{name: "copy blocks", tries: sh("dd if=../outside/secret"), why: "destroy"},
		{name: "have awk run", tries: sh(`awk 'BEGIN{system("cat ../outside/secret")}'`), why: runs},
		{name: "have awk read", tries: sh(`awk 'BEGIN{while((getline l < "../outside/secret")>0) print l}'`), why: runs},
		{name: "have awk write", tries: sh(`awk 'BEGIN{print "x" > "../outside/new"}'`), why: runs},
		{name: "have awk pipe", tries: sh(`awk 'BEGIN{print "cat ../outside/secret" | "sh"}'`), why: runs},
		{name: "have awk read what it sets", tries: sh(`awk 'BEGIN{ARGV[1]="../outside/secret"; ARGC=2} {print}'`), why: runs},
		{name: "have sed run", tries: sh("sed '1e cat ../outside/secret' README.md"), why: runs},
		{name: "have sed run what it found", prepare: func(g *ground) { g.write(g.repo+"/x", "cat ../outside/secret\n") }, tries: sh("sed 's/x/x/;s/$//e' x"), why: runs},
		{name: "have sed write", tries: sh("sed -n 'w ../outside/new' README.md"), why: runs},
		{name: "have sed read", tries: sh("sed 'r ../outside/secret' README.md"), why: runs},
		{name: "have sed run what stands before two dashes", tries: sh("sed '1e cat ../outside/secret' -- -e p README.md"), why: runs + "|known only"},
		{name: "have sed take dashes for a number", tries: sh("sed -l -- -e '1e cat ../outside/secret' README.md"), why: runs + "|unusual"},
		{name: "have awk read a link like an option", prepare: linked("@OUT@/secret", "-l"), tries: sh("awk '{print}' -l"), why: "outside"},
		{name: "have sort write", tries: sh("sort -o ../outside/new README.md"), why: "outside"},
		{name: "have sort read a list", prepare: func(g *ground) { g.write(g.repo+"/list", g.outside+"/secret\x00") }, tries: sh("sort --files0-from=list"), why: "other files"},
		{name: "have wc read a list", prepare: func(g *ground) { g.write(g.repo+"/list", g.outside+"/dir/zqmark\x00") }, tries: sh("wc --files0-from=list"), why: "other files"},
		{name: "have du read a list", prepare: func(g *ground) { g.write(g.repo+"/list", g.outside+"/dir/zqmark\x00") }, tries: sh("du --files0-from=list"), why: "other files"},
		{name: "have tar run", prepare: func(g *ground) { evil(g) }, tries: sh("tar cf a.tar README.md", "tar xf a.tar --to-command=./evil"), why: runs},
		{name: "have tar run at a checkpoint", prepare: evil, tries: sh("tar cf a.tar --checkpoint=1 --checkpoint-action=exec=./evil README.md src"), why: runs},
		{name: "have tar pack by a program", prepare: evil, tries: sh("tar -I ./evil -cf a.tar README.md"), why: runs},
		{name: "have tar write outside", tries: sh("tar cf ../outside/new README.md"), why: "outside"},
		{name: "have date read", prepare: linked("@OUT@/secret", "l"), tries: sh("date -f l 2>&1"), why: "read a file"},
		{name: "have jq read", needs: run("jq"), tries: sh(`jq -n --rawfile a ../outside/secret '$a'`), why: "outside"},
		{name: "have python run", needs: run("python3"), tries: sh(`python3 -c 'print(open("../outside/secret").read())'`), why: "command line"},
		{name: "have perl run", needs: run("perl"), tries: sh(`perl -e 'print qx(cat ../outside/secret)'`), why: "command line"},
		{name: "have node run", needs: run("node"), tries: sh(`node -e 'console.log(require("fs").readFileSync("../outside/secret","utf8"))'`), why: "command line"},
		{name: "run by nice", tries: sh("nice -n 1 cat ../outside/secret"), why: "outside"},
		{name: "run by timeout and env", tries: sh("timeout 5 env A=b sh -c 'cat ../outside/secret'"), why: "A"},
		{name: "run by command", tries: sh("command cat -v ../outside/secret"), why: "outside"},
		{name: "delete by command", tries: sh("command rm -v -r ../outside"), why: "whole directories"},
		{name: "run by exec", tries: sh("exec cat ../outside/secret"), why: "outside"},
		{name: "print /proc of the parent", tries: sh("cat /proc/$PPID/environ"), why: "only when it runs"},
		{name: "print through /proc/self/root", tries: sh("cat /proc/self/root@OUT@/secret"), why: "forbidden"},
	}
}
