// Package conformance tests the agent against two public lists: the
// requirements of the protocol's technology compatibility kit for agents on
// stdio, version 1, under the ids of its registry
// (github.com/agentclientprotocol/acp-tck), and the cases of acpx's profile
// acp-core-v1, under theirs (github.com/openclaw/acpx). Where those wait a while
// to be sure that nothing comes, these tests end the agent and look at
// everything it said.
//
// With the build tag interop the built binary is tested, and every message is
// held against the official schema besides.
package conformance
