// The client on the Go SDK of coder that Grapnel is tested against. It is a
// module of its own, so that Grapnel does not depend on that SDK.
module github.com/grapnel-ai/grapnel/interop/coder

go 1.26

tool github.com/coder/acp-go-sdk/example/client

require github.com/coder/acp-go-sdk v0.13.0
