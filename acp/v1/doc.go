// Package v1 has the messages of version 1 of the Agent Client Protocol, and
// typed handlers and callers over an [acp.Conn].
//
// The types are generated from the official schema. What only its unstable
// part has is marked Unstable. Encode and decode them with
// github.com/go-json-experiment/json; encoding/json does not know their codecs.
//
//   - A member that may be absent is a pointer, a slice or a raw value and then
//     nil, or a plain value where its zero says the same as absent. Where null
//     means something of its own the field is an [acp.Opt].
//   - A required array that is nil is written as [].
//   - A union is a struct with a pointer for each variant, one of them set.
//   - Nothing is lost: members the schema does not have are kept in Extra,
//     _meta in Meta, unknown variants in Raw, unknown enum values as they are,
//     and all of them are written back. Only white space and the way characters
//     are escaped may differ then.
//   - Where the schema asks for leniency, a malformed member reads as absent
//     and a malformed item is left out. Everything else that is malformed or
//     missing is a [*FieldError].
package v1

//go:generate go run ../internal/gen -schema ../../interop/node_modules/@agentclientprotocol/sdk/schema -out ..
