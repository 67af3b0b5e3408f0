// Package docs holds no code: its tests keep the documentation true. Every
// command in it is run, every snippet is checked and started, every link leads
// somewhere.
package docs

//go:generate go run ./picture/cmd ../../docs/demo.svg
