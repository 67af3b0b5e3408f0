package procfs

import "os"

// Getenv returns a variable of the environment a process was started with.
// Processes of other users and those that forbid it do not tell.
func Getenv(pid int, name string) (value string, ok bool) {
	environ, err := os.ReadFile("/proc/" + itoa(pid) + "/environ")
	if err != nil {
		return "", false
	}
	return lookup(environ, name)
}

// lookup finds the last value of name in NUL-ended entries.
func lookup(environ []byte, name string) (value string, ok bool) {
	for len(environ) > 0 {
		end := 0
		for end < len(environ) && environ[end] != 0 {
			end++
		}
		if n := len(name); n < end && environ[n] == '=' && string(environ[:n]) == name {
			value, ok = string(environ[n+1:end]), true
		}
		environ = environ[min(end+1, len(environ)):]
	}
	return value, ok
}
