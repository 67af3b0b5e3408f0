package v1

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp/internal/wire"
)

// FieldError says which member of a message is wrong, by its path, and why.
type FieldError = wire.FieldError

// Message is a pointer to the params or the result of a method.
type Message interface {
	decodeMessage(d *wire.Decoder) error
}

// Decode reads raw into msg the way the official peers do; json.Unmarshal keeps
// more. A value that a closed enum or union does not have is an error, unless
// the schema wants it dropped, and every required member must be there. Absent
// and null read as an empty object. The error is a *FieldError.
func Decode(raw jsontext.Value, msg Message) error {
	return wire.DecodeChecked(raw, msg.decodeMessage, true)
}
