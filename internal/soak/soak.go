// Package soak holds no code: its tests run the real binary for a long time
// under what wears programs out (kills at any moment, thousands of turns, many
// sessions, several processes on one store) and then look whether anything was
// lost, torn, leaked or left behind. Every choice comes from a seed, which is
// printed; GRAPNEL_SOAK_SEED repeats a run as far as the machine's timing does.
//
// As part of the usual tests they run at a twentieth. GRAPNEL_SOAK=full, which
// scripts/soak sets, runs them in full and has them report to the file named
// by GRAPNEL_SOAK_REPORT.
package soak
