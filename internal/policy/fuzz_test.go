package policy

import (
	"strings"
	"testing"
)

// FuzzCommand throws text at the judge: it never panics, whatever it is allowed
// holds no trace of a program that is not listed, whatever a grant was offered
// for is allowed with that grant, and nothing leaves the sandbox unasked.
func FuzzCommand(f *testing.F) {
	for _, tt := range commandTests {
		f.Add(tt.command)
	}
	p, boxed := newPolicy(supervised()), newPolicy(outsideSettings())
	f.Fuzz(func(t *testing.T, command string) {
		d := p.Decide(shell(command), nil, ModeAsk)
		out := shell(command)
		out.Outside = true
		if o := boxed.Decide(out, nil, ModeAcceptEdits); command != "" && (o.Verdict == Allow || o.Grant != nil || o.Outside != (o.Verdict == Ask)) {
			t.Errorf("%q outside the sandbox: %s, outside %v", command, o.Explain(), o.Outside)
		}
		if d.Verdict == Allow && d.Grant != nil {
			t.Errorf("%q: allowed and offers a grant", command)
		}
		if d.Risk == High && d.Verdict != Deny {
			t.Errorf("%q: high risk, %s", command, d.Explain())
		}
		if d.Grant == nil {
			return
		}
		if again := p.Decide(shell(command), []Grant{*d.Grant}, ModeAsk); again.Verdict != Allow {
			t.Errorf("%q: after its own grant %+v: %s", command, *d.Grant, again.Explain())
		}
	})
}

// FuzzUnlisted hides a program nobody listed in a script: such a script is never
// allowed. The frame says where the program goes; a frame that does not make it
// a command of its own is left out by the seeds' form.
func FuzzUnlisted(f *testing.F) {
	for i := range unlistedFrames {
		f.Add(uint8(i), uint8(0), "ls -l")
		f.Add(uint8(i), uint8(i+1), "echo $(pwd) | wc -l > /dev/null")
	}
	p := newPolicy(supervised())
	f.Fuzz(func(t *testing.T, outer, inner uint8, around string) {
		if !wellFormed(p, around) {
			return
		}
		script := frame(outer, frame(inner, "zzunlisted --x y"))
		if strings.Count(script, "`") > 2 {
			return // nested, these end each other
		}
		for _, s := range []string{script, around + "\n" + script, script + "\n" + around} {
			if d := p.Decide(shell(s), nil, ModeAsk); d.Verdict == Allow {
				t.Errorf("%q: %s", s, d.Explain())
			}
		}
	})
}

// wellFormed keeps text that by itself is allowed and does not swallow what
// follows or precedes it, such as an open quotation, a comment or exit.
func wellFormed(p *Policy, s string) bool {
	return len(s) < 200 && !strings.ContainsAny(s, "\\#\n") && !strings.Contains(s, "<<") && p.Decide(shell(s), nil, ModeAsk).Verdict == Allow
}

// unlistedFrames put a command into every place a script has for one.
var unlistedFrames = []string{
	"@", "@; ls", "ls; @", "ls && @", "ls || @", "ls | @", "@ | ls", "@ &", "! @", "(@)", "{ @; }", "if @; then ls; fi",
	"if ls; then @; fi", "if ls; then ls; else @; fi", "while @; do ls; done", "until ls; do @; done", "for i in a; do @; done",
	"case a in a) @;; esac", "echo $(@)", "echo \"$(@)\"", "x=$(@)", "x=$(@) y=1", "cat <(@)", "ls > >(@)", "cat <<E\n$(@)\nE\n",
	"cat <<<$(@)", "echo ${x:-$(@)}", "echo ${x/$(@)/y}", "case $(@) in a) ls;; esac", "[[ $(@) = y ]]", "for i in $(@); do ls; done",
	"time @", "env @", "nohup @", "timeout 5 @", "command @", "echo $((1+$(@)))", "x=(a $(@))", "LC_ALL=$(@) ls", "ls 2>&1 | @ | cat",
	"f() { @; }", "coproc @", "exec @", "echo $(echo $(@))", "{ ls; @; } > /dev/null", "echo `@`", "ls > $(@)", "select i in a; do @; done",
}

func frame(i uint8, command string) string {
	return strings.ReplaceAll(unlistedFrames[int(i)%len(unlistedFrames)], "@", command)
}

// FuzzSed holds that a script with a file or a command to run is never safe.
func FuzzSed(f *testing.F) {
	f.Add("s/a/b/g", "p")
	f.Add("/x/,/y/d", "$!N;P;D")
	f.Add("y/abc/xyz/", "1,3{p}")
	f.Fuzz(func(t *testing.T, before, after string) {
		if !safeSed(before) || strings.HasSuffix(before, `\`) {
			return
		}
		for _, bad := range []string{"e id", "1e", "w x", "r x", "R x", "W x", "s/a/b/e", "s/a/b/w x"} {
			if script := before + "\n" + bad + "\n" + after; safeSed(script) {
				t.Errorf("%q is called safe", script)
			}
		}
	})
}
