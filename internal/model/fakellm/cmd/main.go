// Command cmd serves the fake model provider on a loopback port, for interop
// tests and for trying things out by hand.
//
//	go run ./internal/model/fakellm/cmd -addr 127.0.0.1:18080 -log requests.jsonl
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/grapnel-ai/grapnel/internal/model/fakellm"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "address to listen on")
	path := flag.String("log", "", "file that gets every request as a line of JSON")
	flag.Parse()
	if err := serve(*addr, *path); err != nil {
		log.Fatalf("fake model provider: %v", err)
	}
}

func serve(addr, path string) error {
	s := &fakellm.Server{}
	if path != "" {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		s.Log = f
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", l.Addr())
	srv := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	return srv.Serve(l)
}
