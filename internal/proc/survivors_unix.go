//go:build unix && !linux

package proc

import (
	"syscall"
	"time"

	"github.com/grapnel-ai/grapnel/internal/proc/lease"
)

// leavesOrphans says that children can outlive us when their guard dies too.
const leavesOrphans = true

// here says where process ids mean what they mean to us.
func here() lease.Head { return lease.Head{Boot: bootID()} }

// end kills the recorded processes that live and their process groups. What
// left its group is not found: the system offers nothing to find it by.
func (s *sought) end(bound time.Duration) (ended int, left []int) {
	for pid, start := range s.known {
		if startTime(pid) != start {
			delete(s.known, pid)
			continue
		}
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		_ = syscall.Kill(pid, syscall.SIGKILL)
		ended++
	}
	for deadline := time.Now().Add(bound); time.Now().Before(deadline); time.Sleep(reapPause) {
		if left = s.living(); len(left) == 0 {
			return ended, nil
		}
	}
	return ended - len(left), left
}

func (s *sought) living() []int {
	var pids []int
	for pid, start := range s.known {
		if startTime(pid) == start {
			pids = append(pids, pid)
		}
	}
	return pids
}
