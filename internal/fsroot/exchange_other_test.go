//go:build !linux

package fsroot_test

import "errors"

// exchange swaps two names in one step, which no call here does.
func exchange(string, string) error { return errors.ErrUnsupported }
