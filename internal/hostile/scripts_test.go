//go:build linux

package hostile

func scriptEscapes() []escape { return nil }
