package app

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

func TestWriteNobodyTakes(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	n, err := impatient{near, time.Millisecond}.Write([]byte("x"))
	if n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("wrote %d, %v", n, err)
	}
}
