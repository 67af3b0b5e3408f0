package docs

// pending names the commands and pages that documents speak of already.
var pending = map[string]bool{
	"docs/benchmarks.md": true, "docs/soak.md": true,
}
