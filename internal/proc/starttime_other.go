//go:build unix && !linux && !darwin

package proc

// bootID and startTime are not known here: nothing is ever reaped.
func bootID() string { return "" }

func startTime(int) uint64 { return 0 }
