package doctor

import (
	"os/exec"
	"runtime"
)

// Shell looks for the shell that agents run commands with.
func Shell() Finding {
	path, err := exec.LookPath("sh")
	if err == nil {
		return ok("shell", "commands run in %s", path)
	}
	fix := "install a POSIX shell and put it on the PATH"
	if runtime.GOOS == "windows" {
		fix = `install Git for Windows and put its usr\bin directory on the PATH`
	}
	return fail("shell", fix, "there is no sh on the PATH, so agents cannot run commands: %v", err)
}

// Git looks for git, which agents read repositories with.
func Git() Finding {
	path, err := exec.LookPath("git")
	if err != nil {
		return warn("git", "install git and put it on the PATH", "there is no git on the PATH, so agents cannot look at history: %v", err)
	}
	return ok("git", "%s is there", path)
}
