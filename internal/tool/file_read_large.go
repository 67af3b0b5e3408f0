package tool

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

// readLarge reads a file that is too large to hold, line by line from disk.
// Such a file is not edited, so what the model saw of it is not remembered.
func readLarge(ctx context.Context, env *Env, t *fsroot.Target, args fileReadArgs) Result {
	f, err := t.Open()
	if err != nil {
		return failure(err)
	}
	defer func() { _ = f.Close() }()
	w := window{first: max(1, int(args.Line)), lines: int(args.Limit), bytes: env.limits().ModelBytes}
	in := bufio.NewReaderSize(f, 64<<10)
	for ctx.Err() == nil {
		line, err := boundedLine(in, w.bytes)
		if line != "" && !w.full() && w.seen+1 >= w.first && !isText(line) {
			return failure(fmt.Errorf("%q cannot be read as text: %w", args.Path, errBinary))
		}
		if line != "" {
			w.add(line, len(strings.TrimSuffix(line, "\n")))
		}
		if errors.Is(err, io.EOF) {
			return w.result()
		}
		if err != nil {
			return failure(fmt.Errorf("reading %q failed: %w", args.Path, err))
		}
	}
	return failure(context.Cause(ctx))
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// boundedLine reads one line and keeps somewhat more than its first n bytes, so
// that a cut is noticed, ending between runes.
func boundedLine(in *bufio.Reader, n int) (string, error) {
	var kept []byte
	for {
		part, err := in.ReadSlice('\n')
		if room := n + utf8.UTFMax - len(kept); len(part) <= room {
			kept = append(kept, part...)
		} else {
			kept = cutHead(append(kept, part[:max(0, room)]...), n+utf8.UTFMax)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return string(kept), err
		}
	}
}
