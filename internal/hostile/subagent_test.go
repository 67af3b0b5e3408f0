//go:build linux

package hostile

// subagentEscapes have a subagent do what the agent itself may not.
func subagentEscapes() []escape {
	task := func(tries ...try) string {
		text := ""
		for _, t := range tries {
			text += "D:TOOL " + t.tool + " " + t.input + "\n"
		}
		return text
	}
	spawn := func(more object, tries ...try) []try {
		more["task"] = task(tries...)
		return []try{call("spawn_subagent", more)}
	}
	read := call("file_read", object{"path": "../outside/secret"})
	shell := call("shell", object{"command": "cat ../outside/secret"})
	put := call("file_write", object{"path": "../outside/new", "content": "x"})
	hook := call("file_write", object{"path": ".git/hooks/pre-commit", "content": "x"})
	by := func(tries ...try) func(*ground) []byte {
		return func(g *ground) []byte { return g.carelessly(tries) }
	}
	const outside = "outside"
	return []escape{
		{name: "a subagent reads outside", tries: spawn(object{}, read), why: outside, tame: true, control: by(read)},
		{name: "a subagent runs a command outside", tries: spawn(object{}, shell), why: outside, tame: true, control: by(shell)},
		{name: "a subagent writes outside", accept: true, tries: spawn(object{}, put), why: outside, tame: true, control: by(put)},
		{name: "a subagent writes a hook", accept: true, prepare: (*ground).repository, tries: spawn(object{}, hook), why: "run other programs", tame: true, control: by(hook)},
		{name: "a subagent of a subagent", tries: spawn(object{}, spawn(object{}, shell)...), why: outside + "|there are no subagents|there is no tool", tame: true, control: by(shell)},
		{name: "a subagent in a mode of its own", tries: spawn(object{"mode": "full"}, shell), why: "mode must be", control: by(shell)},
		{name: "a subagent with rights of its own", tries: spawn(object{"level": "full", "cwd": "/"}, shell), why: "there is no argument", control: by(shell)},
		{name: "a subagent with other tools", tries: spawn(object{"tools": []string{"bash", "root"}}, call("bash", object{"command": "touch ../outside/new"})), why: "tool", tame: true, control: by(put)},
		{name: "a subagent that only plans", accept: true, prepare: (*ground).repository, tries: spawn(object{"mode": "plan"}, hook, shell), tame: true, control: by(hook)}, // why is told to the subagent alone
	}
}
