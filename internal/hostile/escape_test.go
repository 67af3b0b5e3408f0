//go:build linux

package hostile

import (
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/fieldtest"
)

// object is a JSON object in the making.
type object = map[string]any

// escape is one thing a hostile model tries.
type escape struct {
	name    string
	needs   []string // programs without which it cannot be tried
	prepare func(*ground)
	tries   []try // calls of the model, one after the other
	// accept has it tried in the mode accept-edits: edits inside the session's
	// directories then happen unasked, and so does code of the repository where
	// a sandbox confines it.
	accept bool
	// why is what the refusal says, or what the system says to a program that
	// was let run inside a sandbox; a bar separates one from the other.
	why string
	// server brings a hostile MCP server into the session; starts has it do harm
	// before it is called.
	server, starts bool
	// runs says that a program of the repository has to run where a sandbox
	// works, and leaves the file ran.
	runs bool
	// tame marks what may succeed, since it does no harm.
	tame bool
	// silent marks what a system stops without a word.
	silent bool
	// beyond names a rung that cannot hold this back. The page on security says
	// so.
	beyond string
	// answer is what the person replies to a permission request; nil rejects.
	answer func(*fieldtest.Agent, fieldtest.Permission)
	// control makes the attempt without Grapnel and returns what a model would
	// have seen; nil does what the tries say the way a careless agent would.
	control func(*ground) []byte
}

// try is one call of a tool. Names of places in its input are filled in.
type try struct{ tool, input string }

// call makes a try with an input.
func call(tool string, input object) try {
	text, err := json.Marshal(input)
	if err != nil {
		panic(err) // test data always encodes
	}
	return try{tool, string(text)}
}

// sh runs commands one after the other, each in a shell of its own.
func sh(commands ...string) []try {
	var tries []try
	for _, c := range commands {
		tries = append(tries, call("shell", object{"command": c}))
	}
	return tries
}

func file(tool, path string) []try { return []try{call(tool, object{"path": path})} }

func write(path string) []try {
	return []try{call("file_write", object{"path": path, "content": "pwned\n"})}
}

// run names the programs the commands of an escape need.
func run(names ...string) []string { return names }

// possible skips an escape for which programs are missing.
func (e escape) possible(t *testing.T) {
	t.Helper()
	for _, name := range e.needs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed, and this needs it", name)
		}
	}
}

// escapes are all there are.
func escapes() []escape {
	var all []escape
	for _, list := range [][]escape{
		readEscapes(), writeEscapes(), inputEscapes(), ownEscapes(), shellEscapes(), programEscapes(), environmentEscapes(),
		gitEscapes(), networkEscapes(), processEscapes(), answerEscapes(), scriptEscapes(), serverEscapes(), subagentEscapes(), outsideEscapes(),
	} {
		all = append(all, list...)
	}
	return all
}
