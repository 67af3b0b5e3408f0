//go:build !linux

package soak

import "errors"

const asJailed = "GRAPNEL_SOAK_JAILED"

func jailed(string) error { return errors.ErrUnsupported }
