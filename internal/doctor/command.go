package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/proc"
)

// Hook looks for the program of a hook that is configured as argv and runs in
// dir. A before_tool_call hook that cannot run blocks every call.
func Hook(point string, argv []string, dir string, env []string) Finding {
	fix := "correct [hooks] " + point + " in the configuration, or take it out"
	if why := missing(argv, dir, env); why != "" {
		return fail("hooks", fix, "the hook %s cannot run: %s", point, why)
	}
	return ok("hooks", "%s runs %s", point, argv[0])
}

// Server looks for the program of an MCP server that agents use; what is relative
// to a session's directory is not looked for. secrets is the problem with one of
// its references, nil when all were found.
func Server(name string, argv, env []string, secrets error) Finding {
	const fix = "correct it in the configuration; grapnel mcp test tries it"
	if secrets != nil {
		return warn("mcp", fix, "the tools of the MCP server %s will be missing: %v", name, secrets)
	}
	if len(argv) > 0 && (filepath.IsAbs(argv[0]) || filepath.Base(argv[0]) == argv[0]) {
		if why := missing(argv, "", env); why != "" {
			return warn("mcp", fix, "the tools of the MCP server %s will be missing: %s", name, why)
		}
	}
	return ok("mcp", "the MCP server %s is configured", name)
}

// missing says what of a command line is not there, "" when all is: its program,
// or the script that its first argument names. Without a dir, only absolute ones
// are known.
func missing(argv []string, dir string, env []string) string {
	if _, err := proc.Look(proc.Spec{Argv: argv, Dir: dir, Env: env}); err != nil {
		return err.Error()
	}
	if len(argv) < 2 || !script(argv[1]) {
		return ""
	}
	path := argv[1]
	if !filepath.IsAbs(path) {
		if dir == "" {
			return ""
		}
		path = filepath.Join(dir, path)
	}
	if _, err := os.Stat(path); err != nil {
		return err.Error()
	}
	return ""
}

// script reports whether an argument names a script for an interpreter.
func script(arg string) bool {
	return !strings.HasPrefix(arg, "-") && slices.Contains([]string{".sh", ".py", ".js", ".mjs", ".ts", ".rb", ".pl"}, filepath.Ext(arg))
}
