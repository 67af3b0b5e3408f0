package config

import (
	"errors"

	"github.com/grapnel-ai/grapnel/internal/model/price"
)

// prices checks the user's file of prices. What is wrong with it keeps nothing
// but costs from being known.
func (c *Config) prices() []Problem {
	_, err := price.Load(c.PricesPath())
	if p, ok := errors.AsType[*price.Problem](err); ok {
		return []Problem{{File: p.File, Line: p.Line, Column: p.Column, Message: p.Message, Warning: true}}
	}
	return nil
}
