package procfs

import "os"

// Stat is one process at one moment.
type Stat struct {
	Pid     int
	State   byte // as in ps: R, S, D, T, Z, …
	Parent  int
	Group   int
	Session int
	Start   uint64 // clock ticks since boot; with Pid, it names a process for ever
}

// Dead reports whether the process has ended and only waits for its parent to
// notice.
func (s Stat) Dead() bool { return s.State == 'Z' || s.State == 'X' }

// Read tells about one process; false when there is none.
func Read(pid int) (Stat, bool) { return read(itoa(pid)) }

func read(pid string) (Stat, bool) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return Stat{}, false
	}
	return parse(text)
}

// All lists the processes there are, in no order.
func All() []Stat {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	all := make([]Stat, 0, len(names))
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		if s, ok := read(name); ok {
			all = append(all, s)
		}
	}
	return all
}

// Below returns those of all that descend from pid.
func Below(all []Stat, pid int) []Stat {
	children := make(map[int][]Stat)
	for _, s := range all {
		children[s.Parent] = append(children[s.Parent], s)
	}
	var below []Stat
	seen := map[int]bool{pid: true} // a list read while pids are reused may have circles
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		for _, s := range children[queue[0]] {
			if !seen[s.Pid] {
				seen[s.Pid] = true
				below = append(below, s)
				queue = append(queue, s.Pid)
			}
		}
	}
	return below
}

// startField is the place of the start time after the command.
const startField = 19

// parse reads the text of /proc/PID/stat. The second field, the command, is for
// its process to choose and may hold blanks and parentheses; the last ")" ends it.
func parse(text []byte) (Stat, bool) {
	end := len(text) - 1
	for end >= 0 && text[end] != ')' {
		end--
	}
	if end < 0 || end+2 >= len(text) {
		return Stat{}, false
	}
	pid, _ := number(text)
	s := Stat{Pid: int(pid), State: text[end+2]}
	rest := text[end+2:]
	for field := 1; field <= startField; field++ {
		for len(rest) > 0 && rest[0] != ' ' {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return Stat{}, false
		}
		rest = rest[1:]
		n, _ := number(rest)
		switch field {
		case 1:
			s.Parent = int(n)
		case 2:
			s.Group = int(n)
		case 3:
			s.Session = int(n)
		case startField:
			s.Start = n
		}
	}
	return s, s.Pid > 0
}

// number reads the digits text starts with and says how many there were.
func number(text []byte) (n uint64, digits int) {
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		n = n*10 + uint64(text[digits]-'0')
		digits++
	}
	return n, digits
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}
