// Command baseline is the floor of a cold start: it links what grapnel links
// and does nothing but answer its input.
package main

import (
	"bufio"
	"context"
	"io"
	"os"

	"github.com/grapnel-ai/grapnel/internal/cli"
	_ "github.com/grapnel-ai/grapnel/internal/proc/shim" // as in cmd/grapnel
)

const answer = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}` + "\n"

// main answers every line. An argument, which nobody gives it, would run
// grapnel: that makes the linker keep all of it.
func main() {
	if len(os.Args) > 1 {
		os.Exit(cli.Run(context.Background(), cli.Env{Args: os.Args[1:]}))
	}
	in := bufio.NewReader(os.Stdin)
	for {
		if _, err := in.ReadSlice('\n'); err != nil {
			return
		}
		if _, err := io.WriteString(os.Stdout, answer); err != nil {
			return
		}
	}
}
