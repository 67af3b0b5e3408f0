package doctor

import "github.com/grapnel-ai/grapnel/internal/model/price"

// Prices says how many prices the user's own file has; false where there is none,
// or it cannot be read, which is a problem of the configuration.
func Prices(path string) (Finding, bool) {
	list, err := price.Load(path)
	if err != nil || len(list) == 0 {
		return Finding{}, false
	}
	return ok("prices", "%s has %d of your own prices; they come before the built-in ones", path, len(list)), true
}
