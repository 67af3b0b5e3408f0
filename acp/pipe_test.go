package acp

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"
)

func TestPipeCopiesMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := NewPipe()
		msg := jsontext.Value(`{"n":1}`)
		go func() {
			_ = a.WriteMessage(t.Context(), msg)
			copy(msg, `XXXXXXX`)
		}()
		got, err := b.ReadMessage(t.Context())
		synctest.Wait()
		if err != nil || string(got) != `{"n":1}` {
			t.Errorf("read %s, %v", got, err)
		}
	})
}

func TestPipeEnds(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name        string
		end         func(a, b MessageConn)
		ctx         context.Context
		read, write error
	}{
		{"this end closed", func(a, _ MessageConn) { _ = a.Close() }, t.Context(), ErrClosed, ErrClosed},
		{"other end closed", func(_, b MessageConn) { _ = b.Close() }, t.Context(), io.EOF, io.ErrClosedPipe},
		{"context ended", func(_, _ MessageConn) {}, ended, context.Canceled, context.Canceled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := NewPipe()
			tt.end(a, b)
			if _, err := a.ReadMessage(tt.ctx); !errors.Is(err, tt.read) {
				t.Errorf("ReadMessage: %v, want %v", err, tt.read)
			}
			if err := a.WriteMessage(tt.ctx, jsontext.Value(`{}`)); !errors.Is(err, tt.write) {
				t.Errorf("WriteMessage: %v, want %v", err, tt.write)
			}
		})
		t.Run(tt.name+" while waiting", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := NewPipe()
				ctx, cancel := context.WithCancel(t.Context())
				read, wrote := make(chan error), make(chan error)
				go func() { _, err := a.ReadMessage(ctx); read <- err }()
				go func() { wrote <- a.WriteMessage(ctx, jsontext.Value(`{}`)) }()
				synctest.Wait()
				if tt.ctx == ended {
					cancel()
				}
				tt.end(a, b)
				if err := <-read; !errors.Is(err, tt.read) {
					t.Errorf("ReadMessage: %v, want %v", err, tt.read)
				}
				if err := <-wrote; !errors.Is(err, tt.write) {
					t.Errorf("WriteMessage: %v, want %v", err, tt.write)
				}
				cancel()
			})
		})
	}
}
