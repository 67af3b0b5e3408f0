package proc

import (
	"time"

	"github.com/grapnel-ai/grapnel/internal/proc/lease"
)

// leavesOrphans says that children can outlive us. Job objects end with us.
const leavesOrphans = false

func here() lease.Head { return lease.Head{} }

func startTime(int) uint64 { return 0 }

func (*sought) end(time.Duration) (ended int, left []int) { return 0, nil }
