// Package bench holds no code: its benchmarks measure what people feel of the
// whole program, each against a floor that is measured in the same run, and its
// tests hold the binary to its size and its start to its work. Benchmarks of one
// package live in that package.
//
// scripts/bench runs them and writes docs/benchmarks.md.
package bench
