package proc

import (
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/grapnel-ai/grapnel/internal/proc/lease"
	"github.com/grapnel-ai/grapnel/internal/proc/procfs"
)

// leavesOrphans says that children can outlive us when their guard dies too.
const leavesOrphans = true

// freezeRounds bounds how often processes that keep forking are looked at
// before what was found is killed.
const freezeRounds = 20

// here says where process ids mean what they mean to us.
func here() lease.Head {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	return lease.Head{Boot: strings.TrimSpace(string(boot)), Space: space}
}

func startTime(pid int) uint64 {
	s, _ := procfs.Read(pid)
	return s.Start
}

// end kills what is sought until nothing is left of it, or the time is over.
func (s *sought) end(bound time.Duration) (ended int, left []int) {
	killed := make(map[procfs.Stat]bool)
	for deadline := time.Now().Add(bound); ; time.Sleep(reapPause) {
		found := s.freeze()
		if len(found) == 0 {
			return len(killed), nil
		}
		for _, p := range found {
			signal(p, syscall.SIGKILL)
			killed[procfs.Stat{Pid: p.Pid, Start: p.Start}] = true
		}
		if time.Now().After(deadline) {
			for _, p := range found {
				left = append(left, p.Pid)
			}
			return len(killed) - len(left), left
		}
	}
}

// freeze finds what is sought and stops it, so that none of it can fork between
// being found and being killed.
func (s *sought) freeze() []procfs.Stat {
	var found []procfs.Stat
	stopped := make(map[int]bool)
	for range freezeRounds {
		fresh := false
		found = s.find()
		for _, p := range found {
			if !stopped[p.Pid] {
				stopped[p.Pid], fresh = true, true
				signal(p, syscall.SIGSTOP)
			}
		}
		if !fresh {
			break
		}
	}
	return found
}

// signal sends to the very process that was looked at, never to one that has
// its number now: the handle is taken first and the start compared after.
func signal(of procfs.Stat, sig syscall.Signal) {
	p, err := os.FindProcess(of.Pid)
	if err != nil {
		return
	}
	defer func() { _ = p.Release() }()
	if now, ok := procfs.Read(of.Pid); ok && now.Start == of.Start {
		_ = p.Signal(sig)
	}
}

// find lists the processes that are sought and live: those recorded, those that
// carry the mark, those in a recorded child's session, and what descends from
// any of these. This process and its ancestors are never among them, nor is what
// is sought only for their sake.
func (s *sought) find() []procfs.Stat {
	all := procfs.All()
	ours := make(map[int]bool)
	sessions := make(map[int]bool)
	spared := lineage(all)
	for _, p := range all {
		if start, ok := s.known[p.Pid]; ok && start == p.Start && !spared[p.Pid] {
			ours[p.Pid], sessions[p.Pid] = true, true
		}
	}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if !ours[p.Pid] && !p.Dead() && !spared[p.Pid] && s.claims(p, ours[p.Parent] || sessions[p.Session]) {
				ours[p.Pid], grown = true, true
			}
		}
	}
	var found []procfs.Stat
	for _, p := range all {
		if ours[p.Pid] && !p.Dead() && !spared[p.Pid] {
			found = append(found, p)
		}
	}
	return found
}

// claims reports whether a process is sought by its mark, or by its kin unless
// it is marked by another instance that lives.
func (s *sought) claims(p procfs.Stat, kin bool) bool {
	mark, _ := procfs.Getenv(p.Pid, MarkVar)
	return s.owns(mark) || kin && !s.foreign(mark)
}

// lineage is this process and all it descends from.
func lineage(all []procfs.Stat) map[int]bool {
	parents := make(map[int]int, len(all))
	for _, p := range all {
		parents[p.Pid] = p.Parent
	}
	line := make(map[int]bool)
	for pid := os.Getpid(); pid > 0 && !line[pid]; pid = parents[pid] {
		line[pid] = true
	}
	return line
}
