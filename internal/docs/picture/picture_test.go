package picture

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadReturnsWhatWasDrawn(t *testing.T) {
	output := strings.Join([]string{
		"== A title with <angles> & \"quotes\"",
		"  agent: " + strings.Repeat("word ", 40) + "end",
		"",
		"         indented",
		"  " + strings.Repeat("x", 2*columns),
		"  turn over: end_turn",
	}, "\n") + "\n"
	svg := Draw("a picture", "grapnel demo", output)
	command, got, err := Read(svg)
	if err != nil {
		t.Fatal(err)
	}
	if command != "grapnel demo" {
		t.Errorf("command %q", command)
	}
	if diff := cmp.Diff(output, got); diff != "" {
		t.Errorf("what is read is not what was drawn (-drawn +read):\n%s", diff)
	}
	for _, l := range layout(output) {
		if len(l.text) > columns && !strings.Contains(l.text, "xx") {
			t.Errorf("line of %d columns: %s", len(l.text), l.text)
		}
	}
}

func TestReadRefusesWhatIsNoPicture(t *testing.T) {
	if _, _, err := Read([]byte("<svg><text>a</svg>")); err == nil {
		t.Error("read a broken picture")
	}
}

func TestSettle(t *testing.T) {
	one := `
  grapnel dev answered in 17 ms, protocol version 1
  session s_v42ffwd3tnbeyapx7f6vhm65tm in /tmp/grapnel-demo-637674722/repo

  agent: I
  you press stop
  agent: wait
  turn over: cancelled
Done in 0.1 s. Nothing was left behind.
`
	other := `
  grapnel v1.2.3 answered in 4 ms, protocol version 1
  session s_aaaaaaaaaaaaaaaaaaaaaaaaaa in /private/var/T/grapnel-demo-1/repo
  agent: I
  you press stop
  turn over: cancelled
Done in 12.0 s. Nothing was left behind.`
	if diff := cmp.Diff(Settle(one), Settle(other)); diff != "" {
		t.Errorf("two runs differ (-one +other):\n%s", diff)
	}
	if Settle(one) == Settle(strings.Replace(one, "cancelled", "end_turn", 1)) {
		t.Error("what matters was settled away")
	}
}

func TestAbridge(t *testing.T) {
	note := "        (" + strings.Repeat("a note ", 10) + ")\n"
	text := "agent: one\n\n" + note + "turn over\nagent: two\n\n" + note + "turn over\n"
	want := "agent: one\n\n" + note + "turn over\nagent: two\nturn over\n"
	if diff := cmp.Diff(want, Abridge(text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
