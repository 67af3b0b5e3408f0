package tool

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

type sampleArgs struct {
	ignored
	Name  string   `json:"name"`
	Count number   `json:"count"`
	On    flag     `json:"on"`
	List  []string `json:"list"`
}

func TestDecode(t *testing.T) {
	for input, want := range map[string]sampleArgs{
		``:     {},
		`null`: {},
		` {} `: {},
		`{"name":"x","count":3,"on":true,"list":["a"]}`: {Name: "x", Count: 3, On: true, List: []string{"a"}},
		`{"count":"3","on":"true"}`:                     {Count: 3, On: true},
		`{"count":3.0,"on":"False","list":null}`:        {Count: 3},
		`{"name":"x","approved":true}`:                  {Name: "x"},
	} {
		var got sampleArgs
		if err := decode(jsontext.Value(input), &got); err != nil {
			t.Errorf("%s: %v", input, err)
			continue
		}
		got.ignored = ignored{}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(sampleArgs{})); diff != "" {
			t.Errorf("%s (-want +got)\n%s", input, diff)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for input, want := range map[string]string{
		`{"name":`:                  "not valid JSON at byte 8",
		`{"name":"x",}`:             "not valid JSON at byte",
		`{"name":"x"} y`:            "not valid JSON at byte",
		`{"name":"a","name":"b"}`:   "not valid JSON",
		"{\"name\":\"\xff\"}":       "not valid JSON",
		`[1]`:                       "must be a JSON object with the arguments name, count, on, list, not an array",
		`"x"`:                       "not a string",
		`{"nmae":"x"}`:              `there is no argument "nmae"; the arguments are name, count, on, list`,
		`{"Name":"x"}`:              `there is no argument "Name"`,
		`{"name":3}`:                `argument "name" must be a string, not a number`,
		`{"count":"many"}`:          `argument "count": must be a whole number, not "many"`,
		`{"count":1.5}`:             `argument "count": must be a whole number`,
		`{"count":99999999999}`:     `argument "count": must be a whole number`,
		`{"on":1}`:                  `argument "on": must be true or false`,
		`{"list":"a"}`:              `argument "list" must be an array, not a string`,
		`{"list":[1]}`:              `argument "list.0" must be a string, not a number`,
		`{"list":[["a"],["b"],{}]}`: `argument "list.0" must be a string, not an array`,
	} {
		err := decode(jsontext.Value(input), &sampleArgs{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: err = %v, want one with %q", input, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"name":"x","count":"3","on":true,"list":["a"]}`))
	f.Add([]byte(`{"edits":[{"old_text":"a","new_text":null}]}`))
	f.Add([]byte(`[`))
	f.Add([]byte("\xef\xbb\xbf{}"))
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, args := range []any{&sampleArgs{}, &fileEditArgs{}, &todoArgs{}, &gitArgs{}} {
			if err := decode(input, args); err != nil && len(err.Error()) > 1000 {
				t.Fatalf("the error repeats the input: %d bytes", len(err.Error()))
			}
		}
	})
}
