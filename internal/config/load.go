package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// maxFileBytes bounds config.toml: a longer file is the wrong file.
const maxFileBytes = 4 << 20

// bom is the UTF-8 byte order mark that some Windows editors write.
var bom = []byte("\xef\xbb\xbf")

// Load returns the effective configuration of the home directory: defaults,
// then config.toml if there is one, then the overrides in environ (as
// os.Environ gives it). It changes nothing on disk. The error is an *Error
// when the configuration is at fault.
func Load(home Home, environ []string) (*Config, error) {
	text, err := readFile(home.File())
	if err != nil {
		return nil, err
	}
	c, problems := load(home, text, environ)
	if fatal := withoutWarnings(problems); len(fatal) > 0 {
		return nil, &Error{Problems: fatal}
	}
	return c, nil
}

// Check returns everything wrong with the configuration, warnings too.
func Check(home Home, environ []string) []Problem {
	text, err := readFile(home.File())
	if err != nil {
		return []Problem{{File: home.File(), Message: err.Error()}}
	}
	c, problems := load(home, text, environ)
	if c != nil {
		problems = append(problems, c.prices()...)
	}
	return problems
}

func withoutWarnings(problems []Problem) []Problem {
	var fatal []Problem
	for _, p := range problems {
		if !p.Warning {
			fatal = append(fatal, p)
		}
	}
	return fatal
}

// readFile returns the text of the file without its byte order mark, and
// nothing when it does not exist.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	if len(text) > maxFileBytes {
		return nil, fmt.Errorf("read the configuration: %s is longer than %d bytes; is it the right file?", name, maxFileBytes)
	}
	return bytes.TrimPrefix(text, bom), nil
}

// load builds the configuration from the file's text and the environment. The
// configuration is only good when every problem is a warning.
func load(home Home, text []byte, environ []string) (*Config, []Problem) {
	l := loader{config: Default(), schema: schema(), places: map[string]Problem{}}
	l.config.home = home
	l.file(home.File(), text)
	for _, o := range overrides(environ) {
		l.override(o)
	}
	if len(l.problems) == 0 {
		l.config.complete()
		l.validate()
	}
	return l.config, l.problems
}

// loader layers sources over the defaults and collects what is wrong.
type loader struct {
	config   *Config
	schema   *node
	places   map[string]Problem // setting to the place it was last written at
	problems []Problem
}

func (l *loader) file(name string, text []byte) {
	if wide := bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")); wide {
		l.problems = append(l.problems, Problem{File: name, Line: 1, Column: 1, Message: "the file is UTF-16; save it as UTF-8"})
		return
	}
	l.source(text, func(offset int) Problem {
		line, column := position(text, offset)
		return Problem{File: name, Line: line, Column: column}
	})
}

// source layers one text over the configuration. at says where an offset is.
func (l *loader) source(text []byte, at func(offset int) Problem) {
	d, err := parseDocument(text)
	if syntax := (*syntaxError)(nil); errors.As(err, &syntax) {
		l.add(at(syntax.offset), nil, syntax.message)
		return
	}
	found := d.check(l.schema)
	for _, f := range found {
		l.add(at(f.offset), f.path, f.message)
	}
	if len(found) > 0 {
		return
	}
	for _, t := range d.tables {
		l.remember(t.path, at(t.key))
	}
	for _, e := range d.entries {
		l.remember(e.path, at(e.value.start))
	}
	if err := decode(text, l.config); err != nil {
		offset, message := explain(text, err)
		l.add(at(offset), nil, message)
	}
}

func (l *loader) remember(p Path, place Problem) {
	l.config.declare(p)
	l.places[p.String()] = place
}

func (l *loader) add(place Problem, p Path, message string) {
	place.Path, place.Message = p.String(), message
	l.problems = append(l.problems, place)
}

// place returns where p, or the section around it, was written.
func (l *loader) place(p Path) Problem {
	for ; len(p) > 0; p = p[:len(p)-1] {
		if place, ok := l.places[p.String()]; ok {
			return place
		}
	}
	return Problem{}
}

func decode(text []byte, into any) error {
	d := toml.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// explain turns the decoder's error into an offset and a sentence.
func explain(text []byte, err error) (offset int, message string) {
	var derr *toml.DecodeError
	if strict := (*toml.StrictMissingError)(nil); errors.As(err, &strict) && len(strict.Errors) > 0 {
		derr = &strict.Errors[0]
		return offsetOf(text, derr), Path(derr.Key()).String() + " is not a setting"
	}
	if errors.As(err, &derr) {
		return offsetOf(text, derr), strings.TrimPrefix(derr.Error(), "toml: ")
	}
	return 0, strings.TrimPrefix(err.Error(), "toml: ")
}

// offsetOf undoes the line and byte column of a decoder's error.
func offsetOf(text []byte, derr *toml.DecodeError) int {
	line, column := derr.Position()
	offset := 0
	for ; line > 1; line-- {
		offset += bytes.IndexByte(text[offset:], '\n') + 1
	}
	return min(max(0, offset+column-1), len(text))
}
