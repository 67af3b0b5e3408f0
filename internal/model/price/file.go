package price

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Entry is one price of the user's file.
type Entry struct {
	Model         string // prefix of the models' ids, lower case
	Price         Price
	ContextWindow int // tokens; 0 leaves what is known
}

// Problem is why a file of prices cannot be used.
type Problem struct {
	File         string
	Line, Column int // from 1; 0 when unknown
	Message      string
}

// Error says where and what in one line.
func (p *Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// written is an entry as the file has it.
type written struct {
	Model         string `toml:"model"`
	Input         any    `toml:"input"`
	Output        any    `toml:"output"`
	CacheRead     any    `toml:"cache_read"`
	CacheWrite    any    `toml:"cache_write"`
	Currency      string `toml:"currency"`
	ContextWindow int64  `toml:"context_window"`
}

// Parse reads a file of prices. What is wrong with it is a *Problem; name is how
// that names the file.
func Parse(name string, text []byte) ([]Entry, error) {
	var file struct {
		Price []written `toml:"price"`
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&file); err != nil {
		return nil, problem(name, err)
	}
	list := make([]Entry, 0, len(file.Price))
	for i := range file.Price {
		e, err := file.Price[i].entry()
		if err != nil {
			return nil, &Problem{name, header(text, i), 1, err.Error()}
		}
		list = append(list, e)
	}
	return list, nil
}

func problem(name string, err error) *Problem {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		e := &unknown.Errors[0]
		line, column := e.Position()
		return &Problem{name, line, column, fmt.Sprintf(
			"unknown key %s: a price has model, input, output, cache_read, cache_write, currency and context_window", strings.Join(e.Key(), "."))}
	}
	var e *toml.DecodeError
	if errors.As(err, &e) {
		line, column := e.Position()
		return &Problem{name, line, column, strings.TrimPrefix(e.Error(), "toml: ")}
	}
	return &Problem{File: name, Message: err.Error()}
}

// header is the line of the nth [[price]], 0 when it is not found.
func header(text []byte, n int) int {
	line := 0
	for l := range bytes.Lines(text) {
		line++
		if bytes.HasPrefix(bytes.TrimSpace(l), []byte("[[price]]")) {
			if n == 0 {
				return line
			}
			n--
		}
	}
	return 0
}

const (
	maxName     = 256 // bytes of a model or a currency
	maxCurrency = 16
)

func (w *written) entry() (e Entry, err error) {
	e = Entry{
		Model: strings.ToLower(strings.TrimSpace(w.Model)), ContextWindow: int(w.ContextWindow),
		Price: Price{Currency: w.Currency},
	}
	switch {
	case e.Model == "" || len(e.Model) > maxName:
		return e, errors.New("this price names no model: set model to the beginning of its id")
	case w.Input == nil || w.Output == nil:
		return e, fmt.Errorf("the price of %s needs input and output, in units of a currency for a million tokens", e.Model)
	case !isCurrency(w.Currency):
		return e, fmt.Errorf("the price of %s has the currency %q: write a code such as EUR", e.Model, w.Currency)
	case w.ContextWindow < 0 || w.ContextWindow > math.MaxInt32:
		return e, fmt.Errorf("the price of %s has a context_window of %d tokens", e.Model, w.ContextWindow)
	}
	if err := w.rates(&e.Price); err != nil {
		return e, fmt.Errorf("the price of %s: %w", e.Model, err)
	}
	return e, nil
}

// rates reads what tokens cost. Of a cache, where nothing is said, as much as
// other input.
func (w *written) rates(p *Price) (err error) {
	for _, r := range []struct {
		dst *Rate
		v   any
	}{{&p.Input, w.Input}, {&p.Output, w.Output}, {&p.CacheRead, w.CacheRead}, {&p.CacheWrite, w.CacheWrite}} {
		if r.v == nil {
			*r.dst = p.Input
		} else if *r.dst, err = readRate(r.v); err != nil {
			return err
		}
	}
	return nil
}

func isCurrency(s string) bool {
	return len(s) <= maxCurrency && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
}

// find returns the entry that says most of a model's id: the longest prefix of it,
// or of it without its maker's name; of two, the later.
func find(list []Entry, id string) (Entry, bool) {
	id = strings.ToLower(id)
	short := id[strings.LastIndexByte(id, '/')+1:]
	best := -1
	for i := range list {
		m := list[i].Model
		if !strings.HasPrefix(id, m) && !strings.HasPrefix(short, m) {
			continue
		}
		if best < 0 || len(m) >= len(list[best].Model) {
			best = i
		}
	}
	if best < 0 {
		return Entry{}, false
	}
	return list[best], true
}
