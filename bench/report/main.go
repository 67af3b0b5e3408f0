// Command report reads the output of go test -bench and prints how what was
// measured stands against the project's targets, as a Markdown page.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	file := flag.String("o", "", "also write the page to `file`")
	flag.Parse()
	if err := run(*file, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(file string, in io.Reader, out io.Writer) error {
	r, err := read(in)
	if err != nil {
		return err
	}
	page := r.page(thisMachine())
	if _, err := io.WriteString(out, page); err != nil {
		return err
	}
	if file == "" {
		return nil
	}
	return os.WriteFile(file, []byte(page), 0o644)
}
