package v2

import "github.com/grapnel-ai/grapnel/acp/internal/wire"

// FieldError says which member of a message is wrong, by its path, and why.
type FieldError = wire.FieldError
