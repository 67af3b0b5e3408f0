// Package interop holds the tests of Grapnel against other people's ACP
// programs: a client on the TypeScript SDK, acpx and a client on the Go SDK of
// coder, as package.json and coder/go.mod pin them. They run with the build tag
// interop, by scripts/interop.
package interop
