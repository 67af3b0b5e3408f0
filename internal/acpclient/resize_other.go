//go:build !unix

package acpclient

import "os"

// resized never tells: there is no such signal here, and the size is asked for
// with each key.
func resized() (changes <-chan os.Signal, stop func()) { return nil, func() {} }
